// Events about accounts, and who gets them.

import type { Level } from '../../../api/levels/level.ts'
import { ifKnown } from '../../channels/channels/present.ts'
import { limits } from '../../limits.ts'
import { apiEmail } from '../../model/lookups.ts'
import type { GroupValue } from '../../model/roles.ts'
import { userSetting } from '../../model/settings.ts'
import type { State, User } from '../../model/state.ts'
import { type Announcement, type Client, onlyWith } from '../../resource.ts'
import {
  accessAudience,
  activeUsers,
  administrators,
  channelAudience,
  everyone,
  strangers,
} from '../../rules/audiences.ts'
import { directGroups, presentValue } from '../../rules/group-values.ts'
import { accessUser, seeEmail, sightOf } from '../../rules/index.ts'
import { hasProviderAvatar, presentAvatar, presentStranger, presentUser, unknownName } from './present.ts'

/** To everyone who may know of the user. */
/** A function: the fields depend on the level. */
export function announcePersonUpdated(
  state: State,
  user: User,
  person: object | ((level: Level) => object),
): Announcement {
  const event: Announcement['event'] =
    typeof person === 'function' ? ({ level }) => updateEvent(user, person(level)) : updateEvent(user, person)
  return { to: accessAudience(state, user), event }
}

/** The user appears: to all who may know of them, or to the users who learn of them now. */
export function announcePersonAdded(state: State, user: User, to = accessAudience(state, user)): Announcement[] {
  const sees = (id: number) => seeEmail.allows({ state, actor: state.users.get(id)! }, user)
  return [true, false].flatMap(seesEmail => {
    const readers = to.filter(id => sees(id) === seesEmail)
    if (readers.length === 0) return []
    return {
      to: readers,
      event: ({ clientGravatar, level }) => ({
        type: 'realm_user',
        op: 'add',
        person: presentUser(state, user, { seesEmail, clientGravatar, withProfile: true, level }),
      }),
    } satisfies Announcement
  })
}

/** Guests who may not know of the new user get a placeholder, unless their client can do without. */
export function announceStranger(state: State, user: User): Announcement[] {
  const to = strangers(state, user)
  if (to.length === 0) return []
  const event = ({ incompleteUserList, level }: Client) =>
    incompleteUserList ? null : { type: 'realm_user', op: 'add', person: presentStranger(state, user, level) }
  return [{ to, event }]
}

/** These readers no longer know of the user. */
export function announcePersonRemoved(user: User, to: readonly number[]): Announcement {
  return { to, event: { type: 'realm_user', op: 'remove', person: { user_id: user.id, full_name: unknownName } } }
}

/** The address changed, or who may see it: for changes of the account's email and of email_address_visibility. */
export function announceEmail(state: State, before: User, after: User): Announcement[] {
  const news: Announcement[] = []
  const newReaders: number[] = []
  const lost: number[] = []
  for (const actor of activeUsers(state, actor => accessUser.allows({ state, actor }, after))) {
    const saw = seeEmail.allows({ state, actor }, before)
    const sees = seeEmail.allows({ state, actor }, after)
    if (sees && (!saw || before.email !== after.email)) newReaders.push(actor.id)
    if (saw && !sees) lost.push(actor.id)
  }
  if (newReaders.length > 0) news.push({ to: newReaders, event: updateEvent(after, { delivery_email: after.email }) })
  if (lost.length > 0) news.push({ to: lost, event: updateEvent(after, { delivery_email: null }) })
  // The picture of the avatar provider comes from the address, where everyone sees that.
  const avatar = announcePersonUpdated(state, after, presentAvatar(after))
  const isNewAddress = before.email !== after.email
  if (isNewAddress && hasProviderAvatar(after)) news.push(avatar)
  if (apiEmail(state, before) !== apiEmail(state, after))
    news.push(
      announcePersonUpdated(state, after, { new_email: apiEmail(state, after) }),
      ...(isNewAddress ? [] : [avatar]),
    )
  return news
}

/** With another role come and go the addresses of others. */
export function addressesSeen(state: State, before: User, after: User): Announcement[] {
  if (sightOf(before) === sightOf(after) || !after.active) return []
  const news: Announcement[] = []
  for (const user of state.users.values()) {
    const sees = seeEmail.allows({ state, actor: after }, user)
    if (sees === seeEmail.allows({ state, actor: before }, user)) continue
    if (!accessUser.allows({ state, actor: before }, user) || !accessUser.allows({ state, actor: after }, user))
      continue
    news.push({ to: [after.id], event: updateEvent(user, { delivery_email: sees ? user.email : null }) })
  }
  return news
}

/** Leaves the system groups of one row of the account for those of another. */
export function announceMemberships(state: State, before: User | undefined, after: User): Announcement[] {
  if (!after.active || after.bot?.system) return []
  const old = before ? directGroups(state, before) : []
  const now = directGroups(state, after)
  const moves = [
    ...old.filter(group => !now.includes(group)).map(group => ({ op: 'remove_members' as const, group })),
    ...now.filter(group => !old.includes(group)).map(group => ({ op: 'add_members' as const, group })),
  ]
  // The role first; whether the user is a full member follows from it.
  const isLater = ({ group }: (typeof moves)[number]) => group.name === 'role:fullmembers'
  return [...moves.filter(move => !isLater(move)), ...moves.filter(isLater)].map(({ op, group }) =>
    membership(state, op, group.id, [after.id]),
  )
}

/** Tells administrators whether the user allows the export of private data. */
export function exportConsent(state: State, user: User): Announcement {
  const consented = userSetting(user, 'allow_private_data_export')
  return { to: administrators(state), event: { type: 'realm_export_consent', user_id: user.id, consented } }
}

/**
 * All groups at once, and all settings that list the account by itself: to everyone when it comes back, to all but those
 * who see it go (`known`) when it goes. They take it out themselves.
 * OPEN: the public server sends any number of events; here clients learn of those beyond the limit with their next queue.
 */
export function membershipOfAll(state: State, user: User, known: readonly number[] = []): Announcement[] {
  const told = new Set(known)
  const to = everyone(state).filter(id => !told.has(id))
  if (to.length === 0) return []
  const op = user.active ? 'add_members' : 'remove_members'
  return [
    ...directGroups(state, user).map(group => membership(state, op, group.id, [user.id], to)),
    ...settingsListing(state, user.id, to, told),
  ].slice(0, limits.membershipsAnnounced)
}

/** One event for each setting, as public servers send them. */
function settingsListing(
  state: State,
  userId: number,
  to: readonly number[],
  told: ReadonlySet<number>,
): Announcement[] {
  const listing = (permissions: Readonly<Record<string, GroupValue>>) =>
    Object.entries(permissions)
      .filter(([, value]) => typeof value !== 'number' && value.direct_members.includes(userId))
      .map(([name, value]) => [name, presentValue(state, value)] as const)
  const news: Announcement[] = []
  for (const channel of state.channels.values()) {
    const { id: stream_id, name } = channel
    const to = channelAudience(state, channel, told)
    for (const [property, value] of listing(channel.permissions))
      news.push({ to, event: ifKnown(channel, { type: 'stream', op: 'update', stream_id, name, property, value }) })
  }
  for (const { id, permissions, deactivated } of state.groups.values()) {
    for (const [name, value] of listing(permissions)) {
      const event = { type: 'user_group', op: 'update', group_id: id, data: { [name]: value } }
      news.push({ to, event: deactivated ? onlyWith('deactivatedGroups', event) : event })
    }
  }
  for (const [name, value] of listing(state.organization.permissions))
    news.push({ to, event: { type: 'realm', op: 'update_dict', property: 'default', data: { [name]: value } } })
  return news
}

export function membership(
  state: State,
  op: 'add_members' | 'remove_members',
  groupId: number,
  userIds: readonly number[],
  to = everyone(state),
): Announcement {
  return { to, event: { type: 'user_group', op, group_id: groupId, user_ids: userIds } }
}

function updateEvent(user: User, person: object) {
  return { type: 'realm_user', op: 'update', person: { user_id: user.id, ...person } }
}
