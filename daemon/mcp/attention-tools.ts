// The rest of the toolset `read`: what is unread, and waiting for a message.

import type { Static } from '@sinclair/typebox'
import { topicLink } from '../api/links.ts'
import { Type } from '../api/shape-builders.ts'
import { idlePause } from '../client/following.ts'
import { NatterError, pause, type Reply } from '../client/sender.ts'
import type { Chat } from './chat.ts'
import { fetchMessages, type MessageRecord, messageRecord, messageShape, messagesText, placeName } from './messages.ts'
import { listUsers, messageIdIn } from './names.ts'
import { buildNarrow, selection } from './read-tools.ts'
import { oneLine } from './text.ts'
import { type ToolCall, tool } from './tool.ts'

const conversation = Type.Object({
  channel: Type.Optional(Type.String()),
  topic: Type.Optional(Type.String()),
  direct_with: Type.Optional(Type.Array(Type.Integer())),
  unread: Type.Integer(),
  mentions: Type.Integer(),
  newest_message_id: Type.Integer(),
  link: Type.Optional(Type.String()),
})

export const attentionTools = [
  tool({
    name: 'get_unread',
    toolset: 'read',
    title: 'Get unread counts',
    description: 'Counts unread messages by conversation, and says which mention the account.',
    impact: 'read',
    input: Type.Object({
      limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 500, description: 'Conversations. Default 50.' })),
    }),
    output: Type.Object({
      conversations: Type.Array(conversation),
      unread_messages: Type.Integer(),
      total_count: Type.Integer(),
      found_all: Type.Boolean(),
    }),
    async run({ chat, signal }, { limit = 50 }) {
      const all = await unreadConversations(chat, signal)
      const conversations = all.slice(0, limit)
      const unread_messages = all.reduce((sum, { unread }) => sum + unread, 0)
      const isDirect = conversations.some(({ direct_with }) => direct_with)
      const names = new Map(
        (isDirect ? await listUsers(chat, signal) : []).map(({ user_id, full_name }) => [user_id, oneLine(full_name)]),
      )
      const lines = conversations.map(({ channel, topic, direct_with, unread, mentions }) => {
        const others = direct_with?.map(id => names.get(id) ?? `user ${id}`) ?? []
        const place = placeName(
          others.length > 0 ? { direct_with: others } : { channel: channel!, topic: oneLine(topic!) },
        )
        return `- ${place}: ${unread}${mentions > 0 ? `, ${mentions} of them mention you` : ''}`
      })
      const rest = all.length - conversations.length
      const text = `${unread_messages} unread.${lines.map(line => `\n${line}`).join('')}${rest > 0 ? `\n(${rest} more)` : ''}`
      return { text, data: { conversations, unread_messages, total_count: all.length, found_all: rest <= 0 } }
    },
  }),
  tool({
    name: 'wait_for_message',
    toolset: 'read',
    title: 'Wait for a message',
    description:
      'Waits until a message arrives that matches, and returns it. With `after`, a message that came since then is returned immediately, so nothing is missed between two calls: pass last_message_id of the last answer.',
    impact: 'read',
    input: Type.Object({
      ...selection,
      after: Type.Optional(
        Type.Union([Type.Integer({ minimum: 0 }), Type.String({ maxLength: 1000 })], {
          description: 'Message ID or link; only newer messages count.',
        }),
      ),
      timeout_seconds: Type.Optional(Type.Integer({ minimum: 1, maximum: 300, description: 'Default 60.' })),
    }),
    output: Type.Object({
      found: Type.Boolean(),
      messages: Type.Array(messageShape),
      last_message_id: Type.Integer(),
    }),
    async run(call, { after, timeout_seconds = 60, ...selected }) {
      const narrow = await buildNarrow(call.chat, selected, call.signal)
      const { messages, last } = await waitFor(call, narrow, after, timeout_seconds)
      const nothing = `No such message within ${timeout_seconds} s. Call again with after ${last} to go on.`
      const text = messages.length === 0 ? nothing : messagesText(messages)
      return { text, data: { found: messages.length > 0, messages, last_message_id: last } }
    },
  }),
]

interface UnreadMessages {
  readonly streams: readonly { stream_id: number; topic: string; unread_message_ids: number[] }[]
  readonly pms: readonly { other_user_id: number; unread_message_ids: number[] }[]
  readonly huddles: readonly { user_ids_string: string; unread_message_ids: number[] }[]
  readonly mentions: readonly number[]
}

/** The newest first. A registration is the only call that counts them; its queue is not needed. */
async function unreadConversations(chat: Chat, signal: AbortSignal): Promise<Static<typeof conversation>[]> {
  const params = {
    event_types: ['message'],
    fetch_event_types: ['message', 'update_message_flags', 'subscription'],
    client_capabilities: { notification_settings_null: true, empty_topic_name: true },
  }
  const reply = await chat.call({ method: 'POST', path: '/register', params, signal })
  await deleteQueue(chat, reply.queue_id)
  const { streams, pms, huddles, mentions } = reply.unread_msgs as UnreadMessages
  const known = [reply.subscriptions, reply.unsubscribed].flat() as { stream_id: number; name: string }[]
  const mentioning = new Set(mentions)
  const names = new Map(known.map(({ stream_id, name }) => [stream_id, name]))
  const counts = (ids: readonly number[]) => ({
    unread: ids.length,
    mentions: ids.filter(id => mentioning.has(id)).length,
    newest_message_id: ids.at(-1) ?? 0,
  })
  const inChannels = streams.map(({ stream_id: id, topic, unread_message_ids: ids }) => {
    const name = names.get(id) ?? `channel ${id}`
    return { channel: oneLine(name), topic, ...counts(ids), link: topicLink(chat.site, { id, name }, topic) }
  })
  const direct = [
    ...pms.map(({ other_user_id, unread_message_ids: ids }) => ({ direct_with: [other_user_id], ...counts(ids) })),
    ...huddles.map(({ user_ids_string, unread_message_ids: ids }) => ({
      direct_with: user_ids_string.split(',').map(Number),
      ...counts(ids),
    })),
  ]
  return [...inChannels, ...direct].sort((a, b) => b.newest_message_id - a.newest_message_id)
}

/**
 * A queue tells when there is something to look at; the messages themselves come from a search, so that every term of a narrow works and what
 * came before the queue is found.
 */
async function waitFor(
  { chat, signal, progress }: ToolCall,
  narrow: readonly unknown[],
  after: number | string | undefined,
  seconds: number,
): Promise<{ readonly messages: MessageRecord[]; readonly last: number }> {
  const began = Date.now()
  const passed = () => (Date.now() - began) / 1000
  const over = AbortSignal.timeout(seconds * 1000)
  const either = AbortSignal.any([signal, over])
  const queue = await chat.call({
    method: 'POST',
    path: '/register',
    params: { event_types: ['message'], fetch_event_types: ['message'], all_public_streams: true },
    signal,
  })
  const newest = Number(queue.max_message_id ?? 0)
  const last = after === undefined ? Math.max(0, newest) : messageIdIn(chat, after)
  let event = Number(queue.last_event_id ?? -1)
  try {
    if (after !== undefined) {
      const found = await newerThan(chat, narrow, last, signal)
      if (found.messages.length > 0) return found
    }
    for (let idle = 0; ; ) {
      await progress(Math.floor(passed()), seconds, 'waiting for a message')
      const asked = performance.now()
      const events = await pollQueue(chat, String(queue.queue_id), event, either)
      if (over.aborted || signal.aborted) break
      const highest = events.reduce((highest, { id }) => Math.max(highest, Number(id)), event)
      const hasNews = events.some(({ type }) => type === 'message')
      idle = idlePause(idle, hasNews, highest > event, performance.now() - asked)
      event = highest
      if (idle > 0) await pause(idle, either).catch(() => {})
      if (!hasNews) continue
      const found = await newerThan(chat, narrow, last, signal)
      if (found.messages.length > 0) return found
    }
    signal.throwIfAborted()
    return { messages: [], last }
  } finally {
    await deleteQueue(chat, queue.queue_id)
  }
}

const mostReturned = 20

async function newerThan(chat: Chat, narrow: readonly unknown[], last: number, signal: AbortSignal) {
  const range = { narrow, anchor: last, before: 0, after: mostReturned, includeAnchor: false }
  const { list } = await fetchMessages(chat, range, signal)
  const messages = list.map(message => messageRecord(chat.site, message, (message.flags ?? []) as unknown[]))
  return { messages, last: messages.at(-1)?.id ?? last }
}

/** No events if the time is over. A server that is away for a moment is asked again. */
async function pollQueue(chat: Chat, queueId: string, lastEvent: number, signal: AbortSignal): Promise<Reply[]> {
  for (;;)
    try {
      const params = { queue_id: queueId, last_event_id: lastEvent }
      const reply = await chat.call({ method: 'GET', path: '/events', params, signal })
      return (reply.events ?? []) as Reply[]
    } catch (error) {
      if (signal.aborted) return []
      if (!(error instanceof NatterError) || (error.status !== 0 && error.status < 500)) throw error
      await pause(1000, signal).catch(() => {})
    }
}

/** A queue that is not deleted expires by itself. */
async function deleteQueue(chat: Chat, queueId: unknown): Promise<void> {
  await chat.call({ method: 'DELETE', path: '/events', params: { queue_id: queueId } }).catch(() => {})
}
