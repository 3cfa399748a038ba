// Events other than messages in a few words: channels and subscriptions as sentences, all others by their fields, each
// cut to a length that leaves them on a line or two. `--json` has everything.

import { isRecord } from '../../daemon/local/json.ts'
import type { ChatEvent } from '../base/chat-event.ts'
import { cutText } from '../base/text-layout.ts'

const longestValue = 40
const shownNames = 5

export function summarize(event: ChatEvent): string {
  return (sentences[event.type] && sentences[event.type]!(event)) ?? listFields(event)
}

/** Undefined for a form that they do not know. */
const sentences: Readonly<Record<string, (event: ChatEvent) => string | undefined>> = {
  stream(event) {
    const { op, streams, stream_ids, name, property, value } = event
    if (op === 'create' && Array.isArray(streams)) return `new channel: ${listNames(streams)}`
    if (op === 'delete') return `channel removed: ${listNames(streams ?? stream_ids)}`
    if (op === 'update' && typeof property === 'string') {
      if (property === 'is_archived') return `#${name} was ${value ? 'archived' : 'unarchived'}`
      return `#${name}: ${property} is now ${shown(value)}`
    }
    return undefined
  },
  subscription({ op, subscriptions, stream_ids, user_ids, property, value }) {
    if (op === 'add' && Array.isArray(subscriptions)) return `subscribed to ${listNames(subscriptions)}`
    if (op === 'remove' && Array.isArray(subscriptions)) return `unsubscribed from ${listNames(subscriptions)}`
    const did = op === 'peer_add' ? 'subscribed to' : op === 'peer_remove' ? 'unsubscribed from' : undefined
    if (did) return `${countText('user', user_ids)} ${did} ${countText('channel', stream_ids)}`
    if (op === 'update' && typeof property === 'string') return `${property} is now ${shown(value)}`
    return undefined
  },
  update_message_flags({ op, flag, messages, all }) {
    if (typeof flag !== 'string') return undefined
    const which = all === true ? 'all messages' : countText('message', messages)
    return `${op === 'remove' ? 'removed' : 'added'} the flag ${flag} ${op === 'remove' ? 'from' : 'to'} ${which}`
  },
}

/** `realm_user update  user_id=8 full_name="Amy"` */
function listFields({ id, type, op, ...rest }: ChatEvent): string {
  const pairs = Object.entries(rest).flatMap(([key, value]) =>
    isRecord(value) ? Object.entries(value).map(pair => pair as [string, unknown]) : [[key, value] as const],
  )
  const texts = pairs.map(([key, value]) => `${key}=${Array.isArray(value) ? `[${listNames(value)}]` : shown(value)}`)
  return [op ? `${type} ${op}` : type, texts.join(' ')].filter(part => part !== '').join('  ')
}

/** Names where the items have one, IDs or the items themselves otherwise. */
function listNames(items: unknown): string {
  if (!Array.isArray(items)) return shown(items)
  const names = items.slice(0, shownNames).map(item => {
    if (!isRecord(item)) return shown(item)
    if (item.stream_id !== undefined) return item.name === undefined ? String(item.stream_id) : `#${item.name}`
    return String(item.full_name ?? item.name ?? item.title ?? item.email ?? shown(item))
  })
  const more = items.length - names.length
  return names.join(', ') + (more > 0 ? ` and ${more} more` : '')
}

/** `user 8`, `users 8, 9`. */
function countText(noun: string, ids: unknown): string {
  if (!Array.isArray(ids)) return `a ${noun}`
  return `${noun}${ids.length === 1 ? '' : 's'} ${listNames(ids)}`
}

function shown(value: unknown): string {
  return cutText(JSON.stringify(value) ?? 'none', longestValue)
}
