// Shared by sending, editing and scheduling a message: its text, its place, and whether the author may post there.

import { copyText } from '../../../local/text-parts.ts'
import { limits } from '../../limits.ts'
import { findConversation } from '../../model/lookups.ts'
import type { MessageStore } from '../../model/message-store/index.ts'
import { organizationSetting } from '../../model/settings.ts'
import type { Channel, Conversation, State } from '../../model/state.ts'
import { conflict, full, inQuotes, invalid, missing, needed, type Refusal } from '../../refusal.ts'
import type { Context, Surroundings } from '../../resource.ts'
import * as may from '../../rules/index.ts'
import { truncate } from '../../values/text.ts'
import { emptyTopicDisplayName } from '../../values/topic-names.ts'

/** Trailing white space and leading line breaks go; what is too long is cut. */
export function messageContent(given: string, name = 'content'): string {
  const text = given.trimEnd().replace(/^(?:[ \t]*\r?\n)+/, '')
  if (text === '') throw invalid(name, 'cannot be empty')
  return truncateContent(text)
}

export function truncateContent(text: string): string {
  // Most texts were trimmed just before.
  return copyText(truncate(text, limits.messageContent, '\n[message truncated]'))
}

/** Whether there is room for one more among the rows that wait, or for a new version of one of them. */
export function checkWaiting(rows: readonly Waiting[], row: Waiting, things: string): void {
  const what = `characters of HTML in all your ${things} together`
  checkGrowth(rows, [row], ({ html }) => html.length, limits.waitingContent, what)
}

interface Waiting {
  readonly id: number
  readonly html: string
}

/** Whether there is room for these among the texts that an account keeps, or for new versions of some of them. */
export function checkKept(rows: readonly Kept[], changed: readonly Kept[], things: string): void {
  const what = `characters in all your ${things} together`
  checkGrowth(rows, changed, ({ content }) => content.length, limits.keptContent, what)
}

interface Kept {
  readonly id: number
  readonly content: string
}

/** An account that is above the limit already, for example by an import, can still make its texts shorter. */
function checkGrowth<Row extends { readonly id: number }>(
  rows: readonly Row[],
  changed: readonly Row[],
  sizeOf: (row: Row) => number,
  most: number,
  what: string,
): void {
  const replaced = new Set(changed.map(({ id }) => id))
  let before = 0
  let growth = 0
  for (const row of changed) growth += sizeOf(row)
  for (const row of rows) {
    before += sizeOf(row)
    if (replaced.has(row.id)) growth -= sizeOf(row)
  }
  if (growth > 0 && before + growth > most) throw full('You', most, what)
}

/** The topic the channel's policy allows, or a refusal that names the empty one. */
export function checkTopicsPolicy(state: State, channel: Channel, topic: string): void {
  const policy = channel.topicsPolicy === 'inherit' ? organizationSetting(state, 'topics_policy') : channel.topicsPolicy
  const display = { empty_topic_display_name: emptyTopicDisplayName }
  if (policy === 'disable_empty_topic' && topic === '') throw needed('topic', 'in this channel', { fields: display })
  if (policy === 'empty_topic_only' && topic !== '')
    throw invalid('topic', `must be empty: this channel has only ${inQuotes(emptyTopicDisplayName)}`, {
      fields: display,
    })
}

/** `to` of a message to a channel: an ID, a name, or a list of one. Bots can have a channel for messages without it. */
export function channelTo(ctx: Context, to: unknown = ctx.actor.bot?.defaults?.sendingChannelId ?? undefined): Channel {
  const given = Array.isArray(to) && to.length === 1 ? to[0] : to
  if (Array.isArray(given)) throw invalid('to', 'must name exactly one channel')
  if (given === undefined) throw needed('to', 'for a channel message: the name or ID of the channel')
  const channel =
    typeof given === 'number'
      ? ctx.state.channels.get(given)
      : ctx.state.channels.find('name', String(given).trim().toLowerCase())
  if (!channel) throw noChannel(given)
  return channel
}

function noChannel(given: unknown): Refusal {
  return typeof given === 'number'
    ? missing('to', 'channel', given, { code: 'STREAM_DOES_NOT_EXIST', fields: { stream_id: given } })
    : missing('to', 'channel', String(given), { code: 'STREAM_DOES_NOT_EXIST', fields: { stream: String(given) } })
}

/** Whether the actor may write there. A channel they may not know of must look like none. */
export function checkPosting(ctx: Context, channel: Channel, topic: string, given: unknown = channel.id): void {
  if (!may.post.allows(ctx, channel)) {
    if (!may.seeMetadata.allows(ctx, channel)) throw noChannel(given)
    throw may.forbidden(may.post, channel)
  }
  if (channel.archived) throw conflict('to', `the channel ${inQuotes(channel.name)} is archived`)
  checkTopicsPolicy(ctx.state, channel, topic)
  checkNewTopic(ctx, channel, topic)
}

/** A topic that has messages already is open to everyone who may post. */
export function checkNewTopic(ctx: Context, channel: Channel, topic: string): void {
  if (!ctx.server.level.rules.topicCreationLimited || may.createTopic.allows(ctx, channel)) return
  if (ctx.state.messages.inTopic(channel.id, topic).length === 0) throw may.forbidden(may.createTopic, channel)
}

function allotments(ctx: Surroundings) {
  ctx.allotted ??= { messages: 0, conversations: new Map(), deliveries: 0 }
  return ctx.allotted
}

export function nextMessageId(ctx: Surroundings & { state: { messages: MessageStore } }): number {
  return ctx.state.messages.lastId + ++allotments(ctx).messages
}

/** The conversation of these people, ascending: `fresh` unless it existed, or an earlier message of the same command opened it. */
export function openConversation(ctx: Surroundings, userIds: readonly number[]): { id: number; fresh?: Conversation } {
  const known = findConversation(ctx.state, userIds)
  if (known) return { id: known.id }
  const { conversations } = allotments(ctx)
  const key = userIds.join()
  const opened = conversations.get(key)
  if (opened) return { id: opened.id }
  const fresh = { id: ctx.state.conversations.nextId + conversations.size, userIds }
  conversations.set(key, fresh)
  return { id: fresh.id, fresh }
}

export function nextDeliveryId(ctx: Surroundings): number {
  return ctx.state.webhookDeliveries.nextId + allotments(ctx).deliveries++
}
