// Names in place of IDs: a channel by its name, ID or link; a user by email address, full name or ID; a message by its ID or link.

import { isLinkTo, type LinkedPlace, readLink } from '../api/links.ts'
import type { Reply } from '../client/sender.ts'
import { nearest, suggestion } from '../local/did-you-mean.ts'
import type { Chat } from './chat.ts'
import { ToolError } from './tool-error.ts'

export interface Channel {
  readonly stream_id: number
  readonly name: string
  readonly description: string
  readonly invite_only: boolean
  readonly is_archived?: boolean
}

export interface User {
  readonly user_id: number
  readonly email: string
  readonly delivery_email?: string | null
  readonly full_name: string
  readonly role: number
  readonly is_bot: boolean
  readonly is_active: boolean
  readonly timezone?: string
}

export async function listChannels(chat: Chat, signal: AbortSignal): Promise<Channel[]> {
  const params = { include_public: true, include_subscribed: true }
  return listIn(await chat.call({ method: 'GET', path: '/streams', params, signal }), 'streams')
}

export async function listUsers(chat: Chat, signal: AbortSignal): Promise<User[]> {
  return listIn(await chat.call({ method: 'GET', path: '/users', signal }), 'members')
}

function listIn<T>(reply: Reply, field: string): T[] {
  const list = reply[field]
  if (!Array.isArray(list)) throw new ToolError(`The answer of the chat server has no ${field}.`)
  return list as T[]
}

/** What a link leads to; undefined for any other text. */
export function linkIn(chat: Chat, text: string): LinkedPlace | undefined {
  const link = readLink(text)
  if (link && !isLinkTo(chat.site, text))
    throw new ToolError(`${text} is a link to another chat server. This one is ${chat.site}.`)
  return link
}

/** By name (with or without #), ID or link. */
export async function findChannel(chat: Chat, text: string, signal: AbortSignal): Promise<Channel> {
  const linked = linkIn(chat, text)
  if (linked && linked.kind !== 'channel')
    throw new ToolError(`${text} is a link to direct messages, not to a channel.`)
  const channels = await listChannels(chat, signal)
  const name = text.replace(/^#/, '')
  const found =
    channels.find(({ stream_id }) => linked !== undefined && stream_id === linked.channelId) ??
    channels.find(channel => channel.name === name) ??
    only(channels.filter(channel => channel.name.toLowerCase() === name.toLowerCase())) ??
    channels.find(({ stream_id }) => String(stream_id) === name.replace(/^id:/, ''))
  if (found) return found
  throw unknown(
    'channel',
    text,
    channels.map(channel => channel.name),
    'list_channels',
  )
}

/** By email address, full name, first name or ID; `me` is the account itself. */
export async function findUsers(chat: Chat, names: readonly string[], signal: AbortSignal): Promise<User[]> {
  const users = await listUsers(chat, signal)
  const found: User[] = []
  for (const name of names) found.push(name === 'me' ? await me(chat, signal) : findUser(users, name))
  return found
}

export async function me(chat: Chat, signal: AbortSignal): Promise<User> {
  return (await chat.call({ method: 'GET', path: '/users/me', signal })) as unknown as User
}

function findUser(users: readonly User[], name: string): User {
  const wanted = name.replace(/^@/, '').toLowerCase()
  const called = (user: User) => [user.email, user.delivery_email ?? '', user.full_name].map(text => text.toLowerCase())
  const exact = users.filter(user => called(user).includes(wanted))
  const byId = users.filter(user => String(user.user_id) === wanted.replace(/^id:/, ''))
  const first = users.filter(user => user.is_active && user.full_name.toLowerCase().split(' ', 1)[0] === wanted)
  const found = [exact, byId, first].find(list => list.length > 0) ?? []
  if (found.length > 1) {
    const choices = found.slice(0, 5).map(user => `${user.full_name} (ID ${user.user_id})`)
    throw new ToolError(`${found.length} users are called ${JSON.stringify(name)}: ${choices.join(', ')}. Give an ID.`)
  }
  if (found[0]) return found[0]
  throw unknown(
    'user',
    name,
    users.flatMap(user => [user.full_name, user.email]),
    'get_users',
  )
}

/** The ID of a message that is given by its ID or link. */
export function messageIdIn(chat: Chat, text: string | number): number {
  const id = typeof text === 'number' ? text : /^\d{1,15}$/.test(text) ? Number(text) : linkIn(chat, text)?.messageId
  if (id === undefined) throw new ToolError(`${JSON.stringify(text)} is neither the ID of a message nor a link to one.`)
  return id
}

function only<T>(items: readonly T[]): T | undefined {
  return items.length === 1 ? items[0] : undefined
}

function unknown(what: string, name: string, names: readonly string[], tool: string): ToolError {
  const hint = suggestion(nearest(name.replace(/^[#@]/, ''), names)) ?? `Call ${tool} to see what there is.`
  return new ToolError(`There is no ${what} ${JSON.stringify(name)} that this account can see. ${hint}`)
}
