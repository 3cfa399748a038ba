// What happens elsewhere when an account is created, deactivated or comes back. Each function returns facts for the same
// command, or announcements.

import { peerAnnouncements } from '../../channels/channels/announce.ts'
import { visibilityNews } from '../../channels/channels/visibility.ts'
import { defaultSubscriptionFacts } from '../../channels/subscriptions/subscribe.ts'
import type { Fact } from '../../facts.ts'
import { firstHistory } from '../../messages/messages/new-account-history.ts'
import { channelNotice } from '../../messages/notices/post.ts'
import { organizationSetting } from '../../model/settings.ts'
import type { State, User } from '../../model/state.ts'
import type { Announcement, Surroundings } from '../../resource.ts'
import { invitationsRevoked } from '../invitations.ts'

/** A new account: default channels, their recent history, the notice of the notification bot. */
export function whenCreated(ctx: Surroundings, user: User): Fact[] {
  if (user.bot) return []
  return [...defaultSubscriptionFacts(ctx.state, user), ...firstHistory(ctx, user), ...signupNotice(ctx, user)]
}

function signupNotice(ctx: Surroundings, user: User): Fact[] {
  const channel = ctx.state.channels.get(organizationSetting(ctx.state, 'signup_announcements_stream_id'))
  if (!channel || channel.archived) return []
  // Written as if the account existed, so that it can be named.
  const later = { ...ctx, state: ctx.state.with({ users: [user] }) }
  return channelNotice(later, channel, 'signups', `@_**${user.fullName}|${user.id}** joined this organization.`)
}

/** An account is deactivated: its open invitations are revoked. */
export function whenDeactivated({ state }: Surroundings, user: User): Fact[] {
  return invitationsRevoked(state, user.id)
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
