// The places that a call names: channels, direct conversations, messages. By the names of its parameters, which the API uses for the same things everywhere;
// where they do not say it, the endpoint does. A test compares them with the catalogue.

import type { Endpoint } from '../../daemon/api/define.ts'

export type Place =
  | { readonly kind: 'channel'; readonly channel: string | number }
  | { readonly kind: 'message'; readonly id: number }
  | { readonly kind: 'direct' }
  /** Several channels at once. */
  | { readonly kind: 'channels' }
  | { readonly kind: 'everywhere' }

const channelName = /(?:^|_)(?:stream|channel)(?:_(?:id|ids|name|names))?$/
const messageNames = new Set(['message_id', 'message_ids', 'msg_ids', 'messages'])

/** `fields`: those of path, query and body, as they travel. */
export function placesIn(
  { concerns }: Pick<Endpoint, 'concerns'>,
  fields: readonly (readonly [string, string])[],
): Place[] {
  const named = typeof concerns === 'object' ? concerns.channels : []
  const places: Place[] = []
  const values = fields.map(([name, text]) => [name, readLoosely(text)] as const)
  for (const [name, value] of values) {
    if (name === 'narrow') places.push(...placesInNarrow(value))
    else if (name === 'to') places.push(...recipients(value, values.find(([other]) => other === 'type')?.[1]))
    else if (named.includes(name)) places.push(...readNamed(value))
    else places.push(...referredTo(name, value))
  }
  if (concerns === 'everywhere' && places.length === 0) places.push({ kind: 'everywhere' })
  return places
}

/** JSON, or a text as it is. */
function readLoosely(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

/** What the name of a parameter, or a key in its value, says that it is. */
function referredTo(name: string, value: unknown): Place[] {
  if (Array.isArray(value)) return value.flatMap(item => referredTo(name, item))
  if (typeof value === 'object' && value !== null)
    return Object.entries(value).flatMap(([key, item]) => referredTo(key, item))
  if (messageNames.has(name)) return [{ kind: 'message', id: Number(value) }]
  return channelName.test(name) ? readChannel(value) : []
}

/** A negative number means no channel. */
function readChannel(value: unknown): Place[] {
  const isChannel = typeof value === 'string' ? value !== '' : typeof value === 'number' && value >= 0
  return isChannel ? [{ kind: 'channel', channel: value as string | number }] : []
}

/** Channels by name: texts, or objects with a name. */
function readNamed(value: unknown): Place[] {
  return [value].flat().flatMap(item => readChannel((item as { name?: unknown } | null)?.name ?? item))
}

function recipients(to: unknown, type: unknown): Place[] {
  if (type === 'direct' || type === 'private') return [{ kind: 'direct' }]
  const channels = [to].flat().flatMap(readChannel)
  if (type === 'stream' || type === 'channel') return channels
  // Without a type the server decides: both must be allowed.
  return [{ kind: 'direct' }, ...(Array.isArray(to) ? [] : channels)]
}

/** The narrowest place that the terms leave: each term that is not negated only leaves less. */
function placesInNarrow(narrow: unknown): Place[] {
  const places: Place[] = []
  let inChannels = false
  for (const term of Array.isArray(narrow) ? narrow : []) {
    const [operator, operand, negated] = Array.isArray(term)
      ? [term[0], term[1], false]
      : [term?.operator, term?.operand, term?.negated === true]
    const isDirect = operator === 'is' && ['dm', 'private'].includes(operand)
    if (negated) inChannels ||= isDirect
    else if (operator === 'channel' || operator === 'stream') places.push(...readChannel(readLoosely(String(operand))))
    // A link to a message leads to the conversation that it is in now, whatever else is asked for.
    else if (operator === 'id' || operator === 'with') places.push({ kind: 'message', id: Number(operand) })
    else if (isDirect || directOperators.has(operator)) places.push({ kind: 'direct' })
    else if (channelOperators.has(operator)) inChannels = true
  }
  if (places.length > 0) return places
  return [{ kind: inChannels ? 'channels' : 'everywhere' }]
}

const directOperators = new Set(['dm', 'dm-with', 'pm-with', 'dm-including', 'group-pm-with'])
const channelOperators = new Set(['channels', 'streams', 'topic', 'subject'])
