// Params of the catalogue on the command line: names of flags and values in help, and reading the given text into the
// value to send.

import { basename } from 'node:path'
import type { Endpoint, Param, Upload } from '../../daemon/api/define.ts'
import { jsonOr } from '../../daemon/local/json.ts'
import { usage } from '../base/failure.ts'
import { checkGiven, readGiven, readGivenText } from '../base/files.ts'
import { parseDuration, type ReadNow, readTime } from '../base/times.ts'
import type { Kind, Names } from './names.ts'
import { isId, readPeople, readPerson } from './people.ts'

type Shape = Param['shape']

/** As parsed: a switch, one text, or the texts of a repeatable flag. */
export type Given = boolean | string | readonly string[]

/** Sources of values that are not on the command line itself. */
export interface Sources {
  /** The server, to which links lead. */
  readonly site?: string | undefined
  readonly names: Names
  readonly now: ReadNow
  stdin(): Promise<string>
  /** Whether stdin can provide a value without an explicit `-`. */
  readonly piped?: boolean
  /** Whether files must be plain ones, because a file of someone else may name them. */
  readonly plainFiles?: boolean
  /** Prompts, or reads a value that a script provides. */
  secret(label: string): Promise<string>
}

export function flagName(endpoint: Endpoint, param: string): string {
  return endpoint.cli.flags?.[param] ?? param.replaceAll('_', '-')
}

/** Name of a positional argument: by what it refers to, not by the param's old name. */
export function wordName(name: string, shape: Shape): string {
  // A long set of words would fill the usage line.
  if (isChoice(shape) && valueName(shape).length <= widestWord) return valueName(shape)
  if (shape.ref === 'moment') return 'time'
  if (shape.type === 'string' && shape.ref === 'user') return 'user'
  return words[name] ?? otherFlag(shape) ?? name.replaceAll('_', '-')
}

/** Columns. */
const widestWord = 60

const words: Readonly<Record<string, string>> = {
  '@place': 'place',
  subscriptions: 'channel',
  channel_folder_id: 'folder',
  saved_snippet_id: 'snippet',
  field_id: 'profile-field',
  document: 'file',
}

/** The flag that can replace a positional argument. */
export function otherFlag({ ref }: Shape): string | undefined {
  return ref === 'channel' || ref === 'topic' ? ref : undefined
}

export function isSwitch(shape: Shape): boolean {
  return shape.type === 'boolean'
}

/** A closed set of words. */
export function isChoice(shape: Shape): boolean {
  return armsOf(shape).every(arm => arm.const !== undefined)
}

/** The text of a message, and nothing else. */
export function isMarkdown(shape: Shape): boolean {
  return shape.type === 'string' && shape.ref === 'markdown'
}

export function isList(shape: Shape): boolean {
  return listShape(shape) !== undefined
}

/** Name of the value in a usage line: `<user>`, `<start|stop>`, `<json>`. */
export function valueName(shape: Shape): string {
  if (shape.ref === 'moment') return 'time'
  if (shape.ref === 'account' || shape.ref === 'duration') return shape.ref
  if (armsOf(shape).some(arm => arm.ref === 'seed')) return 'file'
  const list = listShape(shape)
  if (list?.ref === 'terms') return 'terms'
  if (list) return isNested(list.items as Shape) ? 'json' : valueName(list.items as Shape)
  const arms = armsOf(shape).filter(arm => arm.type !== 'null')
  const words = arms.filter(arm => arm.const !== undefined)
  if (words.length === arms.length) return words.map(wordOf).join('|')
  const [only] = arms
  if (arms.length > 1 || only === undefined) return arms.some(arm => isText(arm) || isNamed(arm)) ? 'value' : 'json'
  if (only.format === 'binary') return 'file'
  if (typeof only.ref === 'string') return only.ref === 'secret' ? 'text' : only.ref
  if (only.type === 'integer' || only.type === 'number') return 'n'
  return only.type === 'string' ? 'text' : 'json'
}

export async function readParam(param: Param, given: Given, label: string, sources: Sources): Promise<unknown> {
  if (typeof given === 'boolean') return given
  if (typeof given === 'string') return readOne(param.shape, given, label, sources)
  const list = listShape(param.shape)
  if (!list) throw usage(`${label} was given more than once`)
  if (list.ref === 'people' && !given[0]!.startsWith('[')) return readPeople(given.join(','), sources.names)
  if (given.length === 1 && given[0] === 'null' && armsOf(param.shape).some(arm => arm.type === 'null')) return null
  return readList(list.items as Shape, given, label, sources)
}

/** Repeated, comma separated, or JSON: `--to 9 --to 10`, `--to 9,10`, `--to '[9,10]'`. */
async function readList(items: Shape, given: readonly string[], label: string, sources: Sources): Promise<unknown[]> {
  const values: unknown[] = []
  for (const raw of given) {
    const parsed = raw.startsWith('[') ? parseJson(raw, label) : undefined
    if (Array.isArray(parsed))
      values.push(...(items.type === 'array' && !parsed.every(Array.isArray) ? [parsed] : parsed))
    else if (isNested(items)) values.push(await readItem(items, raw, label, sources))
    else
      for (const part of raw.split(','))
        if (part !== '') values.push(await readItem(items, part.trim(), label, sources))
  }
  if (values.length === 0 && given.every(raw => raw.trim() === '')) throw usage(`${label} is empty`)
  return values
}

/** A list of channels can have numbers: `subscribe 7` would create a channel beside the one with this ID. */
function readItem(items: Shape, raw: string, label: string, sources: Sources): Promise<unknown> {
  const isNumbered = /^#?\d+$/.test(raw) && armsOf(items).some(({ ref }) => ref === 'channel-name')
  return isNumbered ? sources.names.channelName(raw) : readOne(items, raw, label, sources)
}

async function readOne(shape: Shape, raw: string, label: string, sources: Sources): Promise<unknown> {
  if (shape.ref === 'moment') return readMoment(raw, label, sources)
  const arms = armsOf(shape)
  const text = arms.find(isText)
  if (raw === 'null' && arms.some(arm => arm.type === 'null')) return null
  for (const arm of arms) if (arm.const !== undefined && [String(arm.const), arm.title].includes(raw)) return arm.const
  for (const arm of arms) {
    if (arm === text || arm.type === 'null' || arm.const !== undefined) continue
    // If the server accepts names, it looks them up itself.
    const named = isNamed(arm) && text === undefined
    const value = named ? await readId(arm, raw, sources) : await readPlain(arm, raw, label, sources)
    if (value !== undefined) return value
  }
  if (text?.format === 'binary') return readUpload(raw, label, sources)
  // A file here, and its content on the way.
  if (text?.ref === 'seed') return readGivenText(raw, `${label}: `, sources.plainFiles)
  if (text?.ref === 'file') return raw === '-' ? sources.stdin() : readGivenText(raw, `${label}: `, sources.plainFiles)
  // In a message, colons are around the name of an emoji.
  if (text?.ref === 'emoji') return raw.replace(/^:(.+):$/, '$1')
  // The server looks names up itself, and knows no IDs here. The `#` before a name is not part of it.
  if (text?.ref === 'channel-name')
    return raw.startsWith('id:') && isId(raw) ? sources.names.channelName(raw) : raw.replace(/^#/, '')
  if (text?.ref === 'user') return raw.includes('@') ? raw : String(await readPerson(raw, sources.names))
  if (text) return text.ref === 'markdown' && raw === '-' ? sources.stdin() : raw
  throw usage(`${label}: "${raw}" is not ${describeShape(shape)}`)
}

/** A point in time to set the clock to: a duration is more likely meant for `clock advance`. */
async function readMoment(raw: string, label: string, { now }: Sources): Promise<number> {
  if (!/^\d+$/.test(raw) && parseDuration(raw) !== undefined)
    throw usage(`${label}: "${raw}" is a duration, not a point in time`, `natter clock advance ${raw}`)
  // Replies have milliseconds.
  if (/^\d{12,14}$/.test(raw))
    throw usage(`${label}: "${raw}" is in milliseconds`, `In UNIX seconds it is ${Number(raw) / 1000}.`)
  const moment = await readTime(raw, now)
  if (moment === undefined) throw usage(`${label}: "${raw}" is not a time: give ISO 8601 or UNIX seconds`)
  return moment
}

/** The value, or undefined if the text does not fit. */
function readPlain(shape: Shape, raw: string, label: string, sources: Sources): unknown | Promise<unknown> {
  switch (shape.type) {
    case 'integer':
      if (shape.ref === 'time') return readTime(raw, sources.now)
      if (shape.words && Object.hasOwn(shape.words, raw)) return shape.words[raw]
      return /^-?\d+$/.test(raw.replace(/^id:/, '')) ? within(shape, Number(raw.replace(/^id:/, ''))) : undefined
    case 'number':
      return /^-?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(raw) ? within(shape, Number(raw)) : undefined
    case 'boolean':
      return raw === 'true' ? true : raw === 'false' ? false : undefined
    case 'array':
    case 'object': {
      const value = /^\s*[[{]/.test(raw) ? parseJson(raw, label) : undefined
      return Array.isArray(value) === (shape.type === 'array') ? value : undefined
    }
    default:
      return jsonOr(raw, raw)
  }
}

async function readId(shape: Shape, raw: string, sources: Sources): Promise<unknown> {
  if (raw === '' || /^#?id:(?!\d+$)/.test(raw)) return undefined
  // IDs of users are most common in scripts, and need no code for looking up.
  const certain = /^#?id:(\d+)$/.exec(raw)?.[1] ?? (shape.ref === 'user' ? /^\d+$/.exec(raw)?.[0] : undefined)
  return within(shape, certain === undefined ? await sources.names.find(shape.ref as Kind, raw) : Number(certain))
}

export function readUpload(path: string, label: string, sources: Sources): Upload {
  demandName(path, label)
  const bytes = readGiven(path, `${label}: `, sources.plainFiles)
  return { filename: basename(path), contentType: 'application/octet-stream', bytes }
}

/** Fails where `readUpload` would, without reading the file. */
export function checkUpload(path: string, label: string, sources: Sources): void {
  demandName(path, label)
  checkGiven(path, `${label}: `, sources.plainFiles)
}

/** An upload needs the name of a file. */
function demandName(path: string, label: string): void {
  if (path === '-') throw usage(`${label}: files are not read from stdin; name a file`)
}

function within(shape: Shape, value: number): number | undefined {
  const fits = shape.type !== 'integer' || Number.isSafeInteger(value)
  return fits && value >= (shape.minimum ?? -Infinity) && value <= (shape.maximum ?? Infinity) ? value : undefined
}

function parseJson(raw: string, label: string): unknown {
  try {
    return JSON.parse(raw)
  } catch (error) {
    throw usage(`${label} is not valid JSON: ${(error as Error).message}`)
  }
}

function describeShape(shape: Shape): string {
  const words = armsOf(shape).flatMap(arm => {
    if (arm.const !== undefined) return [wordOf(arm)]
    if (arm.type === 'null') return ['null']
    if (arm.ref === 'time') return ['a time: 2h, "tomorrow 9:00", ISO 8601 or UNIX seconds']
    if (isNamed(arm)) return [`a ${arm.ref}: a name or id:123`]
    if (arm.type === 'integer') return [arm.minimum === 0 ? 'a whole number, 0 or more' : 'a whole number']
    return [descriptions[String(arm.type)] ?? 'in the right format']
  })
  return words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} or ${words.at(-1)}`
}

const descriptions: Readonly<Record<string, string>> = {
  number: 'a number',
  boolean: 'true or false',
  array: 'a list in JSON',
  object: 'an object in JSON',
}

function armsOf(shape: Shape): Shape[] {
  return Array.isArray(shape.anyOf) ? shape.anyOf : [shape]
}

/** The list for a repeatable flag: the shape itself, or a list that can also be null. */
function listShape(shape: Shape): Shape | undefined {
  const arms = armsOf(shape).filter(arm => arm.type !== 'null')
  return arms.length === 1 && arms[0]!.type === 'array' ? arms[0] : undefined
}

function isNested(shape: Shape): boolean {
  return shape.type === 'array' || shape.type === 'object'
}

function isText(shape: Shape): boolean {
  return shape.type === 'string' && shape.const === undefined
}

/** Replaces a number that has a name by its name. */
function wordOf({ title, const: value }: Shape): string {
  return title ?? String(value)
}

const kinds: ReadonlySet<unknown> = new Set<Kind>(['user', 'channel', 'group', 'folder', 'snippet', 'profile-field'])

function isNamed(shape: Shape): boolean {
  return kinds.has(shape.ref)
}
