// Completion candidates: words, flags, and names from the server. Silent if the server is not reachable.

import { readFileSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { makeFolderSync, writeFileAtomicallySync } from '../../../daemon/local/atomic-file.ts'
import { batchFlags, globalFlags } from '../../base/globals.ts'
import { type Account, accountFor, readProfiles } from '../../base/profile.ts'
import type { Reply } from '../../base/reply.ts'
import type { SubcommandTable } from '../../base/subcommand.ts'
import { type Entry, type FlagEntry, reference } from '../../catalogue/reference.ts'
import { allWords } from '../../catalogue/words.ts'
import { directories, type Kind } from '../../input/names.ts'
import { call } from '../../transport/client.ts'
import { methods } from '../../transport/routes.ts'
import { eventTypes } from '../follow/tail/flags.ts'
import { topics } from './topics.ts'

interface Candidate {
  readonly text: string
  readonly about?: string
}

const cacheAge = 60_000
/** Milliseconds. */
const timeout = 1500

export async function candidates(words: readonly string[], table: SubcommandTable): Promise<Candidate[]> {
  const before = words.slice(0, -1)
  const last = words.at(-1) ?? ''
  const found = await possible(before, last, table)
  return found.filter(({ text }) => text.toLowerCase().startsWith(last.toLowerCase()))
}

async function possible(before: readonly string[], last: string, table: SubcommandTable): Promise<Candidate[]> {
  const entries = await reference(table)
  const plain = before.filter(word => !word.startsWith('-'))
  if (plain[0] === 'help' && plain.length === 1)
    return [...Object.entries(topics).map(([text, { about }]) => ({ text, about })), ...firstWords(entries, table)]
  const leaf = entries
    .filter(({ name }) => `${plain.join(' ')} `.startsWith(`${name} `))
    .sort((a, b) => b.name.length - a.name.length)[0]
  const globals = globalFlags.filter(({ name }) => leaf?.globals?.includes(name) ?? true)
  const flags: readonly FlagEntry[] = [...(leaf?.flags ?? []), ...globals, ...(leaf?.route ? batchFlags : [])]
  const open = flags.find(flag => flag.value !== undefined && isOpen(flag, before.at(-1)))
  if (open?.values) return open.values.map(asText)
  if (open) return values(open.value!, open.name, before, last, entries)
  if (last.startsWith('-')) return flags.map(({ name, about }) => ({ text: `--${name}`, about }))
  if (plain.length === 0) return firstWords(entries, table)
  if (leaf) {
    const given = plain.length - leaf.name.split(' ').length
    const argument = leaf.args[given] ?? (leaf.args.at(-1)?.many ? leaf.args.at(-1) : undefined)
    const words = argument ? await values(argument.value, argument.name, before, last, entries) : []
    // `flags add` takes arguments and also has verbs.
    return given === 0 ? [...words, ...verbsAfter(leaf.name, entries)] : words
  }
  return verbsAfter(plain.join(' '), entries)
}

function verbsAfter(words: string, entries: readonly Entry[]): Candidate[] {
  const start = `${words} `
  const next = entries.filter(({ name }) => name.startsWith(start))
  return next.map(({ name, about }) => ({ text: name.slice(start.length).split(' ')[0]!, about }))
}

function firstWords(entries: readonly Entry[], table: SubcommandTable): Candidate[] {
  return allWords(table).map(text => {
    const about = entries.find(({ name }) => name === text)?.about
    return about ? { text, about } : { text }
  })
}

function isOpen(flag: FlagEntry, word: string | undefined): boolean {
  return word === `--${flag.name}` || (flag.short !== undefined && word === `-${flag.short}`)
}

async function values(
  kind: string,
  name: string,
  before: readonly string[],
  last: string,
  entries: readonly Entry[],
): Promise<Candidate[]> {
  const words = kind.includes('|') ? kind.split('|') : Object.hasOwn(fewWords, name) ? fewWords[name] : undefined
  if (words) return words.map(asText)
  if (name === 'endpoint') return entries.flatMap(({ id, about }) => (id ? [{ text: id, about }] : []))
  if (name === 'type' && kind === 'TYPE') return completeLast(last, eventTypes.map(asText))
  const account = () => accountFor({ ...accountFlags(before) }, process.env)
  try {
    if (kind === 'channel' || name === 'channel') return await fetchNames(account(), 'channel')
    if (name === 'place') return await places(account(), last)
    if (kind === 'user' || ['sender', 'user', 'dm', 'to', 'as'].includes(name))
      return completeLast(last, await people(account()))
    if (Object.hasOwn(directories, kind)) return await fetchNames(account(), kind as Kind)
    if (kind === 'emoji') return await emoji(account())
    if ((kind === 'topic' || name === 'topic') && last.startsWith('#')) return await places(account(), last)
    if (kind === 'topic' || name === 'topic') return await topicNames(account(), channelIn(before))
    if (name === 'profile' || before.includes('profile'))
      return Object.entries(readProfiles(process.env).profiles).map(([text, { email }]) => ({ text, about: email }))
  } catch {
    // Completion must not print errors.
  }
  return []
}

/** The values of arguments and flags, by name, where they are few. */
const fewWords: Readonly<Record<string, readonly string[]>> = {
  method: methods,
  flag: ['read', 'starred', 'collapsed'],
  shell: ['bash', 'zsh', 'fish', 'powershell'],
  color: ['always', 'never', 'auto'],
}

/** `#channel`, `#channel>topic`, or a person. */
async function places(account: Account, last: string): Promise<Candidate[]> {
  const [, channel] = /^#([^>]*)>/.exec(last) ?? []
  if (channel !== undefined) return topicsIn(account, channel)
  const channels = await fetchNames(account, 'channel')
  const places = channels.map(({ text }) => ({ text: `#${text}` }))
  const [only, another] = last.startsWith('#') ? places.filter(({ text }) => text.startsWith(last)) : []
  // With its topics, so that the shell does not end the word after the channel.
  if (only && !another) return [only, ...(await topicsIn(account, only.text.slice(1)))]
  return [...places, ...(await people(account))]
}

async function topicsIn(account: Account, channel: string): Promise<Candidate[]> {
  return (await topicNames(account, channel)).map(({ text }) => ({ text: `#${channel}>${text}` }))
}

/** Completes the last of several comma-separated values. */
function completeLast(last: string, candidates: readonly Candidate[]): Candidate[] {
  const before = last.slice(0, last.lastIndexOf(',') + 1)
  return candidates.map(candidate => ({ ...candidate, text: `${before}${candidate.text}` }))
}

function asText(text: string): Candidate {
  return { text }
}

async function people(account: Account): Promise<Candidate[]> {
  const rows = await fetchList(account, 'user')
  return rows.map(({ email, full_name }) => ({ text: String(email), about: String(full_name) }))
}

function channelIn(before: readonly string[]): string | undefined {
  const at = before.findLastIndex(word => word === '--channel' || word === '--stream-id')
  return at < 0 ? undefined : before[at + 1]
}

async function topicNames(account: Account, channel: string | undefined): Promise<Candidate[]> {
  if (channel === undefined) return []
  const list = await fetchList(account, 'channel')
  const found = list.find(row => String(row.stream_id) === channel || row.name === channel.replace(/^#/, ''))
  if (!found) return []
  const topics = await fetchRows(account, `/api/v1/users/me/${found.stream_id}/topics`, ({ topics }) => topics)
  return topics.map(({ name }) => ({ text: String(name) }))
}

/** Those of Unicode, then the organization's own. */
async function emoji(account: Account): Promise<Candidate[]> {
  const known = await fetchRows(account, '/static/emoji.json', reply => {
    const codes = Object.values((reply.code_to_names ?? {}) as Readonly<Record<string, string[]>>)
    return codes.flat().map(name => ({ name }))
  })
  const own = await fetchRows(account, '/api/v1/realm/emoji', ({ emoji = {} }) => Object.values(emoji as object))
  return [...known, ...own.filter(({ deactivated }) => !deactivated)].map(({ name }) => ({ text: String(name) }))
}

async function fetchNames(account: Account, kind: Kind): Promise<Candidate[]> {
  const [name] = directories[kind].names
  return (await fetchList(account, kind)).map(row => ({ text: String(row[name]) }))
}

/** Without those that are archived. */
function fetchList(account: Account, kind: Kind): Promise<Row[]> {
  const { path, field } = directories[kind]
  return fetchRows(account, path.split('?', 1)[0]!, reply => reply[field])
}

type Row = Record<string, unknown>

/** Cached per account for a minute, since the tab key is pressed more than once. */
async function fetchRows(account: Account, path: string, rowsIn: (reply: Reply) => unknown): Promise<Row[]> {
  const folder = join(process.env.XDG_CACHE_HOME || join(process.env.HOME || homedir(), '.cache'), 'natter')
  const file = join(folder, `${account.site} ${account.email} ${path}`.replace(/[^\w@.-]/g, '_'))
  const kept = statSync(file, { throwIfNoEntry: false })
  if (kept && Date.now() - kept.mtimeMs < cacheAge) return JSON.parse(readFileSync(file, 'utf8'))
  const request = { method: 'GET', path, fields: new Map<string, string>() }
  const rows = rowsIn(await call(account, request, { timeout }))
  const list: Row[] = Array.isArray(rows) ? rows : []
  makeFolderSync(folder)
  writeFileAtomicallySync(file, JSON.stringify(list), { durable: false })
  return list
}

function accountFlags(before: readonly string[]): { site?: string; user?: string; profile?: string } {
  const value = (flag: string) => (before.includes(flag) ? before[before.indexOf(flag) + 1] : undefined)
  const flags = { site: value('--site'), user: value('--user'), profile: value('--profile') }
  return Object.fromEntries(Object.entries(flags).filter(([, text]) => text !== undefined))
}
