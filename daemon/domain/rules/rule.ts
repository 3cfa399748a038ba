// The form of a rule, the roles, and how to refuse.

import type { ErrorCode } from '../../api/errors.ts'
import type { Level } from '../../api/levels/level.ts'
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
import { Refusal } from '../refusal.ts'
import { channelPermission, isIn } from './group-values.ts'

/** Who asks, of which state. A command's context is one. */
export interface Asker {
  readonly state: State
  readonly actor: User
  /** Absent where the rule is the same at every level. */
  readonly server?: { readonly level: Level }
}

export interface Rule<Thing> {
  /** Who may do it: the sentence that the generated docs print. */
  readonly law: string
  /** What a caller reads who may not: what they cannot do, and who can. */
  readonly refusal: string | ((thing: Thing) => string)
  readonly allows: (asker: Asker, thing: Thing) => boolean
  /** Of the refusal, where it is not BAD_REQUEST. */
  readonly code?: ErrorCode
}

export function rule<Thing = void>(parts: Rule<Thing>): Rule<Thing> {
  return parts
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
  return holds(asker, channelPermissions[name], channelPermission(asker.state, channel, name))
}

export function holdsInGroup(asker: Asker, group: Group, name: GroupPermission): boolean {
  return holds(asker, groupPermissions[name], group.permissions[name])
}

export function isSubscribed({ state, actor }: Asker, channel: Channel): boolean {
  return state.subscriptions.isActive(channel.id, actor.id)
}

// --- refusing ---------------------------------------------------------------------------------------------------

/** What a rule is about; nothing for a rule about the asker alone. */
// biome-ignore lint/suspicious/noConfusingVoidType: void is what a rule has that is about nothing
type About<Thing> = void extends Thing ? [] : [Thing]

/** For most rules. */
export function check<Thing>(rule: Rule<Thing>, asker: Asker, ...thing: About<Thing>): void {
  if (!rule.allows(asker, thing[0] as Thing)) throw forbidden(rule, ...thing)
}

/** For rules about a role: the API has a code of its own for them. */
export function insist<Thing>(rule: Rule<Thing>, asker: Asker, ...thing: About<Thing>): void {
  if (rule.allows(asker, thing[0] as Thing)) return
  throw new Refusal(refusalOf(rule, thing[0] as Thing), { code: 'UNAUTHORIZED_PRINCIPAL', rule })
}

/** The refusal of a rule that was asked already. */
export function forbidden<Thing>(rule: Rule<Thing>, ...thing: About<Thing>): Refusal {
  const { code } = rule
  return new Refusal(refusalOf(rule, thing[0] as Thing), { kind: 'forbidden', rule, ...(code && { code }) })
}

function refusalOf<Thing>({ refusal }: Rule<Thing>, thing: Thing): string {
  return typeof refusal === 'string' ? refusal : refusal(thing)
}
