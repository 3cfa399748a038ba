// The permission model, written a second time: naive, slow and from the specification alone. It shares no line with the rules of
// the daemon, so that a mistake would have to be made twice.

export const roles = { owner: 100, administrator: 200, moderator: 300, member: 400, guest: 600 } as const

/** As the API has it: the ID of a group, or people and groups. */
export type GroupValue = number | { readonly direct_members: number[]; readonly direct_subgroups: number[] }

/** The settings of a channel that the model knows. */
export const settings = [
  'add_subscribers',
  'administer_channel',
  'remove_subscribers',
  'send_message',
  'subscribe',
] as const
export const deleteSettings = ['delete_any_message', 'delete_own_message'] as const
export type Setting = (typeof settings)[number] | (typeof deleteSettings)[number]

/** Settings that a guest can hold. */
const openToGuests: readonly Setting[] = ['remove_subscribers', 'send_message', ...deleteSettings]

export interface ModelGroup {
  readonly members: Set<number>
  readonly subgroups: Set<number>
}

export interface ModelChannel {
  readonly id: number
  readonly name: string
  isPrivate: boolean
  sharesHistory: boolean
  isArchived: boolean
  readonly subscribers: Set<number>
  readonly settings: Record<Setting, GroupValue>
}

export interface ModelMessage {
  readonly id: number
  readonly sender: number
  /** undefined: a direct message. */
  readonly channel: number | undefined
  /** Who was subscribed when it was sent; of a direct message, its participants. */
  readonly deliveredTo: ReadonlySet<number>
  readonly reactedTo: Set<number>
  /** Who took it into their history later, by a reaction. */
  readonly takenIn: Set<number>
}

export class Model {
  /** The role of each account. */
  readonly roles = new Map<number, number>()
  readonly groups = new Map<number, ModelGroup>()
  readonly channels = new Map<number, ModelChannel>()
  readonly messages = new Map<number, ModelMessage>()
  readonly systemGroups: Readonly<Record<string, number>>
  /** Values of the organization. */
  readonly organization: Readonly<Record<'addSubscribers' | 'deleteAny' | 'deleteOwn' | 'setDeletePolicy', string>>

  constructor(systemGroups: Readonly<Record<string, number>>, organization: Model['organization']) {
    this.systemGroups = systemGroups
    this.organization = organization
  }

  // --- people and groups ------------------------------------------------------------------------------------------

  isGuest(user: number): boolean {
    return this.roles.get(user) === roles.guest
  }

  isAdmin(user: number): boolean {
    return this.roles.get(user)! <= roles.administrator
  }

  isOwner(user: number): boolean {
    return this.roles.get(user) === roles.owner
  }

  /** By the name of a system group. */
  isIn(user: number, name: string): boolean {
    const role = this.roles.get(user)!
    switch (name) {
      case 'role:nobody':
        return false
      case 'role:owners':
        return role === roles.owner
      case 'role:administrators':
        return role <= roles.administrator
      case 'role:moderators':
        return role <= roles.moderator
      // There is no waiting period for full members here.
      case 'role:fullmembers':
      case 'role:members':
        return role <= roles.member
      case 'role:everyone':
        return true
      default:
        throw new Error(`no system group ${name}`)
    }
  }

  isMember(user: number, value: GroupValue): boolean {
    if (typeof value !== 'number')
      return value.direct_members.includes(user) || value.direct_subgroups.some(id => this.isMember(user, id))
    const name = Object.keys(this.systemGroups).find(name => this.systemGroups[name] === value)
    if (name !== undefined) return this.isIn(user, name)
    const { members, subgroups } = this.groups.get(value)!
    return members.has(user) || [...subgroups].some(id => this.isMember(user, id))
  }

  holds(user: number, setting: Setting, channel: ModelChannel): boolean {
    if (this.isGuest(user) && !openToGuests.includes(setting)) return false
    return this.isMember(user, channel.settings[setting])
  }

  // --- channels ---------------------------------------------------------------------------------------------------

  hasContent(user: number, channel: ModelChannel): boolean {
    if (channel.subscribers.has(user)) return true
    if (this.isGuest(user)) return false
    return !channel.isPrivate || this.holds(user, 'add_subscribers', channel) || this.holds(user, 'subscribe', channel)
  }

  hasMetadata(user: number, channel: ModelChannel): boolean {
    if (this.hasContent(user, channel)) return true
    return !this.isGuest(user) && (this.isAdmin(user) || this.holds(user, 'administer_channel', channel))
  }

  administers(user: number, channel: ModelChannel): boolean {
    return this.isAdmin(user) || this.holds(user, 'administer_channel', channel)
  }

  mayAddOthers(user: number, channel: ModelChannel): boolean {
    if (this.isGuest(user) || !this.hasContent(user, channel)) return false
    const isAllowed = this.isIn(user, this.organization.addSubscribers) || this.holds(user, 'add_subscribers', channel)
    return isAllowed || this.administers(user, channel)
  }

  mayRemoveOthers(user: number, channel: ModelChannel): boolean {
    if (this.isGuest(user)) return false
    if (this.administers(user, channel)) return true
    return this.hasMetadata(user, channel) && this.holds(user, 'remove_subscribers', channel)
  }

  mayPost(user: number, channel: ModelChannel): boolean {
    if (channel.isArchived || !this.holds(user, 'send_message', channel)) return false
    if (channel.subscribers.has(user)) return true
    if (this.isGuest(user)) return false
    if (!channel.isPrivate) return true
    const isLetIn = this.holds(user, 'add_subscribers', channel) || this.holds(user, 'subscribe', channel)
    return isLetIn && channel.sharesHistory
  }

  /** `isSame`: the value is what it was. */
  mayChangeSetting(user: number, channel: ModelChannel, setting: Setting, isSame: boolean): boolean {
    if (!this.administers(user, channel)) return false
    if (isSame) return true
    if (setting === 'add_subscribers' || setting === 'subscribe') return this.hasContent(user, channel)
    if (setting === 'delete_any_message' || setting === 'delete_own_message')
      return this.isAdmin(user) || this.isIn(user, this.organization.setDeletePolicy)
    return true
  }

  // --- messages ---------------------------------------------------------------------------------------------------

  sees(user: number, message: ModelMessage): boolean {
    if (message.channel === undefined) return message.deliveredTo.has(user)
    const channel = this.channels.get(message.channel)!
    if (!this.hasContent(user, channel)) return false
    if (!channel.isPrivate || channel.sharesHistory) return true
    // OPEN: a message that a user reacted to while they could read it stays in their history when the channel stops sharing its own.
    return message.deliveredTo.has(user) || message.takenIn.has(user)
  }

  /** Sees it, and it is not in an archived channel. */
  mayTouch(user: number, message: ModelMessage): boolean {
    const isArchived = message.channel !== undefined && this.channels.get(message.channel)!.isArchived
    return !isArchived && this.sees(user, message)
  }

  mayDelete(user: number, message: ModelMessage): boolean {
    if (!this.mayTouch(user, message)) return false
    const channel = message.channel === undefined ? undefined : this.channels.get(message.channel)!
    const may = (setting: Setting) => channel !== undefined && this.holds(user, setting, channel)
    if (this.isIn(user, this.organization.deleteAny) || may('delete_any_message')) return true
    if (message.sender !== user) return false
    return this.isIn(user, this.organization.deleteOwn) || may('delete_own_message')
  }

  // --- accounts ---------------------------------------------------------------------------------------------------

  mayChangeRole(user: number, target: number, role: number): boolean {
    const old = this.roles.get(target)!
    if (!this.isAdmin(user)) return false
    // Nothing is added or removed.
    if (old === role) return true
    if ((old === roles.owner || role === roles.owner) && !this.isOwner(user)) return false
    const owners = [...this.roles.values()].filter(role => role === roles.owner)
    if (old === roles.owner && role !== roles.owner && owners.length === 1) return false
    return !(old === roles.guest && role <= roles.administrator)
  }
}
