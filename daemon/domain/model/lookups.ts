// Questions about the state that many resources ask.

import { mutedUserKey } from './keys.ts'
import { userSetting } from './settings.ts'
import type { Channel, Conversation, State, User } from './state.ts'

/** By the real address or by the placeholder: for logging in, where the key decides. */
export function userByEmail(state: State, email: string): User | undefined {
  const address = email.trim().toLowerCase()
  return state.users.find('email', address) ?? userByPlaceholder(state, address)
}

/** One of the accounts that belong to the server, such as `welcome-bot`. Organizations founded by older versions have the first only. */
export function systemBot(state: State, shortName: string): User | undefined {
  const bot = state.users.find('email', `${shortName}@${state.organization.emailDomain}`.toLowerCase())
  return bot?.bot?.system ? bot : undefined
}

/** The address an account has in the API: the real one, or a placeholder for all readers when some may not see it. */
export function apiEmail(state: State, user: User): string {
  return emailIsPublic(user) ? user.email : placeholder(state, user.id)
}

export function emailIsPublic(user: User): boolean {
  return user.bot !== undefined || userSetting(user, 'email_address_visibility') === 1
}

export function placeholder(state: State, userId: number): string {
  return `user${userId}@${state.organization.emailDomain}`
}

/** How many of these rows a member made, counting those of the owner and of all bots of the same owner. */
export function countCreated(
  { users }: State,
  rows: { values(): Iterable<{ readonly creatorId: number | null }> },
  member: User,
): number {
  const owner = (user: User | undefined) => user?.bot?.ownerId ?? user?.id
  let created = 0
  for (const { creatorId } of rows.values())
    if (creatorId !== null && owner(users.get(creatorId)) === owner(member)) created++
  return created
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

/** Active subscribers, ascending. */
export function listSubscribers(state: State, channelId: number): number[] {
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

export function findConversation(state: State, userIds: readonly number[]): Conversation | undefined {
  return state.conversations.find('people', [...userIds].sort((a, b) => a - b).join(','))
}

/** Whether the one has muted the other. */
export function hasMuted(state: State, userId: number, mutedId: number): boolean {
  return state.mutedUsers.has(mutedUserKey({ userId, mutedId }))
}

/** IDs of the users who muted this one, ascending. */
export function listMuters(state: State, userId: number): readonly number[] {
  return state.mutedUsers
    .where('muted', userId)
    .map(row => row.userId)
    .sort((a, b) => a - b)
}

/** Files beside the store that are pictures: emoji, avatars, those of the organization. */
export function* pictureFiles(state: State): Generator<string> {
  for (const { file, still } of state.emoji.values()) {
    yield file
    if (still !== undefined) yield still
  }
  for (const { avatar } of state.users.values()) if (avatar.file !== undefined) yield avatar.file
  for (const { file } of Object.values(state.organization.pictures ?? {})) if (file !== undefined) yield file
}
