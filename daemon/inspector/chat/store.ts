// The data of one account: people, channels, unread messages and the messages of the conversation that is open. Kept current
// by the account's event queue, over lost queues and restarts of the daemon.

import { computed, effect, signal } from '@preact/signals'
import { isPassingStatus, laterPause, queueLost } from '../../client/following.ts'
import { NatterError } from '../../client/sender.ts'
import { nameConversation } from '../../local/conversation-name.ts'
import { addOwnEvent, connection } from '../live.ts'
import { say } from '../parts/controls.tsx'
import { route } from '../route.ts'
import { type Account, actor, call, callAs, messageOf, phase, token } from '../session.ts'
import { buildTerms, type Conversation, fits, listPeers, type Narrow, readNarrow } from './narrow.ts'
import type { Channel, Message, Reaction, User } from './records.ts'

export const users = signal<ReadonlyMap<number, User>>(new Map())
export const channels = signal<ReadonlyMap<number, Channel>>(new Map())
/** By message ID: the conversation it belongs to. */
export const unread = signal<ReadonlyMap<number, string>>(new Map())
/** Direct conversations, newest first, as sorted user IDs. */
export const directs = signal<readonly (readonly number[])[]>([])
export const organization = signal('')
export const messages = signal<readonly Message[]>([])
export const isLoading = signal(true)
export const hasOlder = signal(false)
/** User IDs of people who type here, with the time it ends. */
export const typing = signal<ReadonlyMap<number, number>>(new Map())

/** Stays while another view is shown. */
export const narrow = signal<Narrow>(readNarrow([]))

export const unreadCounts = computed(() => {
  const counts = new Map<string, number>()
  const add = (key: string) => counts.set(key, (counts.get(key) ?? 0) + 1)
  for (const key of unread.value.values()) {
    add(key)
    if (key.startsWith('c')) add(key.slice(0, key.indexOf('/')))
  }
  return counts
})

/** As the command line writes it. `channel`: its name if the account cannot see the channel. */
export function renderName(conversation: Conversation, channel?: string): string {
  if (conversation.kind === 'direct') {
    const people = conversation.ids.map(id => ({ full_name: users.value.get(id)?.full_name ?? `user ${id}` }))
    return nameConversation({ people })
  }
  const topic = conversation.kind === 'topic' ? conversation.topic : undefined
  return nameConversation({
    channel: channels.value.get(conversation.id)?.name ?? channel,
    channelId: conversation.id,
    topic,
  })
}

export function channelKey(id: number, topic?: string): string {
  return topic === undefined ? `c${id}` : `c${id}/${topic.toLowerCase()}`
}

export function directKey(ids: readonly number[]): string {
  return `d${ids.join()}`
}

export function keyOf(message: Message): string {
  return message.stream_id === undefined
    ? directKey(listPeers(message, actor.value!.user_id))
    : channelKey(message.stream_id, message.subject)
}

const pageSize = 60

/** Follows the account that the page acts as. */
export function watchChat(): void {
  effect(() => {
    const account = actor.value
    if (phase.value !== 'open' || !account) return
    const abort = new AbortController()
    void follow(account, abort.signal)
    return () => abort.abort()
  })
  effect(() => {
    if (route.value.view === 'conversations') narrow.value = readNarrow(route.value.rest)
  })
  effect(() => {
    const wanted = narrow.value
    if (actor.value && phase.value === 'open') void show(wanted)
  })
}

export async function loadOlder(): Promise<void> {
  const oldest = messages.value[0]
  if (!oldest) return
  const older = await fetchMessages(narrow.value, oldest.id)
  messages.value = [...older.filter(({ id }) => id < oldest.id), ...messages.value]
}

/** The topics of a channel, newest first. */
export async function fetchTopics(channelId: number): Promise<string[]> {
  const { topics } = await call('GET', `/users/me/${channelId}/topics`, { allow_empty_topic_name: true })
  return topics.map(({ name }: { name: string }) => name)
}

async function show(wanted: Narrow): Promise<void> {
  isLoading.value = true
  typing.value = new Map()
  messages.value = []
  await refresh(wanted)
}

async function refresh(wanted: Narrow = narrow.peek()): Promise<void> {
  const account = actor.peek()
  try {
    const found = await fetchMessages(wanted, 'newest', Math.max(pageSize, Math.min(messages.peek().length, 500)))
    // The user may have opened another conversation while it was loading.
    if (wanted !== narrow.peek() || account !== actor.peek()) return
    messages.value = found
  } catch (error) {
    if (wanted === narrow.peek() && error instanceof NatterError) say(messageOf(error), true)
  } finally {
    if (wanted === narrow.peek()) isLoading.value = false
  }
}

async function fetchMessages(wanted: Narrow, anchor: number | 'newest', count = pageSize): Promise<Message[]> {
  const terms = buildTerms(wanted)
  const reply = await call('GET', '/messages', {
    anchor,
    num_before: count,
    num_after: 0,
    ...(terms.length > 0 && { narrow: terms }),
    allow_empty_topic_name: true,
    client_gravatar: true,
  })
  hasOlder.value = !reply.found_oldest
  return reply.messages
}

async function follow(account: Account, abort: AbortSignal): Promise<void> {
  let queue: { id: string; last: number } | undefined
  let pause = 0
  let lost = false
  // A tab that is closed takes its queue with it.
  const leave = () => {
    if (queue) void callAs(account, 'DELETE', '/events', { queue_id: queue.id }, undefined, true).catch(() => {})
  }
  addEventListener('pagehide', leave, { signal: abort })
  while (!abort.aborted) {
    try {
      if (queue) {
        const params = { queue_id: queue.id, last_event_id: queue.last }
        const { events } = await callAs(account, 'GET', '/events', params, abort)
        for (const event of events) {
          queue.last = Math.max(queue.last, event.id)
          if (event.type !== 'heartbeat') addOwnEvent(event, account.user_id, queue.id)
          apply(event, account.user_id)
        }
      } else {
        const reply = await callAs(account, 'POST', '/register', registration, abort)
        queue = { id: reply.queue_id, last: reply.last_event_id }
        load(reply)
        // What came while no queue was there.
        if (lost) void refresh()
      }
      lost = false
      pause = 0
      if (!token.peek()) connection.value = 'live'
    } catch (error) {
      if (abort.aborted) break
      if (error instanceof NatterError && error.code === queueLost) {
        queue = undefined
        lost = true
        continue
      }
      if (error instanceof NatterError && !isPassingStatus(error.status)) {
        say(error.message, true)
        if (error.status === 401) return
      }
      if (!token.peek()) connection.value = 'lost'
      lost = true
      pause = Math.min(2000, laterPause(pause))
      await new Promise(resolve => setTimeout(resolve, pause))
    }
  }
  leave()
}

const registration = {
  fetch_event_types: [
    'message',
    'update_message_flags',
    'realm',
    'realm_user',
    'stream',
    'subscription',
    'recent_private_conversations',
  ],
  apply_markdown: true,
  client_gravatar: true,
  client_capabilities: {
    notification_settings_null: true,
    bulk_message_deletion: true,
    empty_topic_name: true,
    stream_typing_notifications: true,
    user_avatar_url_field_optional: true,
    archived_channels: true,
  },
}

function load(reply: any): void {
  organization.value = String(reply.realm_name ?? '')
  users.value = new Map(
    [...reply.realm_users, ...reply.realm_non_active_users, ...(reply.cross_realm_bots ?? [])].map(user => [
      user.user_id,
      user,
    ]),
  )
  const found = new Map<number, Channel>()
  for (const row of reply.never_subscribed ?? []) found.set(row.stream_id, { ...row, subscribed: false })
  for (const row of reply.unsubscribed ?? []) found.set(row.stream_id, { ...row, subscribed: false })
  for (const row of reply.subscriptions ?? []) found.set(row.stream_id, { ...row, subscribed: true })
  channels.value = new Map([...found].sort(([, a], [, b]) => a.name.localeCompare(b.name)))
  const counts = new Map<number, string>()
  const { streams = [], pms = [], huddles = [] } = reply.unread_msgs ?? {}
  const put = (key: string, ids: readonly number[]) => {
    for (const id of ids) counts.set(id, key)
  }
  for (const row of streams) put(channelKey(row.stream_id, row.topic), row.unread_message_ids)
  for (const row of pms) put(directKey([row.other_user_id ?? row.sender_id]), row.unread_message_ids)
  for (const row of huddles)
    put(directKey(withoutMe(row.user_ids_string.split(',').map(Number))), row.unread_message_ids)
  unread.value = counts
  directs.value = [...(reply.recent_private_conversations ?? [])]
    .sort((a: any, b: any) => b.max_message_id - a.max_message_id)
    .map((row: any) => withoutMe(row.user_ids))
}

function withoutMe(ids: readonly number[]): number[] {
  const me = actor.peek()!.user_id
  const others = ids.filter(id => id !== me).sort((a, b) => a - b)
  return others.length > 0 ? others : [me]
}

/** Types after which people and channels are read again: rare, and their forms are many. */
const structural = new Set(['stream', 'subscription', 'realm_user', 'realm_bot', 'realm'])

function apply(event: any, me: number): void {
  if (event.type === 'message') addMessage({ ...event.message, flags: event.flags }, me)
  else if (event.type === 'reaction') change(event.message_id, message => withReaction(message, event))
  else if (event.type === 'submessage') change(event.message_id, message => withSubmessage(message, event))
  else if (event.type === 'update_message_flags') applyFlags(event)
  else if (event.type === 'delete_message') remove(event.message_ids ?? [event.message_id])
  else if (event.type === 'update_message') void refresh()
  else if (event.type === 'typing') applyTyping(event, me)
  else if (structural.has(event.type)) void reload()
}

async function reload(): Promise<void> {
  const account = actor.peek()!
  const reply = await callAs(account, 'POST', '/register', { ...registration, event_types: ['restart'] }).catch(
    () => undefined,
  )
  if (!reply) return
  if (account === actor.peek()) load(reply)
  await callAs(account, 'DELETE', '/events', { queue_id: reply.queue_id }).catch(() => {})
}

function addMessage(message: Message, me: number): void {
  if (!message.flags.includes('read')) unread.value = new Map(unread.value).set(message.id, keyOf(message))
  if (message.stream_id === undefined) {
    const ids = listPeers(message, me)
    directs.value = [ids, ...directs.value.filter(other => other.join() !== ids.join())]
  }
  typing.value = new Map([...typing.value].filter(([id]) => id !== message.sender_id))
  const belongs = fits(narrow.peek(), message, me)
  if (belongs === undefined) void refresh()
  else if (belongs && !messages.value.some(({ id }) => id === message.id)) messages.value = [...messages.value, message]
}

function change(id: number, how: (message: Message) => Message): void {
  messages.value = messages.value.map(message => (message.id === id ? how(message) : message))
}

function withReaction(message: Message, event: any): Message {
  const same = (one: Reaction) => one.emoji_code === event.emoji_code && one.user_id === event.user_id
  const others = message.reactions.filter(one => !same(one))
  return { ...message, reactions: event.op === 'add' ? [...others, event] : others }
}

function withSubmessage(message: Message, { submessage_id: id, ...part }: any): Message {
  return { ...message, submessages: [...message.submessages, { ...part, id }] }
}

function applyFlags({ op, flag, messages: ids, message_details = {}, all }: any): void {
  const concerned = new Set<number>(ids)
  messages.value = messages.value.map(message => {
    if (!concerned.has(message.id) && !all) return message
    const rest = message.flags.filter(one => one !== flag)
    return { ...message, flags: op === 'add' ? [...rest, flag] : rest }
  })
  if (flag !== 'read') return
  const next = new Map(all ? [] : unread.value)
  for (const id of ids) {
    if (op === 'add') next.delete(id)
    else next.set(id, keyOfDetails(message_details[id]))
  }
  unread.value = next
}

function keyOfDetails(details: any): string {
  return details?.type === 'stream'
    ? channelKey(details.stream_id, details.topic)
    : directKey(withoutMe(details?.user_ids ?? []))
}

function remove(ids: readonly number[]): void {
  messages.value = messages.value.filter(({ id }) => !ids.includes(id))
  unread.value = new Map([...unread.value].filter(([id]) => !ids.includes(id)))
}

function applyTyping({ op, sender, stream_id, topic, recipients }: any, me: number): void {
  const now = narrow.peek()
  const here =
    now.kind === 'topic'
      ? stream_id === now.id && topic?.toLowerCase() === now.topic.toLowerCase()
      : now.kind === 'direct' && withoutMe((recipients ?? []).map((row: any) => row.user_id)).join() === now.ids.join()
  if (!here || sender.user_id === me) return
  const next = new Map(typing.value)
  if (op === 'start') next.set(sender.user_id, Date.now() + 15_000)
  else next.delete(sender.user_id)
  typing.value = next
}
