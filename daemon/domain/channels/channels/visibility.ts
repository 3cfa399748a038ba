// Tells people about channels that come into sight or go out of sight when something else changes. A command that changes a role, a
// group's members or subgroups, or who can get at a channel adds, after its own facts,
//
//     ...visibilityFacts(ctx.state, { users: [changedRow] })        // or groups, or channels; several at once too
//
// with the rows as they are about to be. The people concerned then get events about channels that came into sight (the
// channel, then its subscribers) and of those that are gone. Subscribing and leaving need no call: their facts say it
// themselves. Creating an account needs none either: it has no queue yet. Where `announce` still knows the rows of
// before, as with roles, `visibilityNews(state, before, after)` does the same without a fact.

import { limits } from '../../limits.ts'
import type { ChannelVisibilityChanged, Sight } from '../../model/facts/channels.ts'
import { listSubscribers } from '../../model/lookups.ts'
import type { ChangedRows, Channel, Group, State, User } from '../../model/state.ts'
import { Refusal } from '../../refusal.ts'
import { type Announcement, resource } from '../../resource.ts'
import { memberCheck, withSupergroups } from '../../rules/group-values.ts'
import { isGuest, sameStanding, seeMetadata, tellingPermissions } from '../../rules/index.ts'
import { presentDefaultGroups, presentDefaults } from '../default-channels/present.ts'
import { ifKnown, presentCreated, presentDeleted } from './present.ts'

/** No fact when no user's view changes. */
export function visibilityFacts(state: State, changed: ChangedRows): ChannelVisibilityChanged[] {
  const { gained, lost } = visibilityChanges(state, changed)
  const turned = (changed.users ?? []).filter(row => {
    const old = state.users.get(row.id)
    return old !== undefined && isGuest(old) !== isGuest(row)
  })
  const guests = turned.map(user => user.id)
  if (gained.size + lost.size + guests.length === 0) return []
  return [{ type: 'channel.visibility-changed', gained: compact(gained), lost: compact(lost), guests }]
}

/** User IDs by channel. */
function visibilityChanges(state: State, changed: ChangedRows) {
  const asked = findAffected(state, changed)
  const supposed = state.with(changed)
  // One state after the other: who is in which group is kept for one of them at a time.
  const before = asked.map(({ channel, users }) => users.map(actor => sees(state, actor, channel)))
  const gained = new Map<number, number[]>()
  const lost = new Map<number, number[]>()
  asked.forEach(({ channel, users }, at) => {
    const after = supposed.channels.get(channel.id)!
    users.forEach((user, index) => {
      const known = before[at]![index]!
      const row = supposed.users.get(user.id)!
      if (row.active && user.active && known !== sees(supposed, row, after)) {
        const map = known ? lost : gained
        const told = map.get(channel.id)
        if (told) told.push(user.id)
        else map.set(channel.id, [user.id])
      }
    })
  })
  return { gained, lost }
}

/** Channels with the same people go together. */
export function compact(byChannel: ReadonlyMap<number, readonly number[]>): Sight[] {
  if (byChannel.size === 1)
    return [...byChannel]
      .filter(([, userIds]) => userIds.length > 0)
      .map(([id, userIds]) => ({ channelIds: [id], userIds }))
  const sights = new Map<string, { channelIds: number[]; userIds: readonly number[] }>()
  for (const [channelId, userIds] of byChannel) {
    if (userIds.length === 0) continue
    const key = userIds.join()
    const sight = sights.get(key)
    if (sight) sight.channelIds.push(channelId)
    else sights.set(key, { channelIds: [channelId], userIds })
  }
  return [...sights.values()]
}

/** Has no endpoints; it owns the fact that other resources add. */
export const channelVisibility = resource({})<ChannelVisibilityChanged>({
  commands: {},
  apply: { 'channel.visibility-changed': () => {} },
  announce: {
    'channel.visibility-changed': announceVisibility,
  },
})

/** For `announce` of a fact that has already changed these rows: what it did to anyone's view of channels. */
export function visibilityNews(state: State, before: ChangedRows, after: ChangedRows): Announcement[] {
  return visibilityFacts(state.with(before), after).flatMap(fact => announceVisibility(state, fact))
}

function announceVisibility(state: State, { gained, lost, guests }: ChannelVisibilityChanged): Announcement[] {
  return [
    ...lost.map(({ channelIds, userIds }) => ({ to: userIds, event: presentDeleted(rows(state, channelIds)) })),
    ...gained.flatMap(({ channelIds, userIds }) => comingIntoSight(state, rows(state, channelIds), userIds)),
    ...guests.flatMap(id => defaultsFor(state, state.users.get(id)!)),
  ]
}

/** The events for a user who did not know of the channels before. */
function comingIntoSight(state: State, channels: readonly Channel[], to: readonly number[]): Announcement[] {
  // Archived channels are apart, because some clients get no events about them.
  return [channels.filter(channel => !channel.archived), channels.filter(channel => channel.archived)].flatMap(some => {
    if (some.length === 0) return []
    const subscribers = new Map(some.map(channel => [channel.id, listSubscribers(state, channel.id)]))
    return [
      { to, event: presentCreated(state, some) },
      ...compact(subscribers).map(({ channelIds, userIds }) => ({
        to,
        event: ifKnown(some[0]!, { type: 'subscription', op: 'peer_add', stream_ids: channelIds, user_ids: userIds }),
      })),
    ]
  })
}

/**
 * OPEN: the public server does not tell users who become guests, or stop being guests, which channels are default ones; here they get
 * an event.
 */
function defaultsFor(state: State, user: User): Announcement[] {
  const to = [user.id]
  return [
    { to, event: { type: 'default_streams', default_streams: presentDefaults(state, user) } },
    { to, event: { type: 'default_stream_groups', default_stream_groups: presentDefaultGroups(state, user) } },
  ]
}

function rows(state: State, channelIds: readonly number[]): Channel[] {
  return channelIds.map(id => state.channels.get(id)!)
}

function sees(state: State, actor: User, channel: Channel): boolean {
  return seeMetadata.allows({ state, actor }, channel)
}

interface Affected {
  readonly channel: Channel
  readonly users: readonly User[]
}

/** Everyone whose view of a channel could change: the rows that are about to change say where to look. */
function findAffected(state: State, { users = [], groups = [], channels = [] }: ChangedRows): Affected[] {
  const people = new Map<Channel, Set<User>>()
  const look = (channel: Channel, at: Iterable<User>) => {
    const known = people.get(channel) ?? new Set()
    for (const user of at) known.add(user)
    people.set(channel, known)
  }
  for (const row of channels) {
    const old = state.channels.get(row.id)
    if (old && accessDiffers(old, row)) look(old, state.users.values())
  }
  for (const row of users) {
    const old = state.users.get(row.id)
    if (!old || sameStanding(old, row)) continue
    const guestOnOneSide = isGuest(old) !== isGuest(row)
    for (const channel of state.channels.values()) if (guestOnOneSide || channel.inviteOnly) look(channel, [old])
  }
  const changes = groups
    .map(row => ({ row, old: state.groups.get(row.id) }))
    .filter(({ row, old }) => differs(old, row))
  if (changes.length === 0) return listAffected(people)
  const concerned = changes.flatMap(({ row, old }) => memberChanges(state, old, row))
  const containing = withSupergroups(
    state,
    changes.map(({ row, old }) => old ?? row),
  )
  for (const channel of toldTo(state, containing)) look(channel, concerned)
  return listAffected(people)
}

function listAffected(people: ReadonlyMap<Channel, ReadonlySet<User>>): Affected[] {
  return [...people].map(([channel, users]) => ({ channel, users: [...users].sort((a, b) => a.id - b.id) }))
}

function accessDiffers(old: Channel, row: Channel): boolean {
  return (
    old.inviteOnly !== row.inviteOnly ||
    old.webPublic !== row.webPublic ||
    tellingPermissions.some(name => old.permissions[name] !== row.permissions[name])
  )
}

function differs(old: Group | undefined, row: Group): boolean {
  return old?.members !== row.members || old.subgroups !== row.subgroups
}

/** Users who join or leave, by themselves or with a group inside it. */
function memberChanges(state: State, old: Group | undefined, row: Group): User[] {
  const moved = difference(old?.members ?? [], row.members)
  return findMoved(state, moved, difference(old?.subgroups ?? [], row.subgroups))
}

/** IDs that are in one of the lists only. */
function difference(before: readonly number[], after: readonly number[]): number[] {
  const [was, is] = [new Set(before), new Set(after)]
  return [...before.filter(id => !is.has(id)), ...after.filter(id => !was.has(id))]
}

function findMoved(state: State, userIds: readonly number[], subgroupIds: readonly number[]): User[] {
  const moved = new Set(userIds.map(id => state.users.get(id)).filter(user => user !== undefined))
  if (subgroupIds.length > 0) {
    const isMember = memberCheck(state, subgroupIds)
    for (const user of state.users.values()) if (isMember(user)) moved.add(user)
  }
  return [...moved]
}

/** Private channels that members of one of the groups know of by their settings. */
function toldTo(state: State, groups: ReadonlySet<number>): Channel[] {
  const tells = ({ inviteOnly, permissions }: Channel) =>
    inviteOnly &&
    tellingPermissions.some(name => {
      const value = permissions[name]
      return typeof value === 'number' ? groups.has(value) : value.direct_subgroups.some(id => groups.has(id))
    })
  return [...state.channels.values()].filter(tells)
}

/** Refuses to change who is in a group if too many people would have to be told of too many channels. */
export function checkSights(
  state: State,
  group: Group,
  userIds: readonly number[],
  subgroupIds: readonly number[],
): void {
  const channels = toldTo(state, withSupergroups(state, [group])).length
  const people = channels > 0 ? findMoved(state, userIds, subgroupIds).length : 0
  if (people * channels > limits.sightsAtOnce)
    throw new Refusal(
      `Too many private channels name this group to change ${people} people in it at once. Change fewer at a time, or let fewer channels name it.`,
      { kind: 'conflict' },
    )
}
