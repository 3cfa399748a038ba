// The accounts and objects that a trigger needs: users, a channel they share, a message to react to. Found if it exists, otherwise created.

import { channels } from '../../../../daemon/api/channels/channels.ts'
import { subscriptions } from '../../../../daemon/api/channels/subscriptions.ts'
import { baseOf, type Endpoint } from '../../../../daemon/api/define.ts'
import { messages } from '../../../../daemon/api/messages/messages.ts'
import { userGroups } from '../../../../daemon/api/people/user-groups.ts'
import { users } from '../../../../daemon/api/people/users.ts'
import { encode } from '../../../../daemon/api/wire.ts'
import { exitCodes, Failure } from '../../../base/failure.ts'
import type { Reply } from '../../../base/reply.ts'
import { type CallOptions, call } from '../../../transport/client.ts'
import type { ControlledAccount } from '../../../transport/control.ts'
import { postedRequest } from '../../../transport/posted-request.ts'

/**
 * The accounts that take part: `me` is the account that `--for` names, `other` a colleague, `owner` the owner of the organization, and
 * `newcomer` an account that is created for the purpose.
 */
export type Role = 'me' | 'other' | 'owner' | 'newcomer'

interface Channel {
  readonly stream_id: number
  readonly name: string
}

interface Setting {
  readonly site: string
  readonly me: ControlledAccount
  /** By email address or ID. */
  readonly find: (name: string) => Promise<ControlledAccount>
  readonly options: CallOptions
  /** Makes names unique, and the same ones in organizations with the same history. */
  readonly count: number
}

const ownerRole = 100
const guestRole = 600

export class Stage {
  readonly #setting: Setting
  readonly #people = new Map<Role, Promise<ControlledAccount>>()
  #count: number
  #shared: Promise<Channel> | undefined

  constructor(setting: Setting) {
    this.#setting = setting
    this.#count = setting.count
  }

  /** A name that nothing has yet. */
  name(word: string): string {
    return `${word}-${++this.#count}`
  }

  person(role: Role): Promise<ControlledAccount> {
    const person = this.#people.get(role) ?? this.#findPerson(role)
    this.#people.set(role, person)
    return person
  }

  async id(role: Role): Promise<number> {
    return (await this.person(role)).user_id
  }

  /** A user without channels and groups. */
  async newcomer(): Promise<ControlledAccount> {
    const name = this.name('newcomer')
    const email = `${name}@example.com`
    await this.call('owner', users.create, { email, password: `password of ${name}`, full_name: name })
    return this.#setting.find(email)
  }

  find(name: string): Promise<ControlledAccount> {
    return this.#setting.find(name)
  }

  /** Posts to an incoming webhook, as another service does. */
  post(path: string, fields: ReturnType<typeof encode>['fields']): Promise<Reply> {
    const { site, options } = this.#setting
    return call({ site, from: {} }, postedRequest(path, fields), options)
  }

  async call(role: Role, endpoint: Endpoint, params: Readonly<Record<string, unknown>>): Promise<Reply> {
    return this.send(role, endpoint, encode(endpoint, params))
  }

  async send(role: Role, endpoint: Endpoint, { path, fields }: ReturnType<typeof encode>): Promise<Reply> {
    const { email, api_key: apiKey } = role === 'me' ? this.#setting.me : await this.person(role)
    const { site, options } = this.#setting
    const account = { site, email, apiKey, from: {} }
    return call(account, { method: endpoint.method, path: `${baseOf(endpoint)}${path}`, fields }, options)
  }

  /** Makes something, and returns its ID: the field of the reply. */
  async made(role: Role, endpoint: Endpoint, params: Readonly<Record<string, unknown>>, field: string): Promise<any> {
    return (await this.call(role, endpoint, params))[field]
  }

  /** A channel that me, the other and the owner are subscribed to. */
  channel(): Promise<Channel> {
    this.#shared ??= this.#findShared()
    return this.#shared
  }

  /** A new public channel with these people. */
  async newChannel(...roles: readonly Role[]): Promise<Channel> {
    const name = this.name('channel')
    const subscribers = await Promise.all(roles.map(role => this.id(role)))
    return { name, stream_id: await this.made('owner', channels.create, { name, subscribers }, 'id') }
  }

  /** A new message in the shared channel. */
  async message(by: Role): Promise<number> {
    const { name: to } = await this.channel()
    return this.made(by, messages.send, { type: 'channel', to, topic: 'trigger', content: 'A message.' }, 'id')
  }

  async group(): Promise<number> {
    const params = { name: this.name('group'), description: '', members: [await this.id('owner')] }
    return this.made('owner', userGroups.create, params, 'group_id')
  }

  /** One of the groups that every organization has: `role:members`. */
  async systemGroup(name: string): Promise<number> {
    const { user_groups } = await this.call('owner', userGroups.list, {})
    return (user_groups as { id: number; name: string }[]).find(group => group.name === name)!.id
  }

  async #findPerson(role: Role): Promise<ControlledAccount> {
    const { me, find } = this.#setting
    if (role === 'me') return me
    if (role === 'newcomer') return this.newcomer()
    const { members } = await this.call('me', users.list, {})
    const people = (members as { user_id: number; role: number; is_bot: boolean; is_active: boolean }[]).filter(
      ({ is_bot, is_active }) => !is_bot && is_active,
    )
    const found =
      role === 'owner'
        ? people.find(person => person.role === ownerRole)
        : people.find(person => person.user_id !== me.user_id && ![ownerRole, guestRole].includes(person.role))
    if (found) return find(String(found.user_id))
    if (role === 'other') return this.person('newcomer')
    throw new Failure(exitCodes.refused, `${me.email} cannot see an owner of the organization`)
  }

  async #findShared(): Promise<Channel> {
    const roles = ['me', 'other', 'owner'] as const
    const lists = await Promise.all(
      roles.map(async role => (await this.call(role, subscriptions.list, {})).subscriptions as Channel[]),
    )
    const [mine, ...others] = lists
    const shared = mine!.find(({ stream_id }) => others.every(list => list.some(item => item.stream_id === stream_id)))
    return shared ?? this.newChannel(...roles)
  }
}
