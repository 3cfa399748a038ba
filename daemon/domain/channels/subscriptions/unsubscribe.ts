// Leaving channels, or being made to.

import type { subscriptions as api } from '../../../api/channels/subscriptions.ts'
import type { ParamsOf } from '../../../api/define.ts'
import type { Fact } from '../../facts.ts'
import { limits } from '../../limits.ts'
import { readChannel, unreadElsewhere } from '../../messages/message-flags/read-state.ts'
import { countLookedAt } from '../../messages/message-flags/unread.ts'
import { channelByName } from '../../model/lookups.ts'
import type { Channel, State, User } from '../../model/state.ts'
import { checkMeetings } from '../../people/users/access.ts'
import { invalid, missing } from '../../refusal.ts'
import type { Context } from '../../resource.ts'
import * as may from '../../rules/index.ts'
import { lastMessageId } from '../channels/history.ts'
import { principals } from './subscribe.ts'

/** `joined`: channels that the same request subscribes these people to, or creates. */
export function unsubscribing(ctx: Context, params: ParamsOf<typeof api.unsubscribe>, joined: readonly Channel[] = []) {
  const { state } = ctx
  const people = principals(ctx, params.principals, params.subscriptions.length)
  const channels = findChannels(ctx, params.subscriptions, people, joined)
  if (people.some(user => !may.unsubscribeAccount.allows(ctx, user)))
    for (const channel of channels) may.check(may.unsubscribeOthers, ctx, channel)
  checkMeetings(state, channels, people)
  checkReading(state, channels, people)
  const all = channels.map(channel => {
    const gone = joined.includes(channel)
      ? people
      : people.filter(user => state.subscriptions.isActive(channel.id, user.id))
    const lost = gone.filter(actor => !may.seeUnsubscribed.allows({ state, actor }, channel))
    const unread = ids(gone)
      .map(id => [id, unreadElsewhere(state, id, channel.id)] as const)
      .filter(([, runs]) => runs.length > 0)
    return { channelId: channel.id, userIds: ids(gone), lost: ids(lost), ...(unread.length > 0 && { unread }) }
  })
  const removed = all.filter(entry => entry.userIds.length > 0)
  const facts: Fact[] =
    removed.length > 0 ? [{ type: 'subscription.removed', upTo: lastMessageId(state) + 1, removed }] : []
  for (const { channelId, userIds } of removed) facts.push(...userIds.flatMap(id => readChannel(state, id, channelId)))
  const names = (count: (index: number) => number) =>
    channels.flatMap((channel, index) => Array<string>(count(index)).fill(channel.name))
  return {
    facts,
    reply: {
      removed: names(index => all[index]!.userIds.length),
      not_removed: names(index => people.length - all[index]!.userIds.length),
    },
  }
}

/** A channel that neither the caller knows of nor one of their own accounts follows looks like none. */
function findChannels(
  ctx: Context,
  names: readonly string[],
  people: readonly User[],
  joined: readonly Channel[],
): Channel[] {
  const found = new Set<Channel>()
  const unknown: string[] = []
  const byName = new Map(joined.map(channel => [channel.name.toLowerCase(), channel]))
  for (const name of names) {
    const own = byName.get(name.trim().toLowerCase())
    const channel = own ?? channelByName(ctx.state, name)
    if (own) found.add(own)
    else if (channel && (may.seeMetadata.allows(ctx, channel) || followsOwn(ctx, channel, people))) found.add(channel)
    else unknown.push(name)
  }
  if (unknown.length > 0)
    throw missing('subscriptions', unknown.length > 1 ? 'channels' : 'channel', unknown.join(', '))
  return [...found]
}

/** What one account leaves behind is looked at however much it is: it must be able to leave. */
function checkReading(state: State, channels: readonly Channel[], people: readonly User[]): void {
  if (people.length === 1) return
  let messages = 0
  for (const channel of channels) for (const { id } of people) messages += countLookedAt(state, id, channel.id)
  if (messages > limits.readAtOnce)
    throw invalid('principals', 'too many messages would become read at once; name fewer people or channels')
}

function followsOwn(ctx: Context, channel: Channel, people: readonly User[]): boolean {
  return people.some(
    user => may.unsubscribeAccount.allows(ctx, user) && ctx.state.subscriptions.isActive(channel.id, user.id),
  )
}

function ids(users: readonly User[]): number[] {
  return users.map(user => user.id)
}
