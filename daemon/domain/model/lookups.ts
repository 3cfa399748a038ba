// Questions about the state that many resources ask.

import { badRequest } from '../refusal.ts'
import type { Asker, Rule } from '../rules/index.ts'
import { userSetting } from './settings.ts'
import type { Channel, State, User } from './state.ts'

/** By the real address or by the placeholder: for logging in, where the key decides. */
export function userByEmail(state: State, email: string): User | undefined {
  const address = email.trim().toLowerCase()
  return state.users.find('email', address) ?? userByPlaceholder(state, address)
}

/** The address an account has in the API: the real one, or a placeholder for everybody when not everyone may see it. */
export function apiEmail(state: State, user: User): string {
  return emailIsPublic(user) ? user.email : placeholder(state, user.id)
}

export function emailIsPublic(user: User): boolean {
  return user.bot !== undefined || userSetting(user, 'email_address_visibility') === 1
}

export function placeholder(state: State, userId: number): string {
  return `user${userId}@${state.organization.emailDomain}`
}

/** `user12@example.com`, where example.com is the organization's domain. */
function userByPlaceholder(state: State, email: string): User | undefined {
  const id = placeholderId(state, email)
  return id === undefined ? undefined : state.users.get(id)
}

export function placeholderId(state: State, email: string): number | undefined {
  const [name, domain] = email.trim().toLowerCase().split('@', 2)
  const digits = /^user(\d{1,15})$/.exec(name!)?.[1]
  return digits && domain === state.organization.emailDomain.toLowerCase() ? Number(digits) : undefined
}

export function channelByName(state: State, name: string): Channel | undefined {
  return state.channels.find('name', name.trim().toLowerCase())
}

/** The channel, if the rule lets the asker at it. One they may not know of looks like one that never was. */
function channelFor(asker: Asker, id: number, rule: Rule<Channel>, parameter = 'stream_id'): Channel {
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
  for (const id of state.subscriptions.followers(channelId)) if (state.users.get(id)?.active) subscribers.push(id)
  return subscribers
}

export function subscriberCount(state: State, channelId: number): number {
  const all = state.subscriptions.followers(channelId)
  return all.size - state.users.where('deactivated', 1).filter(user => all.has(user.id)).length
}

/** Default channels, in the order of their IDs. */
export function defaultChannels(state: State): Channel[] {
  return state.channels.where('default', 1).sort((a, b) => a.id - b.id)
}

/** As paths name people: digits are an ID, anything else an address. */
export function userByIdOrEmail(state: State, given: string): User | undefined {
  return /^\d{1,15}$/.test(given) ? state.users.get(Number(given)) : userByEmail(state, given)
}
