// The command that sends a message. When a bot cannot reach anyone, its owner gets a direct message about it; the welcome bot
// replies to what it gets.

import type { ParamsOf } from '../../../api/define.ts'
import type { messages as api } from '../../../api/messages/messages.ts'
import type { Fact } from '../../facts.ts'
import { findConversation, subscriberCount } from '../../model/lookups.ts'
import { Refusal } from '../../refusal.ts'
import type { Context, Outcome } from '../../resource.ts'
import { seeMetadata } from '../../rules/index.ts'
import { seconds } from '../../values/time.ts'
import { directNotice, notificationBot } from '../notices/post.ts'
import { placeLink } from '../notices/quote.ts'
import { replyAsWelcomeBot } from '../notices/welcome.ts'
import { channelTo } from './compose.ts'
import { send } from './send.ts'

type Params = ParamsOf<typeof api.send>

export function sendMessage(ctx: Context, params: Params): Outcome<{ id: number }> {
  const ownerId = ctx.actor.bot?.ownerId ?? null
  if (params.type === 'direct' || params.type === 'private') return sendDirectly(ctx, params)
  if (ownerId === null) return send(ctx, params)
  try {
    const warning = warnOfEmptyChannel(ctx, ownerId, params)
    const { facts = [], reply } = send(ctx, params)
    return { facts: [...warning, ...facts], reply }
  } catch (refusal) {
    if (!(refusal instanceof Refusal) || refusal.code !== 'STREAM_DOES_NOT_EXIST') throw refusal
    const facts = warn(ctx, ownerId, `${describeUnreached(params.to)}.`)
    return { facts, refusal, reply: { id: 0 } }
  }
}

function sendDirectly(ctx: Context, params: Params): Outcome<{ id: number }> {
  const { facts = [], reply } = send(ctx, params)
  const replies = facts.flatMap(fact => (fact.type === 'message.sent' ? replyAsWelcomeBot(ctx, ctx.actor, fact) : []))
  return { facts: replies.length > 0 ? [...facts, ...replies] : facts, reply }
}

function warnOfEmptyChannel(ctx: Context, ownerId: number, { to }: Params): readonly Fact[] {
  const channel = channelTo(ctx, to)
  if (subscriberCount(ctx.state, channel.id) > 0 || !seeMetadata.allows(ctx, channel)) return []
  return warn(ctx, ownerId, `channel ${placeLink(channel)}. The channel exists but does not have any subscribers.`)
}

function describeUnreached(to: unknown): string {
  const given = Array.isArray(to) ? to[0] : to
  if (typeof given === 'number') return `channel ID ${given}, but there is no channel with that ID`
  return `channel #**${String(given).trim()}**, but that channel does not exist. Click [here](#channels/new) to create it`
}

// OPEN: a hidden channel is reported to the owner as one that does not exist.
/** Seconds during which the owner of a bot is not warned again. */
const pause = 5 * 60

function warn(ctx: Context, ownerId: number, what: string): readonly Fact[] {
  const { state, actor, now } = ctx
  const subject = `Your bot \`${actor.email}\` tried to send a message to `
  const bot = notificationBot(state)
  const conversation = findConversation(state, [bot.id, ownerId])
  const ids = conversation ? state.messages.inConversation(conversation.id) : undefined
  for (let i = (ids?.length ?? 0) - 1; i >= 0; i--) {
    const id = ids!.at(i)
    if (seconds(now) - state.messages.time(id) > pause) break
    if (state.messages.sender(id) === bot.id && state.messages.content(id).startsWith(subject)) return []
  }
  return state.users.get(ownerId)?.active ? directNotice(ctx, [ownerId], subject + what) : []
}
