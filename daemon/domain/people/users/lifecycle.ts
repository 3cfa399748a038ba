// Effects on other resources when an account is created, deactivated or comes back. Each function returns facts for the same
// command, or announcements.

import { peerAnnouncements } from '../../channels/channels/announce.ts'
import { visibilityNews } from '../../channels/channels/visibility.ts'
import { firstSubscriptions } from '../../channels/subscriptions/subscribe.ts'
import type { Fact } from '../../facts.ts'
import { firstHistory } from '../../messages/messages/new-account-history.ts'
import { channelNotice, directNotice } from '../../messages/notices/post.ts'
import { welcomeMessages } from '../../messages/notices/welcome.ts'
import { defaultChannels } from '../../model/lookups.ts'
import type { Invitation } from '../../model/rows/organization.ts'
import { organizationSetting } from '../../model/settings.ts'
import type { Channel, State, User } from '../../model/state.ts'
import type { Announcement, Surroundings } from '../../resource.ts'
import { revokeInvitations } from '../invitations/endings.ts'

/** What an account that was invited starts with, besides its role. */
export type Welcome = Pick<Invitation, 'inviterId' | 'notifyInviter' | 'welcome'> & {
  readonly channels: readonly Channel[]
  readonly groups: readonly Fact[]
  /** What becomes of the invitation. */
  readonly ending: readonly Fact[]
}

/** A person's new account: its first channels and their recent history, then the messages about it and to it. */
export function settleNewAccount(ctx: Surroundings, user: User, invited?: Welcome): Fact[] {
  const channels = invited?.channels ?? defaultChannels(ctx.state)
  const subscriptions = firstSubscriptions(ctx.state, user, channels)
  if (ctx.withoutWelcome) return subscriptions
  // Written as if the account existed, so that it can be named.
  const later = { ...ctx, state: ctx.state.with({ users: [user] }) }
  return [
    ...subscriptions,
    ...(invited?.groups ?? []),
    ...firstHistory(later, user, channels),
    ...(invited ? [...inviterNotice(later, user, invited), ...invited.ending] : []),
    ...signupNotice(later, user),
    ...welcomeMessages(later, user, invited?.welcome ?? null),
  ]
}

function inviterNotice(ctx: Surroundings, user: User, { inviterId, notifyInviter }: Welcome): Fact[] {
  if (!notifyInviter || !ctx.state.users.get(inviterId)?.active) return []
  return directNotice(ctx, [inviterId], `${mention(user)} accepted your invitation to join Zulip!`)
}

function signupNotice(ctx: Surroundings, user: User): Fact[] {
  const channel = ctx.state.channels.get(organizationSetting(ctx.state, 'signup_announcements_stream_id'))
  if (!channel || channel.archived) return []
  return channelNotice(ctx, channel, 'signups', `${mention(user)} joined this organization.`)
}

function mention({ fullName, id }: User): string {
  return `@_**${fullName}|${id}**`
}

/**
 * OPEN: an account that an administrator made counts as joined when a key is fetched with its password; on the public server, when its
 * owner first visits the web page.
 */
export function noteFirstLogin({ server, now }: Surroundings, { id, unused }: User): Fact[] {
  if (!unused || !server.level.rules.joinedAtFirstLogin) return []
  return [{ type: 'user.entered', userId: id, joined: now }]
}

/** An account is deactivated: its open invitations are revoked. */
export function settleDeactivated({ state }: Surroundings, user: User): Fact[] {
  return revokeInvitations(state, user.id)
}

/** Subscribers come and go with accounts: peer_add and peer_remove. */
export function activityNews(state: State, user: User): Announcement[] {
  return peerAnnouncements(state, user.id, user.active ? 'peer_add' : 'peer_remove')
}

/** A role opens and closes channels: stream create and delete, peer_add and peer_remove. */
export function roleNews(state: State, before: User, after: User): Announcement[] {
  return visibilityNews(state, { users: [before] }, { users: [after] })
}

/** So does the end of the waiting period. */
export function waitingNews(state: State, userIds: readonly number[], fullMember: boolean): Announcement[] {
  const users = userIds.map(id => state.users.get(id)!)
  return visibilityNews(state, { users: users.map(user => ({ ...user, fullMember: !fullMember })) }, { users })
}
