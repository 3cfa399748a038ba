// The flags that `tail` and `wait` share, and how they are read.

import { eventTypes as apiEventTypes, foreignEventTypes } from '../../../../daemon/api/event-types.ts'
import type { Past } from '../../../../daemon/client/look-back.ts'
import { didYouMean } from '../../../../daemon/local/did-you-mean.ts'
import { usage } from '../../../base/failure.ts'
import type { Account } from '../../../base/profile.ts'
import type { ExtraFlag } from '../../../base/subcommand.ts'
import { readPast } from '../../../base/times.ts'
import { channelWord, linkIn, messageWord } from '../../../input/links.ts'
import type { CallOptions } from '../../../transport/client.ts'
import { createClock } from '../../../transport/clock.ts'
import type { Filters } from './criteria.ts'

export const filterFlags: readonly ExtraFlag[] = [
  {
    name: 'type',
    value: 'TYPE',
    about: 'event types instead of messages: reaction, edit, delete, typing, presence … or all',
    repeatable: true,
  },
  { name: 'channel', value: 'NAME', about: 'only events in this channel (repeatable)', repeatable: true },
  { name: 'topic', value: 'NAME', about: 'only events in this topic (repeatable)', repeatable: true },
  { name: 'dm', value: '[USER]', about: 'only direct messages; with USER, only conversations with that user' },
  { name: 'sender', value: 'USER', about: 'only events from this user (repeatable)', repeatable: true },
  { name: 'mentions', about: 'only messages that mention you' },
  {
    name: 'narrow',
    value: 'TERMS',
    about: 'only messages that match: channel:general topic:x; see natter help narrow',
  },
  { name: 'match', value: 'TEXT', about: 'only events that contain this text or match /PATTERN/' },
  { name: 'all-public', about: 'include messages in public channels you are not subscribed to' },
]

export const since: ExtraFlag = {
  name: 'since',
  value: 'TIME',
  about: 'first, start with messages since a time (10m, 2026-01-31T12:00) or after a message (id:57)',
}

/** A link to a topic names the topic as well. */
export function filtersFrom(flags: Readonly<Record<string, unknown>>, site: string | undefined): Filters {
  const { channel, topic, dm, sender, mentions, narrow, match } = flags
  const places = (channel as string[] | undefined)?.map(text => channelWord(text, site))
  const topics = topic ?? places?.flatMap(place => place.topic ?? [])
  const named = (topics as string[] | undefined)?.length ? { topic: topics } : {}
  return { channel: places?.map(place => place.channel), ...named, dm, sender, mentions, narrow, match } as Filters
}

/** Undefined for all. */
export function typesFrom(given: unknown): string[] | undefined {
  if (given === undefined) return ['message']
  const words = (given as string[]).flatMap(text => text.split(',')).map(word => word.trim())
  const types = words.filter(word => word !== '').map(word => aliases[word] ?? word)
  if (types.length === 0) throw usage('--type is empty')
  for (const type of types)
    if (!eventTypes.includes(type))
      throw usage(`--type: there is no event type "${type}"`, didYouMean(type, eventTypes) ?? commonTypes)
  return types.includes('all') ? undefined : [...new Set(types)]
}

const commonTypes = 'Common types are message, reaction, edit, delete, typing and presence; all is every type.'

/** The first line of `tail` and `wait`, on stderr. Scripts wait for the word. */
export function readyText(types: readonly string[] | undefined, email: string | undefined, queue: string): string {
  const what = types === undefined ? 'all' : types.join(', ')
  return `ready: listening for ${what} events as ${email} (queue ${queue})`
}

/** What --since means; undefined if it is not given. */
export async function pastFrom(since: unknown, account: Account, options: CallOptions): Promise<Past | undefined> {
  if (since === undefined) return undefined
  const { site } = account
  const text = String(since)
  if (linkIn(text, site)) return { after: Number(messageWord(text, site)) }
  if (/^id:\d+$/.test(text)) return { after: Number(text.slice(3)) }
  const time = await readPast(text, createClock(account, options))
  if (time === undefined) throw usage(`--since: "${text}" is not a time such as 10m or a message such as id:57`)
  return { since: time }
}

/** What `--type` takes. */
export const eventTypes: readonly string[] = [
  ...['all', 'message', 'reaction', 'edit', 'delete', 'flags', 'typing', 'presence'],
  ...apiEventTypes.filter(type => !['message', 'reaction', 'typing', 'presence'].includes(type)),
  ...foreignEventTypes,
]

/** Short names for event types of the API. */
const aliases: Readonly<Record<string, string>> = {
  messages: 'message',
  reactions: 'reaction',
  edit: 'update_message',
  edits: 'update_message',
  delete: 'delete_message',
  deletes: 'delete_message',
  flags: 'update_message_flags',
}
