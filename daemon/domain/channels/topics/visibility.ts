// Visibility policies of topics, and everything that changes them: what people ask for, send, are mentioned in, or what
// becomes of the topic.

import type { Fact } from '../../facts.ts'
import { userTopicKey } from '../../model/keys.ts'
import type { UserTopic } from '../../model/rows/channels.ts'
import { userSetting } from '../../model/settings.ts'
import type { Channel, State, User } from '../../model/state.ts'
import { topicPolicy, visibility } from '../../model/topic-policy.ts'
import { type Asker, isHuman } from '../../rules/index.ts'
import { seconds } from '../../values/time.ts'

/** From what is seen least to what is seen most. */
const ascending: readonly number[] = [visibility.muted, visibility.none, visibility.unmuted, visibility.followed]

interface Now {
  readonly state: State
  /** Milliseconds. */
  readonly now: number
}

interface Place {
  readonly channelId: number
  readonly topic: string
}

/** Facts that give a topic a policy for any user, without checks; none when it has it already. */
export function userTopicFacts(state: State, wanted: UserTopic): Fact[] {
  const old = state.userTopics.get(userTopicKey(wanted))
  if ((old?.policy ?? visibility.none) === wanted.policy) return []
  // The first spelling is kept.
  const row = { ...wanted, topic: old?.topic ?? wanted.topic }
  return [{ type: wanted.policy === visibility.none ? 'user-topic.cleared' : 'user-topic.set', row }]
}

/** Facts that clear the policies of a topic that was deleted, except for users who still have messages in it. */
export function clearedFacts(ctx: Now, place: Place, keepsIt: (row: UserTopic) => boolean): Fact[] {
  return rowsOf(ctx.state, place)
    .filter(row => !keepsIt(row))
    .map(row => ({
      type: 'user-topic.cleared',
      row: { ...row, policy: visibility.none, updated: seconds(ctx.now) },
    }))
}

/** As users set when a topic becomes visible by itself. Taking part: writing, reacting, and what is done to a widget. */
const when = { takingPart: 1, sending: 2, beginning: 3, never: 4 } as const

/** What sending to a topic changes of the sender's own view of it. Never makes it less visible. */
export function visibilityAfterSending(
  ctx: Now & Asker,
  channel: Channel,
  topic: string,
  isFirst: () => boolean,
): { readonly facts: readonly Fact[]; readonly policy?: 2 | 3 } {
  const qualifies = (setting: number) =>
    setting === when.takingPart || setting === when.sending || (setting === when.beginning && isFirst())
  const place = { channelId: channel.id, topic }
  const policy = moreVisibleNow(ctx, place, qualifies)
  return policy === undefined ? { facts: [] } : { facts: becoming(ctx, ctx.actor, place, policy), policy }
}

/** What doing something with a message, short of writing one, changes of the actor's view of its topic. */
export function visibilityAfterTakingPart(ctx: Now & Asker, messageId: number): readonly Fact[] {
  const { topic, thread } = ctx.state.messages.place(messageId)
  if (thread.conversationId !== 0 || !ctx.state.subscriptions.isActive(thread.channelId, ctx.actor.id)) return []
  const place = { channelId: thread.channelId, topic }
  const policy = moreVisibleNow(ctx, place, setting => setting === when.takingPart)
  return policy === undefined ? [] : becoming(ctx, ctx.actor, place, policy)
}

/** What a topic becomes by itself to a person whose settings say so of what they did; nothing if it is that already. */
function moreVisibleNow(
  { state, actor }: Asker,
  { channelId, topic }: Place,
  qualifies: (setting: number) => boolean,
): 2 | 3 | undefined {
  if (!isHuman(actor)) return undefined
  const current = topicPolicy(state, actor.id, channelId, topic)
  if (current === visibility.followed) return undefined
  if (qualifies(userSetting(actor, 'automatically_follow_topics_policy'))) return visibility.followed
  const mayUnmute = current !== visibility.unmuted && state.subscriptions.get(channelId, actor.id)?.muted
  return mayUnmute && qualifies(userSetting(actor, 'automatically_unmute_topics_in_muted_streams_policy'))
    ? visibility.unmuted
    : undefined
}

/** People who follow a topic when they are mentioned in it, unless they muted it. */
export function visibilityAfterMention(ctx: Now, channel: Channel, topic: string, userIds: Iterable<number>): Fact[] {
  const facts: Fact[] = []
  for (const id of userIds) {
    const user = ctx.state.users.get(id)!
    if (!isHuman(user) || !userSetting(user, 'automatically_follow_topics_where_mentioned')) continue
    if (topicPolicy(ctx.state, id, channel.id, topic) === visibility.muted) continue
    facts.push(...becoming(ctx, user, { channelId: channel.id, topic }, visibility.followed))
  }
  return facts
}

/**
 * What everyone set for a topic goes where all of the topic goes. Where there is something already, the more visible
 * of the two is kept. Users without access to the new place only lose what they set.
 */
export function visibilityAfterMoving(
  ctx: Now,
  from: Place,
  to: Place,
  maySeeIt: (user: User) => boolean,
): { readonly staying: readonly Fact[]; readonly losing: readonly Fact[] } {
  const { state, now } = ctx
  const staying: Fact[] = []
  const losing: Fact[] = []
  if (from.channelId === to.channelId && from.topic.toLowerCase() === to.topic.toLowerCase()) return { staying, losing }
  const merging = state.messages.inTopic(to.channelId, to.topic).length > 0
  const people = new Set(rowsOf(state, from).map(row => row.userId))
  // A topic without messages can have policies of the time before they were deleted or moved.
  for (const row of rowsOf(state, to)) people.add(row.userId)
  for (const userId of people) {
    const user = state.users.get(userId)!
    const here = topicPolicy(state, userId, from.channelId, from.topic)
    const there = topicPolicy(state, userId, to.channelId, to.topic)
    const cleared = userTopicFacts(state, { userId, ...from, policy: visibility.none, updated: seconds(now) })
    if (maySeeIt(user)) staying.push(...cleared, ...becoming(ctx, user, to, merging ? moreVisible(here, there) : here))
    else losing.push(...cleared)
  }
  return { staying, losing }
}

/** What moving a message out of its topic changes of its author's view, when it begins the topic that it moves to. */
export function visibilityAfterSplitting(ctx: Now, author: User, to: Place): Fact[] {
  if (!isHuman(author)) return []
  if (userSetting(author, 'automatically_follow_topics_policy') === when.beginning)
    return becoming(ctx, author, to, visibility.followed)
  const unmutes = userSetting(author, 'automatically_unmute_topics_in_muted_streams_policy') === when.beginning
  const row = ctx.state.subscriptions.get(to.channelId, author.id)
  return unmutes && row?.active && row.muted ? becoming(ctx, author, to, visibility.unmuted) : []
}

function moreVisible(one: number, other: number): number {
  return ascending.indexOf(one) > ascending.indexOf(other) ? one : other
}

function becoming({ state, now }: Now, { id }: User, { channelId, topic }: Place, policy: number): Fact[] {
  return userTopicFacts(state, { userId: id, channelId, topic, policy, updated: seconds(now) })
}

function rowsOf(state: State, { channelId, topic }: Place): readonly UserTopic[] {
  return state.userTopics.where('topic', `${channelId}/${topic.toLowerCase()}`)
}
