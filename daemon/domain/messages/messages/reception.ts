// Explains why a person received a message or did not, step by step, up to their event queues. The state is that of
// the time when the message was sent.

import { mutedUserKey } from '../../model/keys.ts'
import type { Message } from '../../model/message-store/index.ts'
import type { State, User } from '../../model/state.ts'
import { isTopicMuted } from '../../model/topic-policy.ts'
import { inQuotes, type Law } from '../../refusal.ts'
import { seeContent, seeMessage } from '../../rules/index.ts'

/** As much of a message as decides who receives it. */
export type Sent = Pick<Message, 'id' | 'senderId' | 'channelId' | 'conversationId' | 'topic' | 'time'> & {
  /** Bots that it mentions in a channel they do not follow. */
  readonly called?: readonly number[]
  /** Those whom it mentioned when it was sent. */
  readonly mentioned?: readonly number[]
}

export interface Step {
  readonly step: string
  /** null: it decides nothing, or it is not known. */
  readonly ok: boolean | null
  readonly says: string
  readonly rule?: Law
}

export function explainAccount(state: State, user: User, existed: boolean): Step {
  const step = 'account'
  if (!existed) return { step, ok: false, says: `The account of ${user.email} did not exist yet.` }
  const then = state.users.get(user.id) ?? user
  if (!then.active) return { step, ok: false, says: `The account of ${then.email} was deactivated.` }
  return { step, ok: true, says: `The account of ${then.email} was active.` }
}

export function explainAccess(state: State, user: User, sent: Sent): Step {
  const step = 'access'
  if (sent.channelId === undefined) {
    const isPart = state.conversations.get(sent.conversationId!)?.userIds.includes(user.id) ?? false
    const says = isPart ? 'is a participant' : 'is not a participant'
    return { step, ok: isPart, says: `${user.email} ${says} in the direct conversation.`, rule: seeMessage }
  }
  const channel = state.channels.get(sent.channelId)
  if (!channel) return { step, ok: null, says: 'The channel of the message is not known.' }
  const actor = state.users.get(user.id) ?? user
  const ok = seeContent.allows({ state, actor }, channel)
  const says = `${user.email} ${ok ? 'had' : 'had no'} access to the content of the channel ${inQuotes(channel.name)}`
  // As on public servers, a mention reaches a bot in a private channel too.
  if (!ok && isCalled(user, sent)) return { step, ok: null, says: `${says}, but the message mentions the bot.` }
  return { step, ok, says: `${says}.`, rule: seeContent }
}

/** `isOverhearing`: a queue of theirs was registered for all public channels, or with a narrow. */
export function explainSubscription(state: State, user: User, sent: Sent, isOverhearing: boolean): Step {
  const step = 'subscription'
  const { channelId } = sent
  if (channelId === undefined) return { step, ok: null, says: 'A direct message goes to everyone in the conversation.' }
  const channel = state.channels.get(channelId)
  const name = inQuotes(channel?.name ?? String(channelId))
  if (isCalled(user, sent))
    return { step, ok: true, says: `${user.email} was not subscribed to ${name}, but the message mentions the bot.` }
  if (state.subscriptions.isActive(channelId, user.id))
    return { step, ok: true, says: `${user.email} was subscribed to ${name}.` }
  if (isOverhearing && channel && !channel.inviteOnly)
    return { step, ok: true, says: `${user.email} was not subscribed to ${name}, but has a queue for public channels.` }
  return { step, ok: false, says: `${user.email} was not subscribed to ${name} when the message was sent.` }
}

/** The same where the earlier state is not known: subscriptions remember which messages they brought. */
export function explainOldSubscription(state: State, user: User, sent: Sent): Step {
  const { channelId } = sent
  if (channelId === undefined || isCalled(user, sent)) return explainSubscription(state, user, sent, false)
  const spans = state.subscriptions.get(channelId, user.id)?.spans ?? []
  const ok = spans.some(([after, upTo]) => sent.id > after && (upTo === undefined || sent.id < upTo))
  const name = inQuotes(state.channels.get(channelId)?.name ?? String(channelId))
  return {
    step: 'subscription',
    ok,
    says: `${user.email} was ${ok ? '' : 'not '}subscribed to ${name} when the message was sent.`,
  }
}

/** Whether it is a bot that the message reaches by a mention, in a channel that it did not follow then. */
export function isCalled({ id }: User, { called = [] }: Sent): boolean {
  return called.includes(id)
}

export function explainMute(state: State, user: User, { senderId, channelId, topic }: Sent): Step {
  const step = 'mute'
  if (state.mutedUsers.get(mutedUserKey({ userId: user.id, mutedId: senderId })))
    return { step, ok: null, says: `${user.email} had muted the sender: the message is delivered, marked as read.` }
  if (channelId !== undefined && isTopicMuted(state, user.id, channelId, topic ?? ''))
    return { step, ok: null, says: `${user.email} had muted the topic: it is delivered, but clients do not notify.` }
  return { step, ok: true, says: `${user.email} had muted neither the sender nor the topic.` }
}
