// Changing a message: its content, or where it is.

import { sha256 } from '@noble/hashes/sha2.js'
import { bytesToHex, utf8ToBytes } from '@noble/hashes/utils.js'
import type { ParamsOf } from '../../../api/define.ts'
import type { messages as api } from '../../../api/messages/messages.ts'
import { visibilityAfterMoving } from '../../channels/topics/visibility.ts'
import type { Fact } from '../../facts.ts'
import { detachedBy, relinked } from '../../files/attachments.ts'
import { topicLinks } from '../../markdown/index.ts'
import type { MessageEdited, MessagesMoved } from '../../model/facts/messages.ts'
import { isUnread } from '../../model/message-reader.ts'
import { type Edit, type Message, runsOf } from '../../model/message-store/index.ts'
import { organizationSetting } from '../../model/settings.ts'
import type { Channel, User } from '../../model/state.ts'
import { conflict, invalid, neededOneOf, Refusal } from '../../refusal.ts'
import type { Context } from '../../resource.ts'
import * as may from '../../rules/index.ts'
import { seconds } from '../../values/time.ts'
import { differsByPrefix, topicOf } from '../../values/topic-names.ts'
import { breadcrumbs, resolvedNotice } from '../notices/moves.ts'
import { checkChangeable } from './access.ts'
import { checkPosting, messageContent, noChannel } from './compose.ts'
import { tidy } from './present.ts'
import { composed, marksOf, mentionDetails, type Target } from './send.ts'

type Params = ParamsOf<typeof api.update>

/** Seconds that people get to finish what they began in time. */
const grace = 20

export function update(ctx: Context, params: Params) {
  const { state } = ctx
  const message = state.messages.get(checkChangeable(ctx, params.message_id))!
  const channel = message.channelId === undefined ? undefined : state.channels.get(message.channelId)!
  checkTogether(params, message)
  const content = params.content === undefined ? undefined : newContent(ctx, params, message)
  const place = channel ? newPlace(ctx, params, message, channel) : undefined
  const edit = content === undefined ? undefined : edited(ctx, message, channel, content, place?.topic)
  const change = place ? moved(ctx, params, message, channel!, place, edit?.fact) : [edit!.fact]
  return { facts: [...(edit?.links ?? []), ...change], reply: { detached_uploads: edit?.detached ?? [] } }
}

function checkTogether(params: Params, { channelId }: Message): void {
  const { content, topic, stream_id, propagate_mode } = params
  if (content === undefined && topic === undefined && stream_id === undefined)
    throw neededOneOf('content', 'topic', 'stream_id')
  if (content !== undefined && stream_id !== undefined) throw invalid('stream_id', 'cannot be combined with content')
  if (channelId === undefined && (topic !== undefined || stream_id !== undefined))
    throw invalid(topic === undefined ? 'stream_id' : 'topic', 'direct messages cannot be moved')
  if (propagate_mode !== 'change_one' && topic === undefined && stream_id === undefined)
    throw invalid('propagate_mode', 'needs topic or stream_id')
}

// --- content ----------------------------------------------------------------------------------------------------

function newContent(ctx: Context, { content, prev_content_sha256 }: Params, message: Message): string {
  checkEditing(ctx, message, grace)
  if (
    prev_content_sha256 !== undefined &&
    bytesToHex(sha256(utf8ToBytes(message.content))) !== prev_content_sha256.toLowerCase()
  )
    throw conflict('prev_content_sha256', 'the content has changed since; fetch the message again', {
      code: 'EXPECTATION_MISMATCH',
      fields: { field_name: 'prev_content_sha256' },
    })
  return content!.trim() === '' ? '(deleted)' : messageContent(content!)
}

/** Whether the actor may change the content now. */
export function checkEditing(ctx: Context, message: Message, extra: number): void {
  may.check(may.editContent, ctx, message)
  if (message.details?.submessages) throw conflict('message_id', 'widgets cannot be edited')
  if (!organizationSetting(ctx.state, 'allow_message_editing'))
    throw new Refusal('Editing messages is turned off in this organization.', { kind: 'forbidden' })
  if (isOlder(ctx, message.time, 'message_content_edit_limit_seconds', extra))
    throw new Refusal('The time limit for editing this message has passed.', { kind: 'forbidden' })
}

type Limit =
  | 'message_content_edit_limit_seconds'
  | 'message_content_delete_limit_seconds'
  | 'move_messages_within_stream_limit_seconds'
  | 'move_messages_between_streams_limit_seconds'

export function isOlder(ctx: Context, time: number, setting: Limit, extra = 0): boolean {
  const limit: unknown = organizationSetting(ctx.state, setting)
  return typeof limit === 'number' && limit >= 0 && seconds(ctx.now) - time > limit + extra
}

function edited(ctx: Context, message: Message, channel: Channel | undefined, content: string, topic = message.topic) {
  const target: Target = channel
    ? { channel, topic: topic! }
    : { people: ctx.state.conversations.get(message.conversationId!)!.userIds }
  const rendered = composed(ctx, target, content)
  const edit: Edit = {
    userId: ctx.actor.id,
    time: seconds(ctx.now),
    prevContent: message.content,
    prevHtml: message.html,
  }
  const details = tidy({
    ...message.details,
    ...mentionDetails(ctx.state, ctx.actor, target, content, rendered),
    edits: [...(message.details?.edits ?? []), edit],
  })
  const now: Message = { ...message, content, html: rendered.html, marks: marksOf(rendered), details }
  const links = relinked(ctx, rendered.uploads, now)
  const fact: MessageEdited = { type: 'message.edited', message: now, edit }
  return { fact, links, detached: links.flatMap(link => detachedBy(ctx, link)) }
}

// --- place ------------------------------------------------------------------------------------------------------

interface NewPlace {
  readonly channel: Channel
  readonly topic: string
  /** It is the same topic, marked as resolved or no longer so. */
  readonly isResolving: boolean
}

function newPlace(ctx: Context, params: Params, message: Message, from: Channel): NewPlace | undefined {
  if (params.topic === undefined && params.stream_id === undefined) return undefined
  const topic = params.topic === undefined ? message.topic! : topicOf(params.topic)
  const channel = params.stream_id === undefined ? from : targetChannel(ctx, params.stream_id)
  if (channel === from && topic === message.topic) {
    if (params.content !== undefined) return undefined
    throw conflict('topic', 'the message is already there')
  }
  const isResolving = channel === from && differsByPrefix(topic, message.topic!)
  if (isResolving) {
    may.check(may.resolveTopics, ctx, from)
  } else {
    if (topic !== message.topic) checkTopicMove(ctx, message, from, channel)
    if (channel !== from) checkChannelMove(ctx, message, from)
  }
  checkPosting(ctx, channel, topic)
  return { channel, topic, isResolving }
}

function targetChannel(ctx: Context, id: number): Channel {
  const channel = ctx.state.channels.get(id)
  if (!channel || !may.seeMetadata.allows(ctx, channel)) throw noChannel(id)
  return channel
}

function checkTopicMove(ctx: Context, message: Message, from: Channel, to: Channel): void {
  if (!may.moveWithinChannel.allows(ctx, from) && !may.moveWithinChannel.allows(ctx, to))
    throw may.forbidden(may.moveWithinChannel, from)
  if (
    from === to &&
    !may.moveOldMessages.allows(ctx) &&
    isOlder(ctx, message.time, 'move_messages_within_stream_limit_seconds', grace)
  )
    throw new Refusal('The time limit for moving this message to another topic has passed.', { kind: 'forbidden' })
}

function checkChannelMove(ctx: Context, message: Message, from: Channel): void {
  may.check(may.moveOutOfChannel, ctx, from)
  if (
    !may.moveOldMessages.allows(ctx) &&
    isOlder(ctx, message.time, 'move_messages_between_streams_limit_seconds', grace)
  )
    throw new Refusal('The time limit for moving this message to another channel has passed.', { kind: 'forbidden' })
}

function moved(
  ctx: Context,
  params: Params,
  message: Message,
  from: Channel,
  to: NewPlace,
  edit: MessageEdited | undefined,
): Fact[] {
  const { state } = ctx
  const thread = state.messages.inTopic(from.id, message.topic!)
  const all = thread.slice().filter(id => to.channel === from || may.seeMessage.allows(ctx, id))
  const ids =
    params.propagate_mode === 'change_one'
      ? [message.id]
      : params.propagate_mode === 'change_later'
        ? all.filter(id => id >= message.id)
        : all
  if (params.propagate_mode === 'change_all' && !to.isResolving) checkAges(ctx, ids, from !== to.channel)
  const fact: MessagesMoved = {
    type: 'messages.moved',
    id: message.id,
    ids,
    from: { channelId: from.id, topic: message.topic! },
    to: { channelId: to.channel.id, topic: to.topic },
    topicLinks: topicLinks(state, to.topic),
    mode: params.propagate_mode,
    userId: ctx.actor.id,
    time: seconds(ctx.now),
    markedRead: from === to.channel ? [] : becomingRead(ctx, ids, from, to.channel),
    ...(from !== to.channel && unstarring(ctx, ids, to.channel)),
    ...(edit && { edited: edit }),
  }
  const whole = ids.length === all.length
  const maySeeIt = (actor: User) => may.seeContent.allows({ state, actor }, to.channel)
  const visibility = whole ? visibilityAfterMoving(ctx, fact.from, fact.to, maySeeIt) : { staying: [], losing: [] }
  return [
    ...visibility.staying,
    fact,
    ...visibility.losing,
    ...(to.isResolving
      ? resolvedNotice(ctx, to.channel, to.topic, message.topic!)
      : breadcrumbs(ctx, params, fact, whole, from, to.channel)),
  ]
}

/** Those who are not subscribed to the new channel cannot have anything unread in it. */
function becomingRead(ctx: Context, ids: readonly number[], from: Channel, to: Channel) {
  const { state } = ctx
  const marked: [number, number[]][] = []
  for (const userId of state.subscriptions.followers(from.id)) {
    if (state.subscriptions.isActive(to.id, userId)) continue
    const runs = runsOf(ids.filter(id => isUnread(state, userId, id)))
    if (runs.length > 0) marked.push([userId, runs])
  }
  return marked
}

/** Messages that come out of their reader's sight are not starred any more. */
function unstarring({ state }: Context, ids: readonly number[], to: Channel): Pick<MessagesMoved, 'unstarred'> {
  const unstarred: [number, number[]][] = []
  for (const userId of state.messageFlags.users()) {
    const { starred } = state.messageFlags.of(userId)
    const runs = runsOf(ids.filter(id => starred.has(id)))
    if (runs.length === 0) continue
    const actor = state.users.get(userId)
    if (actor && !may.seeContent.allows({ state, actor }, to)) unstarred.push([userId, runs])
  }
  return unstarred.length > 0 ? { unstarred } : {}
}

function checkAges(ctx: Context, ids: readonly number[], betweenChannels: boolean): void {
  if (may.moveOldMessages.allows(ctx)) return
  const setting = betweenChannels
    ? 'move_messages_between_streams_limit_seconds'
    : 'move_messages_within_stream_limit_seconds'
  const young = ids.filter(id => !isOlder(ctx, ctx.state.messages.time(id), setting, grace))
  if (young.length === ids.length) return
  throw new Refusal(`You can move only the ${young.length} most recent of the ${ids.length} messages in this topic.`, {
    code: 'MOVE_MESSAGES_TIME_LIMIT_EXCEEDED',
    fields: {
      first_message_id_allowed_to_move: young[0]!,
      total_messages_in_topic: ids.length,
      total_messages_allowed_to_move: young.length,
    },
  })
}
