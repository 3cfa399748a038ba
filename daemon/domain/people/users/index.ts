// Users: accounts, from their creation to their deactivation.

import { users as api } from '../../../api/people/users.ts'
import {
  announceBotAdded,
  announceBotAddress,
  announceBotReach,
  announceBotReconfigured,
  announceBotSight,
  announceBotUpdated,
  botHandedOver,
} from '../../bots/announce.ts'
import type { UserFact } from '../../model/facts/people.ts'
import { userByEmail } from '../../model/lookups.ts'
import { roles } from '../../model/roles.ts'
import { initialSettings, organizationSetting } from '../../model/settings.ts'
import type { State, User } from '../../model/state.ts'
import { enabledMethods } from '../../organization/authentication.ts'
import { invalid, organizationDeactivated, Refusal, unauthenticated, userDeactivated } from '../../refusal.ts'
import { resource, type Surroundings } from '../../resource.ts'
import { accessAudience } from '../../rules/audiences.ts'
import * as may from '../../rules/index.ts'
import { visibleUser } from '../../rules/user-access.ts'
import { minuteIso } from '../../values/time.ts'
import { outdateInvitations } from '../invitations/endings.ts'
import { presentValue } from '../profile-fields/present.ts'
import { statusNews } from '../user-status.ts'
import { announceAccess, readersOfDeactivation, seenAgain } from './access.ts'
import { deactivate, deactivateSelf, endOfWaiting, reactivate } from './activity.ts'
import {
  addressesSeen,
  announceEmail,
  announceMemberships,
  announcePersonAdded,
  announcePersonRemoved,
  announcePersonUpdated,
  announceStranger,
  exportConsent,
  membership,
  membershipOfAll,
} from './announce.ts'
import { checkFullName, checkNewEmail, checkPassword } from './checks.ts'
import { activityNews, noteFirstLogin, roleNews, settleNewAccount, waitingNews } from './lifecycle.ts'
import { defaultAvatar, presentAvatar } from './present.ts'
import { list, me, section, show } from './read.ts'
import { update } from './update.ts'

interface Prepared {
  readonly create: { readonly hash: string }
  readonly fetchApiKey: { readonly matches: boolean }
}

export const users = resource(api)<UserFact, Prepared>({
  prepare: {
    create: async (tools, { password }) => ({ hash: await tools.hashPassword(password) }),
    // Checked against nothing when there is no such account, so that the time taken does not show which accounts exist.
    fetchApiKey: async (tools, { username, password }, state) => ({
      matches: await tools.verifyPassword(password, userByEmail(state, username)?.password),
    }),
  },

  commands: {
    list,
    show: (ctx, params) => show(ctx, 'user_id', ctx.state.users.get(params.user_id), params),
    showByEmail: (ctx, params) => show(ctx, 'email', visibleUser(ctx, params.email), params),
    me,

    create(ctx, params, { hash }) {
      may.insist(may.administer, ctx)
      may.check(may.createUsers, ctx)
      checkPassword(params.password)
      const user = newAccount(ctx, {
        email: checkNewEmail(ctx.state, 'email', params.email),
        fullName: checkFullName(ctx.state, params.full_name),
        password: hash,
        unused: true,
      })
      return {
        facts: [
          { type: 'user.created', user },
          ...outdateInvitations(ctx.state, user.email),
          ...settleNewAccount(ctx, user),
        ],
        reply: { user_id: user.id },
      }
    },

    update: (ctx, { user_id, ...changes }) => update(ctx, 'user_id', ctx.state.users.get(user_id), changes),
    updateByEmail: (ctx, { email, ...changes }) => update(ctx, 'email', visibleUser(ctx, email), changes),
    deactivate,
    deactivateSelf,
    reactivate,

    fetchApiKey(ctx, { username }, { matches }) {
      if (!username.includes('@')) throw invalid('username', 'must be an email address')
      if (ctx.state.organization.deactivated) throw organizationDeactivated()
      if (!enabledMethods(ctx.state).Email)
        throw new Refusal('This organization does not allow logging in with a password.', {
          code: 'PASSWORD_AUTH_DISABLED',
        })
      const user = userByEmail(ctx.state, username)
      if (!user || !matches) throw unauthenticated('AUTHENTICATION_FAILED', 'Your username or password is incorrect.')
      if (!user.active) throw userDeactivated()
      return {
        facts: noteFirstLogin(ctx, user),
        reply: { api_key: ctx.keys.deriveKey(user), email: user.email, user_id: user.id },
      }
    },
  },

  apply: {
    'user.created': (state, { user }) => state.users.put(user),
    'user.renamed': (state, { userId, fullName }) => change(state, userId, { fullName }),
    'user.reassigned': (state, { userId, to }) => change(state, userId, { role: to }),
    'user.email-changed': (state, { userId, to }) => change(state, userId, { email: to }),
    'user.avatar-changed': (state, { userId, avatar }) => change(state, userId, { avatar }),
    'user.profile-changed'(state, { userId, values }) {
      const profile = { ...state.users.get(userId)!.profile }
      for (const { id, value } of values)
        if (value === null) delete profile[id]
        else profile[id] = value
      change(state, userId, { profile })
    },
    'user.entered'(state, { userId, joined }) {
      const { unused: _, ...user } = state.users.get(userId)!
      state.users.put({ ...user, joined })
    },
    'user.deactivated': (state, { userId }) => change(state, userId, { active: false }),
    'user.reactivated'(state, { userId, ownerId }) {
      const { bot } = state.users.get(userId)!
      change(state, userId, { active: true, ...(bot && ownerId !== undefined && { bot: { ...bot, ownerId } }) })
    },
    'user.key-regenerated': (state, { userId, keyVersion }) => change(state, userId, { keyVersion }),
    'user.waiting-settled'(state, { userIds, fullMember }) {
      for (const id of userIds) change(state, id, { fullMember })
    },
    'bot.configured': (state, { userId, bot }) => change(state, userId, { bot }),
  },

  announce: {
    'user.created'(state, { user }) {
      // Clients know system bots from `register` alone.
      if (user.bot?.system) return []
      return [
        ...announcePersonAdded(state, user),
        ...announceStranger(state, user),
        ...announceMemberships(state, undefined, user),
        ...announceBotAdded(state, user),
      ]
    },
    'user.renamed'(state, { userId, fullName }) {
      const user = state.users.get(userId)!
      return [
        announcePersonUpdated(state, user, { full_name: fullName }),
        ...announceBotUpdated(state, user, { full_name: fullName }),
      ]
    },
    'user.reassigned'(state, { userId, from, to }) {
      const user = state.users.get(userId)!
      const before = { ...user, role: from }
      return [
        announcePersonUpdated(state, user, { role: to }),
        ...announceMemberships(state, before, user),
        ...announceAccess(state, before, user),
        ...addressesSeen(state, before, user),
        ...announceBotSight(state, before, user),
        ...announceBotReach(state, before, user),
        ...roleNews(state, before, user),
      ]
    },
    'user.email-changed'(state, { userId, from }) {
      const user = state.users.get(userId)!
      return [...announceEmail(state, { ...user, email: from }, user), ...announceBotAddress(state, user)]
    },
    'user.avatar-changed'(state, { userId }) {
      const user = state.users.get(userId)!
      const avatar = presentAvatar(user)
      return [
        announcePersonUpdated(state, user, avatar),
        ...announceBotUpdated(state, user, { avatar_url: avatar.avatar_url }),
      ]
    },
    'user.profile-changed'(state, { userId, values }) {
      const user = state.users.get(userId)!
      return values.map(({ id, value }) =>
        announcePersonUpdated(state, user, level => ({
          custom_profile_field: { id, ...(value === null ? { value } : presentValue(state, user, id, value, level)) },
        })),
      )
    },
    'user.entered'(state, { userId, joined }) {
      return [announcePersonUpdated(state, state.users.get(userId)!, { date_joined: minuteIso(joined) })]
    },
    'user.deactivated'(state, { userId, quiet }) {
      const user = state.users.get(userId)!
      const { known, losing } = readersOfDeactivation(state, user)
      return [
        ...(quiet ? [] : activityNews(state, user)),
        { to: known, event: { type: 'realm_user', op: 'update', person: { user_id: userId, is_active: false } } },
        ...membershipOfAll(state, user, known),
        ...(losing.length > 0 ? [announcePersonRemoved(user, losing)] : []),
        ...announceBotUpdated(state, user, { is_active: false }),
      ]
    },
    'user.reactivated'(state, { userId, ownerId, formerOwnerId }) {
      const user = state.users.get(userId)!
      return [
        // First, because clients that did not know of the account could not change what they know.
        ...seenAgain(state, user),
        announcePersonUpdated(state, user, { is_active: true }),
        // Deactivated people are not listed among the users who allow exports.
        ...(user.bot ? [] : [exportConsent(state, user)]),
        ...statusNews(state, user, accessAudience(state, user)),
        ...announceBotUpdated(state, user, { is_active: true }),
        ...(ownerId !== undefined ? botHandedOver(state, user, formerOwnerId) : []),
        ...activityNews(state, user),
        ...membershipOfAll(state, user),
      ]
    },
    'user.key-regenerated': (state, { userId }) => announceBotUpdated(state, state.users.get(userId)!, { api_key: '' }),
    'user.waiting-settled'(state, { userIds, fullMember }) {
      const members = userIds.filter(id => may.isMember(state.users.get(id)!) && state.users.get(id)!.active)
      if (members.length === 0) return []
      const group = state.groups.find('name', 'role:fullmembers')!
      return [
        membership(state, fullMember ? 'add_members' : 'remove_members', group.id, members),
        ...waitingNews(state, members, fullMember),
      ]
    },
    'bot.configured'(state, { userId, changed, formerOwnerId }) {
      return announceBotReconfigured(state, state.users.get(userId)!, changed, formerOwnerId)
    },
  },

  sections: { realm_user: (ctx, client) => section(ctx, client) },
  jobs: [endOfWaiting],
})

/** An account as it starts: with what the organization gives to new ones. */
export function newAccount(
  ctx: Surroundings,
  given: Pick<User, 'email' | 'fullName'> & Partial<Pick<User, 'password' | 'bot' | 'avatar' | 'role' | 'unused'>>,
): User {
  return {
    id: ctx.state.users.nextId,
    role: roles.member,
    fullMember: organizationSetting(ctx.state, 'waiting_period_threshold') === 0,
    active: true,
    joined: ctx.now,
    avatar: defaultAvatar(ctx.state, 1),
    keyVersion: 1,
    canCreateUsers: false,
    canChangeEmails: false,
    settings: given.bot ? {} : initialSettings(ctx.state),
    profile: {},
    ...given,
  }
}

function change(state: State, userId: number, changes: Partial<User>): void {
  state.users.put({ ...state.users.get(userId)!, ...changes })
}
