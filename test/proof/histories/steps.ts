// Random steps by people of every role: what is asked for, whether the model allows it, and what becomes of the model.

import {
  deleteSettings,
  type GroupValue,
  type Model,
  type ModelChannel,
  type ModelMessage,
  roles,
  type Setting,
  settings,
} from './model.ts'

const mostChannels = 7
/** Messages that people still talk about. */
const mostMessages = 40

export const systemNames = ['nobody', 'owners', 'administrators', 'moderators', 'fullmembers', 'members', 'everyone']

/** What one step asks for, whether the model allows it, and what becomes of the model. */
export interface Step {
  readonly endpoint: string
  readonly params: Record<string, unknown>
  readonly allowed: boolean
  /** Called when it was allowed, with the reply. */
  readonly after?: (reply: any) => void
}

export class Steps {
  readonly #model: Model
  readonly #people: readonly number[]
  readonly #groups: readonly number[]
  readonly #random: () => number
  #names = 0

  /** `people`: their IDs. The first has made the groups. */
  constructor(model: Model, people: readonly number[], groups: readonly number[], random: () => number) {
    this.#model = model
    this.#people = people
    this.#groups = groups
    this.#random = random
  }

  /** One of all kinds; undefined: there is nothing to do it to. */
  next(actor: number): Step | undefined {
    return this.#pick(this.#makers())(actor)
  }

  #makers(): ((actor: number) => Step | undefined)[] {
    const often = [this.#send, this.#send, this.#send, this.#subscribe, this.#subscribe, this.#unsubscribe, this.#react]
    const seldom = [this.createChannel, this.#changeRole, this.#changeGroup, this.#direct, this.#edit, this.#delete]
    const change = this.#changeSetting
    const channel = [this.#describe, change, change, change, change, change, this.#changePrivacy, this.#archive]
    return [...often, ...seldom, ...channel].map(make => (actor: number) => make.call(this, actor))
  }

  createChannel(actor: number): Step | undefined {
    if (this.#model.channels.size >= mostChannels) return undefined
    const name = `channel ${++this.#names}`
    const isPrivate = this.#random() < 0.6
    const sharesHistory = !isPrivate || this.#random() < 0.5
    const subscribers = this.#some(this.#people)
    const privacy = { invite_only: isPrivate, history_public_to_subscribers: sharesHistory }
    return {
      endpoint: 'create-channel',
      params: { name, subscribers, ...privacy },
      allowed: !this.#model.isGuest(actor),
      after: ({ id }) => {
        const nobody = this.#model.systemGroups['role:nobody']!
        const channel: ModelChannel = {
          id,
          name,
          isPrivate,
          sharesHistory,
          isArchived: false,
          subscribers: new Set(subscribers),
          settings: {
            add_subscribers: nobody,
            administer_channel: { direct_members: [actor], direct_subgroups: [] },
            remove_subscribers: this.#model.systemGroups['role:administrators']!,
            send_message: this.#model.systemGroups['role:everyone']!,
            subscribe: nobody,
            delete_any_message: nobody,
            delete_own_message: nobody,
          },
        }
        this.#model.channels.set(id, channel)
      },
    }
  }

  #send(actor: number): Step {
    const channel = this.#channel()
    return {
      endpoint: 'send-message',
      params: { type: 'channel', to: channel.id, topic: 'beans', content: 'hello' },
      allowed: this.#model.mayPost(actor, channel),
      after: ({ id }) =>
        this.#keep({ id, sender: actor, channel: channel.id, deliveredTo: new Set(channel.subscribers) }),
    }
  }

  #direct(actor: number): Step {
    const to = this.#some(this.#people)
    if (to.length === 0) to.push(actor)
    return {
      endpoint: 'send-message',
      params: { type: 'direct', to, content: 'psst' },
      allowed: true,
      after: ({ id }) => this.#keep({ id, sender: actor, channel: undefined, deliveredTo: new Set([...to, actor]) }),
    }
  }

  #keep(message: Omit<ModelMessage, 'reactedTo' | 'takenIn'>): void {
    const { messages } = this.#model
    messages.set(message.id, { ...message, reactedTo: new Set(), takenIn: new Set() })
    if (messages.size > mostMessages) messages.delete(messages.keys().next().value!)
  }

  #subscribe(actor: number): Step {
    const channel = this.#channel()
    const others = this.#random() < 0.5 ? [this.#pick(this.#people)] : []
    const isSelf = others.every(id => id === actor)
    const model = this.#model
    const maySubscribe = !model.isGuest(actor) && model.hasContent(actor, channel)
    return {
      endpoint: 'subscribe',
      params: { subscriptions: [{ name: channel.name }], ...(others.length > 0 && { principals: others }) },
      allowed: isSelf ? maySubscribe : model.mayAddOthers(actor, channel),
      after: () => {
        for (const id of isSelf ? [actor] : others) channel.subscribers.add(id)
      },
    }
  }

  #unsubscribe(actor: number): Step | undefined {
    const channel = this.#channel()
    const other = this.#random() < 0.5 ? this.#pick(this.#people) : actor
    // OPEN: whether a user can leave a channel that they are not in and may not know of.
    if (other === actor && !this.#model.hasMetadata(actor, channel)) return undefined
    return {
      endpoint: 'unsubscribe',
      params: { subscriptions: [channel.name], ...(other !== actor && { principals: [other] }) },
      allowed: other === actor || this.#model.mayRemoveOthers(actor, channel),
      after: () => channel.subscribers.delete(other),
    }
  }

  #react(actor: number): Step | undefined {
    const message = this.#message()
    if (!message) return undefined
    const hasReacted = message.reactedTo.has(actor)
    return {
      endpoint: hasReacted ? 'remove-reaction' : 'add-reaction',
      params: { message_id: message.id, emoji_name: 'tada' },
      allowed: this.#model.mayTouch(actor, message),
      after: () => {
        message.takenIn.add(actor)
        if (hasReacted) message.reactedTo.delete(actor)
        else message.reactedTo.add(actor)
      },
    }
  }

  #edit(actor: number): Step | undefined {
    const message = this.#message()
    return (
      message && {
        endpoint: 'update-message',
        params: { message_id: message.id, content: `edited ${++this.#names}` },
        allowed: message.sender === actor && this.#model.mayTouch(actor, message),
      }
    )
  }

  #delete(actor: number): Step | undefined {
    const message = this.#message()
    return (
      message && {
        endpoint: 'delete-message',
        params: { message_id: message.id },
        allowed: this.#model.mayDelete(actor, message),
        after: () => this.#model.messages.delete(message.id),
      }
    )
  }

  #describe(actor: number): Step {
    const channel = this.#channel()
    return {
      endpoint: 'update-stream',
      params: { stream_id: channel.id, description: `described ${++this.#names}` },
      allowed: this.#model.administers(actor, channel),
    }
  }

  #changeSetting(actor: number): Step {
    const channel = this.#channel()
    const setting = this.#pick([...settings, ...deleteSettings])
    const value = this.#value(setting)
    const isSame = JSON.stringify(value) === JSON.stringify(channel.settings[setting])
    return {
      endpoint: 'update-stream',
      params: { stream_id: channel.id, [`can_${setting}_group`]: { new: value } },
      allowed: this.#model.mayChangeSetting(actor, channel, setting, isSame),
      after: () => {
        channel.settings[setting] = value
      },
    }
  }

  #changePrivacy(actor: number): Step {
    const channel = this.#channel()
    const isPrivate = this.#random() < 0.6
    const sharesHistory = !isPrivate || this.#random() < 0.5
    return {
      endpoint: 'update-stream',
      params: { stream_id: channel.id, is_private: isPrivate, history_public_to_subscribers: sharesHistory },
      allowed: this.#model.administers(actor, channel) && this.#model.hasContent(actor, channel),
      after: () => Object.assign(channel, { isPrivate, sharesHistory }),
    }
  }

  #archive(actor: number): Step {
    const channel = this.#channel()
    const administers = this.#model.administers(actor, channel)
    if (!channel.isArchived && this.#random() < 0.3)
      return {
        endpoint: 'archive-stream',
        params: { stream_id: channel.id },
        allowed: administers,
        after: () => {
          channel.isArchived = true
        },
      }
    return {
      endpoint: 'update-stream',
      params: { stream_id: channel.id, is_archived: false },
      allowed: administers && channel.isArchived && !(channel.isPrivate && channel.subscribers.size === 0),
      after: () => {
        channel.isArchived = false
      },
    }
  }

  #changeRole(actor: number): Step {
    const user_id = this.#pick(this.#people)
    const role = this.#pick(Object.values(roles))
    return {
      endpoint: 'update-user',
      params: { user_id, role },
      allowed: this.#model.mayChangeRole(actor, user_id, role),
      after: () => this.#model.roles.set(user_id, role),
    }
  }

  #changeGroup(actor: number): Step | undefined {
    const group = this.#pick(this.#groups)
    const { members } = this.#model.groups.get(group)!
    const user = this.#pick(this.#people)
    const isIn = members.has(user)
    // The owners and the group's creator manage it. All users but guests, who cannot use groups, may leave.
    const manages = this.#model.isOwner(actor) || actor === this.#people[0]
    return {
      endpoint: 'update-user-group-members',
      params: { user_group_id: group, [isIn ? 'delete' : 'add']: [user] },
      allowed: !this.#model.isGuest(actor) && (manages || (isIn && user === actor)),
      after: () => (isIn ? members.delete(user) : members.add(user)),
    }
  }

  /** A system group, a group of people, or people and a group. */
  #value(setting: Setting): GroupValue {
    const { systemGroups } = this.#model
    const dice = this.#random()
    if (dice < 0.35) return this.#pick(this.#groups)
    if (dice < 0.7) {
      const isOpen = setting === 'send_message' || setting === 'remove_subscribers' || setting.startsWith('delete')
      return systemGroups[`role:${this.#pick(isOpen ? systemNames : systemNames.slice(0, -1))}`]!
    }
    const direct_members = [...new Set([this.#pick(this.#people), this.#pick(this.#people)])].sort((a, b) => a - b)
    return { direct_members, direct_subgroups: dice < 0.85 ? [] : [this.#pick(this.#groups)] }
  }

  #channel(): ModelChannel {
    return this.#pick([...this.#model.channels.values()])
  }

  #message(): ModelMessage | undefined {
    const { messages } = this.#model
    return messages.size === 0 ? undefined : this.#pick([...messages.values()].slice(-15))
  }

  #some<T>(list: readonly T[]): T[] {
    return list.filter(() => this.#random() < 0.4)
  }

  #pick<T>(list: readonly T[]): T {
    return list[Math.floor(this.#random() * list.length)]!
  }
}
