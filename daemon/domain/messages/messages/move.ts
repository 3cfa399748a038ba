// Moving messages to another topic or channel: whether the actor may, and what follows for everyone else.

import type { ParamsOf } from '../../../api/define.ts'
import type { messages as api } from '../../../api/messages/messages.ts'
import { quietAfter } from '../../channels/channels/activity.ts'
import { visibilityAfterMoving, visibilityAfterSplitting } from '../../channels/topics/visibility.ts'
import type { Fact } from '../../facts.ts'
import { topicLinks } from '../../markdown/index.ts'
import type { MessageEdited, MessagesMoved } from '../../model/facts/messages.ts'
import { Reader } from '../../model/message-reader.ts'
import { type Message, packRuns } from '../../model/message-store/index.ts'
import type { Channel, User } from '../../model/state.ts'
import { conflict, missing, Refusal } from '../../refusal.ts'
import type { Context } from '../../resource.ts'
import * as may from '../../rules/index.ts'
import { seconds } from '../../values/time.ts'
import { isNoTopic, normalizeTopic, togglesResolved } from '../../values/topic-names.ts'
import { breadcrumbs, resolvedNotice } from '../notices/moves.ts'
import { grace, isOlder, type Limit } from './ages.ts'
import { partlyRead } from './audience.ts'
import { checkNewTopic, checkTopicsPolicy } from './compose.ts'
import { checkRoomForMove } from './edit-history.ts'

type Params = ParamsOf<typeof api.update>

interface NewPlace {
  readonly channel: Channel
  readonly topic: string
  /** It is the same topic, marked as resolved or no longer so. */
  readonly isResolving: boolean
}

/** Where the message goes, if it goes anywhere; checked. `topic` is given only if it changes. */
export function newPlace(ctx: Context, params: Params, message: Message, from: Channel): NewPlace | undefined {
  if (params.topic === undefined && params.stream_id === undefined) return undefined
  const topic = params.topic === undefined ? message.topic! : normalizeTopic(params.topic)
  const channel = params.stream_id === undefined ? from : targetChannel(ctx, params.stream_id)
  if (channel === from && topic === message.topic) {
    if (params.content !== undefined) return undefined
    // OPEN: before level 509 the public server moves a message to the channel where it is, and tells everyone; here the move is refused.
    throw conflict('topic', 'the message is already there')
  }
  checkTopicsPolicy(ctx.state, channel, isNoTopic(topic) ? '' : topic)
  const isResolving = togglesResolved(message.topic!, topic)
  if (isResolving) checkEither(ctx, may.resolveTopics, from, channel)
  else if (topic !== message.topic) checkEither(ctx, may.moveWithinChannel, from, channel)
  if (params.stream_id !== undefined) {
    may.check(may.moveOutOfChannel, ctx, from)
    may.check(may.post, ctx, channel)
  }
  if (!isResolving) checkNewTopic(ctx, channel, topic)
  // The whole topic is checked instead.
  if (params.propagate_mode === 'change_all' && ctx.server.level.rules.oldTopicsMovedInPart)
    return { channel, topic, isResolving }
  if (!isResolving && topic !== message.topic)
    checkAge(ctx, message, 'move_messages_within_stream_limit_seconds', 'topic')
  if (params.stream_id !== undefined) checkAge(ctx, message, 'move_messages_between_streams_limit_seconds', 'channel')
  return { channel, topic, isResolving }
}

function targetChannel(ctx: Context, id: number): Channel {
  const channel = ctx.state.channels.get(id)
  if (!channel || channel.archived || !may.seeContent.allows(ctx, channel)) throw missing('stream_id', 'channel', id)
  return channel
}

/** The right in one of the two channels is enough. */
function checkEither(ctx: Context, rule: typeof may.resolveTopics, from: Channel, to: Channel): void {
  if (!rule.allows(ctx, from) && !rule.allows(ctx, to)) throw may.forbidden(rule, from)
}

function checkAge(ctx: Context, { time }: Message, limit: Limit, place: string): void {
  if (may.moveOldMessages.allows(ctx) || !isOlder(ctx, time, limit, grace)) return
  throw new Refusal(`The time limit for moving this message to another ${place} has passed.`, { kind: 'forbidden' })
}

/** The facts of a move that is allowed. */
export function moveMessages(
  ctx: Context,
  params: Params,
  message: Message,
  from: Channel,
  to: NewPlace,
  edit: MessageEdited | undefined,
): Fact[] {
  const { state } = ctx
  const thread = state.messages.inTopic(from.id, message.topic!).slice()
  const readable = thread.filter(may.readTest(ctx))
  const ids = chosen(params.propagate_mode, message.id, to.channel === from ? thread : readable)
  if (params.propagate_mode === 'change_all' && !to.isResolving) checkAges(ctx, readable, params)
  checkRoomForMove(ctx, ids)
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
    markedRead: [],
    ...(from !== to.channel && betweenChannels(ctx, ids, from, to.channel)),
    ...(edit && { edited: edit }),
  }
  const going = new Set(ids)
  const whole = params.propagate_mode === 'change_all' || readable.every(id => going.has(id))
  const maySeeIt = (actor: User) => may.seeContent.allows({ state, actor }, to.channel)
  const visibility = whole
    ? visibilityAfterMoving(ctx, fact.from, fact.to, maySeeIt)
    : { staying: authorsView(ctx, message, to, going), losing: [] }
  const resolved = to.isResolving && to.channel === from && !edit ? resolvedNotice(ctx, fact, to.channel, whole) : []
  const notice = resolved.find(said => said.type === 'message.sent')?.message.id
  return [
    ...visibility.staying,
    fact,
    ...visibility.losing,
    ...wakening(ctx, to.channel, ids, params),
    ...resolved,
    ...breadcrumbs(ctx, params, fact, { whole, isResolving: to.isResolving, notice }),
  ]
}

/** A quiet channel is active again with the messages that come; a notice in it wakes it by itself. */
function wakening({ state, now }: Context, channel: Channel, ids: readonly number[], params: Params): Fact[] {
  const isRecent = (id: number) => seconds(now) - state.messages.time(id) < quietAfter
  if (!channel.quiet || params.send_notification_to_new_thread || !ids.some(isRecent)) return []
  return [{ type: 'channel.activity-changed', quiet: [], woken: [channel.id] }]
}

function chosen(mode: Params['propagate_mode'], id: number, ids: readonly number[]): readonly number[] {
  if (mode === 'change_one') return [id]
  return mode === 'change_later' ? ids.filter(other => other >= id) : ids
}

/** A message that begins its new topic counts as begun there by its author. */
function authorsView(ctx: Context, message: Message, to: NewPlace, going: ReadonlySet<number>): Fact[] {
  const { state } = ctx
  const author = { state, actor: state.users.get(message.senderId)! }
  if (!may.seeContent.allows(author, to.channel)) return []
  const isReadable = may.readTest(author)
  const isOlderThere = (id: number) => id < message.id && !going.has(id) && isReadable(id)
  if (state.messages.inTopic(to.channel.id, to.topic).slice().some(isOlderThere)) return []
  return visibilityAfterSplitting(ctx, author.actor, { channelId: to.channel.id, topic: to.topic })
}

/** What a move to another channel changes of the histories of users. */
function betweenChannels(ctx: Context, ids: readonly number[], from: Channel, to: Channel) {
  const { state } = ctx
  const followers = state.subscriptions.followers(to.id)
  const markedRead: [number, number[]][] = []
  const lost: number[] = []
  for (const userId of state.subscriptions.followers(from.id).everyone()) {
    if (followers.has(userId)) continue
    const reader = new Reader(state, userId)
    if (ids.some(id => reader.hasRow(id))) lost.push(userId)
    // OPEN: when messages move, users who do not follow the new channel cannot have unread messages in it, and get an event that says
    // so; the public server sends none.
    const runs = packRuns(ids.filter(id => reader.isUnread(id)))
    if (runs.length > 0) markedRead.push([userId, runs])
  }
  const gained = may.hasSharedHistory(to)
    ? []
    : [...followers].filter(userId => {
        const reader = new Reader(state, userId)
        return !ids.every(id => reader.hasRow(id))
      })
  return {
    markedRead,
    ...(lost.length > 0 && { lost }),
    ...(gained.length > 0 && { gained }),
    ...partlyRead(state, from, ids, lost),
    ...unstarring(ctx, ids, to),
  }
}

/** Messages that come out of their reader's sight are not starred any more. */
function unstarring({ state }: Context, ids: readonly number[], to: Channel): Pick<MessagesMoved, 'unstarred'> {
  const unstarred: [number, number[]][] = []
  for (const userId of state.messageFlags.users()) {
    const { starred } = state.messageFlags.of(userId)
    const runs = packRuns(ids.filter(id => starred.has(id)))
    if (runs.length === 0) continue
    const actor = state.users.get(userId)
    if (actor && !may.seeContent.allows({ state, actor }, to)) unstarred.push([userId, runs])
  }
  return unstarred.length > 0 ? { unstarred } : {}
}

/** Whether all messages of the topic that the actor can read are young enough for every limit that counts. */
function checkAges(ctx: Context, ids: readonly number[], { topic, stream_id }: Params): void {
  if (may.moveOldMessages.allows(ctx)) return
  const limits: Limit[] = []
  if (topic !== undefined) limits.push('move_messages_within_stream_limit_seconds')
  if (stream_id !== undefined) limits.push('move_messages_between_streams_limit_seconds')
  const young = ids.filter(id => !limits.some(limit => isOlder(ctx, ctx.state.messages.time(id), limit, grace)))
  if (young.length === ids.length) return
  if (young.length === 0) throw new Refusal('The time limit for moving this topic has passed.', { kind: 'forbidden' })
  throw new Refusal(`You can move only the ${young.length} most recent of the ${ids.length} messages in this topic.`, {
    code: 'MOVE_MESSAGES_TIME_LIMIT_EXCEEDED',
    fields: {
      first_message_id_allowed_to_move: young[0]!,
      total_messages_in_topic: ids.length,
      total_messages_allowed_to_move: young.length,
    },
  })
}
