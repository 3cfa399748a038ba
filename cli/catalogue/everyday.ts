// Short forms of parameters: one word for channel and topic, and flags that stand for several params. These flags have names that
// begin with `@`. Also fills in params that follow from others: the type of a message from its recipient, the anchor of a list.

import type { Endpoint, Param } from '../../daemon/api/define.ts'
import { usage } from '../base/failure.ts'
import type { ExtraFlag } from '../base/subcommand.ts'
import type { Given, Sources } from '../input/flags.ts'
import { placeWord } from '../input/links.ts'
import { narrowFrom, queueTerm, type Term } from '../input/narrow.ts'
import { isId, readPeople } from '../input/people.ts'
import { isPlace, placeIn } from '../input/shorthand.ts'

export interface Filled {
  readonly given: ReadonlyMap<string, Given>
  /** Values that are final already. */
  readonly values: Readonly<Record<string, unknown>>
}

const channelFlag: ExtraFlag = {
  name: 'channel',
  value: 'CHANNEL',
  about: 'send to this channel, instead of --type and --to',
}

const listFlags: readonly ExtraFlag[] = [
  { name: 'channel', value: 'CHANNEL', about: 'only messages in this channel' },
  { name: 'topic', value: 'TOPIC', about: 'only messages in this topic' },
  { name: 'dm', value: '[USER]', about: 'only direct messages; with USER, only conversations with that user' },
  { name: 'sender', value: 'USER', about: 'only messages from this user' },
  { name: 'search', value: 'WORDS', about: 'only messages with these words' },
]

/** The global flags that subcommands of the control plane have. */
export const controlGlobals: readonly string[] =
  'json ndjson fields jq site profile ready-file control-token timeout retry color quiet yes dry-run curl show-key'.split(
    ' ',
  )

const shownMessages = 20

/** Flags for more messages than one call returns. */
const rangeFlags: readonly ExtraFlag[] = [
  { name: 'since', value: 'TIME', about: 'all messages since a time: 10m, yesterday, 2030-01-31' },
  { name: 'until', value: 'TIME', about: 'all messages up to a time' },
  { name: 'all', about: 'all messages, however many' },
]

const linesFlag: ExtraFlag = {
  name: 'lines',
  short: 'n',
  value: 'N',
  about: `the last N messages, or the first N from --anchor oldest or first_unread (default ${shownMessages})`,
}

const fileFlag: ExtraFlag = {
  name: 'file',
  value: 'FILE',
  about: 'upload this file and add a link to it (repeatable)',
  repeatable: true,
}

const followFlag: ExtraFlag = {
  name: 'follow',
  about: 'print the newest, and then new ones as they come, until Ctrl-C',
}

const entriesFlag: ExtraFlag = { name: 'lines', short: 'n', value: 'N', about: 'the same as --limit' }

/** The recipient of a message, as the first word instead of by flags. */
const placeParam: Param = {
  shape: { type: 'string', ref: 'place' } as unknown as Param['shape'],
  presence: 'optional',
  about: "'#channel>topic', or users by name or email: amy,bob@example.com",
}

/** A param of the endpoint, or the place, which sets several of them. */
export function paramFor(endpoint: Endpoint, name: string): Param {
  const param = endpoint.params[name]
  if (param) return param
  return hasRecipient(endpoint) ? placeParam : { ...placeParam, about: "the channel and the topic: '#channel>topic'" }
}

/** The words after the subcommand, in order. */
export function wordsFor(endpoint: Endpoint): readonly string[] {
  const args = endpoint.cli.args ?? []
  return takesMessage(endpoint) && !args.includes('@place') ? ['@place', ...args] : args
}

export function everydayFlags(endpoint: Endpoint): readonly ExtraFlag[] {
  if (endpoint.cli.log?.follow) return [followFlag, entriesFlag]
  if (endpoint.cli.history) return [linesFlag, ...listFlags, ...rangeFlags]
  const flags = hasRecipient(endpoint) && !endpoint.params.stream_id ? [channelFlag] : []
  return endpoint.cli.files ? [...flags, fileFlag] : flags
}

/** Whether people must give it. They need not give what has a default, follows from the recipient, or is asked for. */
export function mustGive(endpoint: Endpoint, name: string): boolean {
  const { cli } = endpoint
  const { presence, shape } = paramFor(endpoint, name)
  if (presence !== 'required' && presence !== 'path') return false
  if (shape.ref === 'secret' || Object.hasOwn(cli.defaults ?? {}, name)) return false
  if (hasRecipient(endpoint) && (name === 'type' || name === 'to')) return false
  // A topic such as '#general>lunch' names its channel too.
  return name !== 'stream_id' || topicParam(endpoint) === undefined
}

export async function fillIn(endpoint: Endpoint, given: ReadonlyMap<string, Given>, sources: Sources): Promise<Filled> {
  const rest = splitPlace(endpoint, given, sources.site)
  if (rest.has('@file')) await (await import('./attached-files.ts')).addLinks(endpoint, rest, sources)
  const values: Record<string, unknown> = {}
  const narrow = findParam(endpoint, 'terms')
  const written = narrow === undefined ? undefined : rest.get(narrow)
  const terms = written === undefined ? [] : narrowFrom(joinWords(written))
  if (endpoint.cli.history) await fillInList(rest, values, terms, sources)
  const entries = endpoint.cli.log && rest.get('@lines')
  if (entries !== undefined && rest.delete('@lines')) rest.set('limit', entries)
  if (terms.length > 0) {
    rest.delete(narrow!)
    values[narrow!] = takesPairs(endpoint.params[narrow!]) ? terms.map(queueTerm) : terms
  }
  for (const [name, value] of Object.entries(endpoint.cli.defaults ?? {}))
    if (typeof value === 'boolean' && !rest.has(name)) values[name] = value
    else if (!rest.has(name)) rest.set(name, value)
  if (takesMessage(endpoint) && !rest.has('content') && sources.piped) rest.set('content', '-')
  if (hasRecipient(endpoint)) await fillInRecipient(endpoint, rest, values, sources)
  return { given: rest, values }
}

/** Splits a place in one word into the params of the endpoint. */
function splitPlace(
  endpoint: Endpoint,
  given: ReadonlyMap<string, Given>,
  site: string | undefined,
): Map<string, Given> {
  const rest = new Map(given)
  const isMessage = hasRecipient(endpoint)
  const channelName = isMessage && !endpoint.params.stream_id ? '@channel' : 'stream_id'
  let word = rest.get('@place')
  rest.delete('@place')
  if (word !== undefined && takesMessage(endpoint) && !rest.has('content')) {
    const isKnown = [channelName, 'to', 'type'].some(name => rest.has(name))
    if (isKnown || !isPlace(joinWords(word))) {
      rest.set('content', word)
      word = undefined
    }
  }
  for (const [name, value] of paramsInPath(endpoint, rest)) rest.set(name, value)
  const topic = topicParam(endpoint)
  if (word === undefined && topic && endpoint.params.stream_id && !rest.has('stream_id')) {
    const named = placeIn(placeWord(joinWords(rest.get(topic) ?? ''), site))
    if (named?.topic === undefined) return rest
    word = rest.get(topic)!
    rest.delete(topic)
  }
  if (word === undefined) return rest
  word = placeWord(joinWords(word), site)
  const place = placeIn(word)
  for (const [name, flag] of [
    [channelName, 'channel'],
    ['to', 'to'],
    ...(place?.topic === undefined ? [] : [[topic ?? 'topic', 'topic']]),
  ] as const)
    if (rest.has(name!)) throw usage(`"${joinWords(word)}" and --${flag} both name the recipient; give one`)
  if (!place && !isMessage) throw usage(`"${joinWords(word)}" is not a channel and topic such as '#general>lunch'`)
  // Digits after # are a name.
  if (place) rest.set(channelName, /^\d+$/.test(place.channel) ? `#${place.channel}` : place.channel)
  else rest.set('to', joinWords(word))
  if (place?.topic !== undefined) rest.set(topic ?? 'topic', place.topic)
  return rest
}

/** The param that holds a topic; some endpoints have an older name for it. */
export function topicParam({ params }: Endpoint): string | undefined {
  return ['topic', 'topic_name'].find(name => params[name])
}

/** Turns the flags of a list of messages into terms of a narrow, an anchor and a number of messages. */
async function fillInList(
  given: Map<string, Given>,
  values: Record<string, unknown>,
  terms: Term[],
  sources: Sources,
): Promise<void> {
  for (const { name } of listFlags) {
    const value = given.get(`@${name}`)
    if (value === undefined) continue
    terms.push(value === true ? { operator: 'is', operand: name } : await termFor(name, joinWords(value), sources))
    given.delete(`@${name}`)
  }
  const lines = given.get('@lines')
  given.delete('@lines')
  if (lines !== undefined && ['num_before', 'num_after', 'message_ids'].some(name => given.has(name)))
    throw usage('--lines cannot be combined with --before, --after or --message-ids')
  if (lines !== undefined && !/^\d+$/.test(joinWords(lines)))
    throw usage(`--lines: "${joinWords(lines)}" is not a whole number, 0 or more`)
  const anchor = given.get('anchor')
  if (given.has('message_ids')) return
  const counted = given.has('num_before') || given.has('num_after')
  const first = anchor === 'oldest' || anchor === 'first_unread'
  // There is nothing before the oldest message or after the newest.
  if (lines !== undefined) values[first ? 'num_after' : 'num_before'] = Number(joinWords(lines))
  else if (!counted && first) values.num_after = shownMessages
  if (anchor !== undefined) return
  values.anchor = given.has('num_after') && !given.has('num_before') ? 'oldest' : 'newest'
  if (!counted) values.num_before ??= shownMessages
}

async function termFor(name: string, text: string, sources: Sources): Promise<Term> {
  if (name === 'channel') return { operator: name, operand: await channelIn(text, sources) }
  if (name === 'dm') return { operator: name, operand: await readPeople(text, sources.names, false) }
  const isName = name === 'sender' && !text.includes('@')
  return { operator: name, operand: isName ? await sources.names.find('user', text) : text }
}

/** Finds the channel or the users, and the type of the message that follows from them. */
async function fillInRecipient(
  endpoint: Endpoint,
  given: Map<string, Given>,
  values: Record<string, unknown>,
  sources: Sources,
): Promise<void> {
  const channel = given.get('@channel')
  const to = given.get('to')
  given.delete('@channel')
  if (channel !== undefined) {
    if (to !== undefined) throw usage('--channel and --to cannot be combined')
    values.type = 'channel'
    values.to = takesText(endpoint.params.to)
      ? await channelIn(joinWords(channel), sources)
      : await sources.names.find('channel', joinWords(channel))
    return
  }
  const type = given.get('type')
  if (type === undefined && given.has('stream_id')) values.type = 'channel'
  else if (type === undefined && to !== undefined) values.type = given.has('topic') ? 'channel' : 'direct'
  else if (type === undefined && endpoint.params.type!.presence === 'required')
    throw usage(
      'no recipient given',
      "Start with '#channel>topic', or give --channel and --topic, or --to with users. A piped text after a name is `-`.",
    )
  const direct = values.type === 'direct' || type === 'direct' || type === 'private'
  if (!direct || typeof to !== 'string' || to.startsWith('[')) return
  given.delete('to')
  values.to = await readPeople(to, sources.names, takesText(endpoint.params.to))
}

/** A name that looks like an ID has to be looked up here; the server looks up all others. */
async function channelIn(text: string, sources: Sources): Promise<number | string> {
  const name = text.replace(/^#/, '')
  return isId(name) ? sources.names.find('channel', text) : name
}

/** Whether the params of its path can be given as one word, as `uploads create` prints it. */
export function takesPath({ path, cli: { args = [] } }: Endpoint): boolean {
  const [, last] = /\{(\w+)\.\.\.\}$/.exec(path) ?? []
  return last !== undefined && args.includes(last)
}

/** The params in the first word, if it is or ends in a path of the endpoint, or of a file that the endpoint is about. */
function paramsInPath(endpoint: Endpoint, given: ReadonlyMap<string, Given>): [string, string][] {
  if (!takesPath(endpoint)) return []
  const names = [...endpoint.path.matchAll(/\{(\w+)/g)].map(([, name]) => name!)
  const start = endpoint.path.indexOf('{')
  const own = endpoint.path.slice(0, start)
  const starts = names[0] === 'realm_id_str' ? `(?:${own}|/user_uploads/)` : own
  const rest = endpoint.path
    .slice(start)
    .replace(/\{\w+\.\.\.\}/, '(.+)')
    .replace(/\{\w+\}/g, '([^/]+)')
  const found = new RegExp(`${starts}${rest}$`).exec(joinWords(given.get(endpoint.cli.args![0]!) ?? ''))
  return found ? names.map((name, at) => [name, found[at + 1]!]) : []
}

/** The name of the param whose shape has this reference. */
function findParam({ params }: Endpoint, ref: string): string | undefined {
  const refers = (shape: Param['shape']): boolean => shape.ref === ref || (shape.anyOf?.some(refers) ?? false)
  return Object.keys(params).find(name => refers(params[name]!.shape))
}

/** Whether the words of the subcommand are the recipient and the content of a message. */
function takesMessage(endpoint: Endpoint): boolean {
  return hasRecipient(endpoint) && endpoint.cli.args?.includes('content') === true
}

function hasRecipient({ params }: Endpoint): boolean {
  return params.type !== undefined && params.to !== undefined
}

function takesText(param: Param | undefined): boolean {
  const arms: { type?: string; anyOf?: unknown[] }[] = param?.shape.anyOf ?? [param?.shape]
  return arms.some(arm => arm.type === 'string')
}

/** The narrow of a queue consists of pairs of strings. */
function takesPairs(param: Param | undefined): boolean {
  return param?.shape.items?.type === 'array'
}

function joinWords(value: Given): string {
  return Array.isArray(value) ? value.join(' ') : String(value)
}
