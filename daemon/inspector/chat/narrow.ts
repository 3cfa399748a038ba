// The messages that the page shows: a conversation or a search, as an address, as terms for the API, and as a test for new
// messages.

import type { Message } from './records.ts'

export type Narrow =
  | { readonly kind: 'all' | 'mentions' | 'starred' }
  | { readonly kind: 'channel'; readonly id: number }
  | { readonly kind: 'topic'; readonly id: number; readonly topic: string }
  | { readonly kind: 'direct'; readonly ids: readonly number[] }
  | { readonly kind: 'search'; readonly text: string }

export type Conversation = Extract<Narrow, { readonly kind: 'channel' | 'topic' | 'direct' }>

export interface Term {
  readonly operator: string
  readonly operand: unknown
  readonly negated?: boolean
}

/** The parts of the address after `#/conversations`. */
export function readNarrow([kind, first = '', second]: readonly string[]): Narrow {
  if (kind === 'channel' && second !== undefined) return { kind: 'topic', id: Number(first), topic: second }
  if (kind === 'channel') return { kind, id: Number(first) }
  if (kind === 'direct') return { kind, ids: first.split(',').map(Number) }
  if (kind === 'search') return { kind, text: first }
  return { kind: kind === 'mentions' || kind === 'starred' ? kind : 'all' }
}

export function writeNarrow(narrow: Narrow): (string | number)[] {
  switch (narrow.kind) {
    case 'channel':
      return ['channel', narrow.id]
    case 'topic':
      return ['channel', narrow.id, narrow.topic]
    case 'direct':
      return ['direct', narrow.ids.join(',')]
    case 'search':
      return ['search', narrow.text]
    default:
      return [narrow.kind]
  }
}

export function buildTerms(narrow: Narrow): Term[] {
  switch (narrow.kind) {
    case 'channel':
      return [{ operator: 'channel', operand: narrow.id }]
    case 'topic':
      return [
        { operator: 'channel', operand: narrow.id },
        { operator: 'topic', operand: narrow.topic },
      ]
    case 'direct':
      return [{ operator: 'dm', operand: narrow.ids }]
    case 'search':
      return termsIn(narrow.text)
    case 'mentions':
      return [{ operator: 'is', operand: 'mentioned' }]
    case 'starred':
      return [{ operator: 'is', operand: 'starred' }]
    default:
      return []
  }
}

/** `channel:general topic:"first steps" -sender:amy@example.com lunch` */
export function termsIn(text: string): Term[] {
  const terms: Term[] = []
  const words: string[] = []
  for (const [whole, minus, operator, quoted, plain] of text.matchAll(
    /(-?)([a-z-]+):(?:"([^"]*)"|(\S*))|"[^"]*"|\S+/g,
  )) {
    if (operator === undefined) words.push(whole)
    else terms.push({ operator, operand: quoted ?? plain ?? '', ...(minus && { negated: true }) })
  }
  return words.length > 0 ? [...terms, { operator: 'search', operand: words.join(' ') }] : terms
}

/** Whether a new message belongs to what is shown; undefined where only the server knows. */
export function fits(narrow: Narrow, message: Message, me: number): boolean | undefined {
  switch (narrow.kind) {
    case 'all':
      return true
    case 'channel':
      return message.stream_id === narrow.id
    case 'topic':
      return message.stream_id === narrow.id && sameTopic(message.subject, narrow.topic)
    case 'direct':
      return (
        message.type === 'private' && listPeers(message, me).join() === [...narrow.ids].sort((a, b) => a - b).join()
      )
    case 'mentions':
      return message.flags.includes('mentioned') || message.flags.includes('wildcard_mentioned')
    case 'starred':
      return message.flags.includes('starred')
    default:
      return undefined
  }
}

function sameTopic(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase()
}

/** The others in a direct conversation, or oneself alone, ascending. */
export function listPeers(message: Message, me: number): number[] {
  const ids = Array.isArray(message.display_recipient) ? message.display_recipient.map(({ id }) => id) : []
  const others = ids.filter(id => id !== me).sort((a, b) => a - b)
  return others.length > 0 ? others : [me]
}
