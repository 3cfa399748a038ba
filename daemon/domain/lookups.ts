// Questions about the state that many resources ask.

import type { Asker, Rule } from './permissions.ts'
import { badRequest } from './refusal.ts'
import type { Channel, State, User } from './state.ts'

export function userByEmail(state: State, email: string): User | undefined {
  return state.users.find('email', email.trim().toLowerCase())
}

export function channelByName(state: State, name: string): Channel | undefined {
  return state.channels.find('name', name.trim().toLowerCase())
}

/** The channel, if the rule lets the asker at it. One they may not know of looks like one that never was. */
export function channelFor(asker: Asker, id: number, rule: Rule<Channel>, parameter = 'stream_id'): Channel {
  const channel = asker.state.channels.get(id)
  if (!channel || !rule.allows(asker, channel)) throw badRequest(`${parameter}: no such channel`)
  return channel
}

/** The same for what archived channels no longer take part in. */
export function liveChannelFor(asker: Asker, id: number, rule: Rule<Channel>, parameter = 'stream_id'): Channel {
  const channel = channelFor(asker, id, rule, parameter)
  if (channel.archived) throw badRequest(`${parameter}: no such channel`)
  return channel
}

/** Active subscribers, ascending. */
export function subscribersOf(state: State, channelId: number): number[] {
  const subscribers: number[] = []
  for (const id of state.subscriptions.activeUsers(channelId)) if (state.users.get(id)?.active) subscribers.push(id)
  return subscribers.sort((a, b) => a - b)
}

export function subscriberCount(state: State, channelId: number): number {
  const all = state.subscriptions.activeUsers(channelId)
  return all.size - state.users.where('deactivated', 1).filter(user => all.has(user.id)).length
}

/** Default channels, in the order of their IDs. */
export function defaultChannels(state: State): Channel[] {
  return state.channels.where('default', 1).sort((a, b) => a.id - b.id)
}
