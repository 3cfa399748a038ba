// Notices of the notification bot when messages move or a topic is resolved.

import type { Fact } from '../../facts.ts'
import type { LatestMessage } from '../../markdown/index.ts'
import { messageUrl } from '../../markdown/urls.ts'
import type { MessageSent, MessagesMoved } from '../../model/facts/messages.ts'
import { userSetting } from '../../model/settings.ts'
import type { Channel } from '../../model/state.ts'
import { topicPolicy, visibility } from '../../model/topic-policy.ts'
import type { Context } from '../../resource.ts'
import { isHuman, readTest } from '../../rules/index.ts'
import { seconds } from '../../values/time.ts'
import { resolvedPrefix } from '../../values/topic-names.ts'
import { deletion } from '../messages/deletion-facts.ts'
import { latestVisible } from '../messages/send.ts'
import { channelNotice, notificationBot } from './post.ts'
import { placeLink, silentMention } from './quote.ts'

interface Move {
  readonly whole: boolean
  readonly isResolving: boolean
  /** The message which says that the topic was resolved. */
  readonly notice: number | undefined
}

interface Wanted {
  readonly send_notification_to_old_thread: boolean
  readonly send_notification_to_new_thread: boolean
}

/** Notices in the new and in the old place, in this order. They are read for the actor. */
export function breadcrumbs(
  ctx: Context,
  wanted: Wanted,
  { ids, from, to }: MessagesMoved,
  { whole, isResolving, notice }: Move,
): Fact[] {
  const oldChannel = ctx.state.channels.get(from.channelId)!
  const newChannel = ctx.state.channels.get(to.channelId)!
  const who = silentMention(ctx.state, ctx.actor.id)
  const oldPlace = placeLink(oldChannel, from.topic)
  const newPlace = placeLink(newChannel, to.topic)
  const many = `${ids.length} messages`
  const facts: MessageSent[] = []
  const latest = latestAfter(ctx, { ids, from, to }, () => facts[0]?.message.id ?? notice)
  if (wanted.send_notification_to_new_thread && !(isResolving && oldChannel === newChannel)) {
    const what =
      whole && !hasOthers(ctx, newChannel, to.topic, ids)
        ? 'This topic was moved here'
        : ids.length === 1
          ? `[A message](${ctx.server.url}${messageUrl(newChannel, to.topic, ids[0]!)}) was moved here`
          : `${many} were moved here`
    facts.push(
      ...channelNotice(ctx, newChannel, to.topic, `${what} from ${oldPlace} by ${who}.`, [ctx.actor.id], latest),
    )
  }
  if (wanted.send_notification_to_old_thread) {
    const what = whole
      ? 'This topic was moved'
      : ids.length === 1
        ? 'A message was moved from this topic'
        : `${many} were moved from this topic`
    facts.push(
      ...channelNotice(ctx, oldChannel, from.topic, `${what} to ${newPlace} by ${who}.`, [ctx.actor.id], latest),
    )
  }
  return facts
}

/** The newest message that the actor can see in a topic once the messages have moved and `newest` was sent in the new place. */
function latestAfter(
  ctx: Context,
  { ids, from, to }: Pick<MessagesMoved, 'ids' | 'from' | 'to'>,
  newest: () => number | undefined,
): LatestMessage {
  const moved = new Set(ids)
  return (channelId, topic) => {
    if (isSame({ channelId, topic }, to))
      return newest() ?? Math.max(ids.at(-1)!, latestVisible(ctx, channelId, topic) ?? 0)
    return latestVisible(ctx, channelId, topic, isSame({ channelId, topic }, from) ? moved : undefined)
  }
}

function isSame(one: MessagesMoved['from'], other: MessagesMoved['from']): boolean {
  return one.channelId === other.channelId && one.topic.toLowerCase() === other.topic.toLowerCase()
}

/** Whether the actor can read messages of the topic that were there before. */
function hasOthers(ctx: Context, channel: Channel, topic: string, moved: readonly number[]): boolean {
  const there = ctx.state.messages.inTopic(channel.id, topic)
  const coming = new Set(moved)
  const isReadable = readTest(ctx)
  for (let i = there.length - 1; i >= 0; i--) if (!coming.has(there.at(i)) && isReadable(there.at(i))) return true
  return false
}

/** Seconds within which undoing takes the notice back instead of adding another. */
const undoable = 60

/** Says that a topic was resolved or not, or takes back the notice of a moment ago. Asked before the messages move. */
export function resolvedNotice(
  ctx: Context,
  { ids, from, to }: MessagesMoved,
  channel: Channel,
  whole: boolean,
): Fact[] {
  const { messages } = ctx.state
  const last = Math.max(messages.inTopic(channel.id, to.topic).last, ids.at(-1)!)
  const bot = notificationBot(ctx.state)
  if (
    messages.sender(last) === bot.id &&
    seconds(ctx.now) - messages.time(last) <= undoable &&
    / has marked this topic as (un)?resolved\.$/.test(messages.content(last))
  )
    return [{ ...deletion(ctx.state, [last], ctx.actor.id), place: { channelId: channel.id, topic: to.topic } }]
  const word = to.topic.startsWith(resolvedPrefix) ? 'resolved' : 'unresolved'
  const text = `${silentMention(ctx.state, ctx.actor.id)} has marked this topic as ${word}.`
  // A topic that moves as a whole takes its followers along.
  return channelNotice(ctx, channel, to.topic, text, readersOfNotice(ctx, channel, whole ? from.topic : to.topic))
}

/** Followers of the channel for whom the notice is read from the start, by their settings; and the actor. */
function readersOfNotice({ state, actor }: Context, channel: Channel, topic: string): number[] {
  return [...state.subscriptions.followers(channel.id)].filter(id => {
    const user = state.users.get(id)!
    if (id === actor.id || !isHuman(user)) return true
    const policy = userSetting(user, 'resolved_topic_notice_auto_read_policy')
    if (policy === 'never') return false
    return policy === 'always' || topicPolicy(state, id, channel.id, topic) !== visibility.followed
  })
}
