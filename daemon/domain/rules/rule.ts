// What a rule is, what the roles are, and how to say no.

import {
  type ChannelPermission,
  channelPermissions,
  type GroupPermission,
  groupPermissions,
  type OrganizationPermission,
  organizationPermissions,
} from '../../api/shapes/permission-settings.ts'
import { roles } from '../model/roles.ts'
import type { Channel, Group, State, User } from '../model/state.ts'
import { badRequest, Refusal } from '../refusal.ts'
import { isIn } from './group-values.ts'

/** Who asks, of which state. A command's context is one. */
export interface Asker {
  readonly state: State
  readonly actor: User
}

export interface Rule<Thing> {
  readonly sentence: string
  readonly allows: (asker: Asker, thing: Thing) => boolean
}

export function rule<Thing = void>(sentence: string, allows: Rule<Thing>['allows']): Rule<Thing> {
  return { sentence, allows }
}

// --- what the roles are -----------------------------------------------------------------------------------------

export function isOwner(user: User): boolean {
  return user.role === roles.owner
}

/** Owners are administrators too. */
export function isAdministrator(user: User): boolean {
  return user.role <= roles.administrator
}

/** And administrators are moderators too. */
export function isModerator(user: User): boolean {
  return user.role <= roles.moderator
}

export function isGuest(user: User): boolean {
  return user.role === roles.guest
}

/** Members are new or full; everyone above counts as full, and guests as neither. */
export function isMember(user: User): boolean {
  return user.role === roles.member
}

/** Whether two rows of an account are in the same groups of the system. */
export function sameStanding(a: User, b: User): boolean {
  return a.role === b.role && a.fullMember === b.fullMember
}

export function isHuman(user: User): boolean {
  return user.bot === undefined
}

// --- holding a permission ---------------------------------------------------------------------------------------

/** Guests never hold a permission that role:everyone cannot be given. */
function holds(
  { state, actor }: Asker,
  setting: { readonly everyone: boolean },
  value: Parameters<typeof isIn>[2],
): boolean {
  return (setting.everyone || !isGuest(actor)) && isIn(state, actor, value)
}

export function holdsInOrganization(asker: Asker, name: OrganizationPermission): boolean {
  return holds(asker, organizationPermissions[name], asker.state.organization.permissions[name])
}

export function holdsInChannel(asker: Asker, channel: Channel, name: ChannelPermission): boolean {
  return holds(asker, channelPermissions[name], channel.permissions[name])
}

export function holdsInGroup(asker: Asker, group: Group, name: GroupPermission): boolean {
  return holds(asker, groupPermissions[name], group.permissions[name])
}

export function isSubscribed({ state, actor }: Asker, channel: Channel): boolean {
  return state.subscriptions.isActive(channel.id, actor.id)
}

// --- saying no --------------------------------------------------------------------------------------------------

/** For rules about a role: the refusal has a code of its own. */
export function insist<Thing>(rule: Rule<Thing>, asker: Asker, ...[thing]: Thing extends void ? [] : [Thing]): void {
  if (!rule.allows(asker, thing as Thing)) throw new Refusal('UNAUTHORIZED_PRINCIPAL', rule.sentence)
}

/** For all other rules. */
export function check<Thing>(rule: Rule<Thing>, asker: Asker, thing: Thing): void {
  if (!rule.allows(asker, thing)) throw badRequest(rule.sentence)
}
