// Users: accounts, and how to get one's key.

import { users as api } from '../api/users.ts'
import { everyone } from './audiences.ts'
import { limits } from './limits.ts'
import { userByEmail } from './lookups.ts'
import * as may from './permissions.ts'
import { badRequest, Refusal } from './refusal.ts'
import { type Context, resource, type Surroundings } from './resource.ts'
import { organizationSetting, userSetting } from './settings-lookup.ts'
import { roles, type User } from './state.ts'
import { cleaned } from './text.ts'
import { minuteIso } from './time.ts'

export type UserFact = { readonly type: 'user.created'; readonly user: User }

interface Prepared {
  readonly create: { readonly hash: string }
  readonly fetchApiKey: { readonly matches: boolean }
}

export const users = resource(api)<UserFact, Prepared>({
  prepare: {
    create: async (tools, { password }) => ({ hash: await tools.hashPassword(password) }),
    // Checked against nothing when there is no such account, so that the time taken tells nobody who exists.
    fetchApiKey: async (tools, { username, password }, state) => ({
      matches: await tools.verifyPassword(password, userByEmail(state, username)?.password),
    }),
  },

  commands: {
    me: ctx => ({ reply: { ...present(ctx, ctx.actor), profile_data: {}, max_message_id: -1 } }),

    create(ctx, params, { hash }) {
      may.insist(may.administer, ctx)
      if (!ctx.actor.canCreateUsers) throw badRequest('You lack the can_create_users permission')
      const user: User = {
        id: ctx.state.users.nextId,
        email: checkNewEmail(ctx, params.email),
        fullName: checkFullName(params.full_name),
        role: roles.member,
        active: true,
        joined: ctx.now,
        fullMember: organizationSetting(ctx.state, 'waiting_period_threshold') === 0,
        avatar: { version: 1 },
        keyVersion: 1,
        password: checkPassword(params.password) && hash,
        canCreateUsers: false,
        canChangeEmails: false,
        settings: {},
        profile: {},
      }
      return { facts: [{ type: 'user.created', user }], reply: { user_id: user.id } }
    },

    fetchApiKey(ctx, { username }, { matches }) {
      if (!username.includes('@')) throw badRequest('username is not an email address')
      const user = userByEmail(ctx.state, username)
      if (!user || !matches) throw new Refusal('AUTHENTICATION_FAILED', 'Your username or password is incorrect')
      if (!user.active) throw new Refusal('USER_DEACTIVATED', 'Account is deactivated')
      return { reply: { api_key: ctx.keyOf(user), email: user.email, user_id: user.id } }
    },
  },

  apply: { 'user.created': (state, { user }) => state.users.put(user) },

  announce: {
    'user.created': (state, { user }) => [
      { to: everyone(state), event: { type: 'realm_user', op: 'add', person: { user_id: user.id } } },
    ],
  },
})

/** The user as the API shows it to the actor. */
export function present(_ctx: Context | Surroundings, user: User) {
  return {
    user_id: user.id,
    delivery_email: user.email,
    email: user.email,
    full_name: user.fullName,
    date_joined: minuteIso(user.joined),
    is_active: user.active,
    is_owner: may.isOwner(user),
    is_admin: may.isAdministrator(user),
    is_guest: may.isGuest(user),
    is_bot: user.bot !== undefined,
    bot_type: user.bot?.type ?? null,
    ...(user.bot && { bot_owner_id: user.bot.ownerId }),
    role: user.role,
    timezone: userSetting(user, 'timezone'),
    avatar_url: null,
    avatar_version: user.avatar.version,
  }
}

function checkNewEmail(ctx: Context, email: string): string {
  const address = email.trim()
  if (!/^[^\s@<>(),;:"[\]\\]+@[^\s@<>(),;:"[\]\\]+$/.test(address) || address.length > 254)
    throw badRequest('email is not a valid email address')
  if (userByEmail(ctx.state, address)) throw badRequest(`email: '${address}' is already in use`)
  return address
}

function checkFullName(name: string): string {
  const checked = cleaned('full_name', name, limits.fullName)
  if ([...checked].length < 2) throw badRequest('full_name is too short (at least 2 characters)')
  if (/[*`\\>"@\p{Cc}\p{Cs}\p{Cn}]/u.test(checked)) throw badRequest('full_name contains invalid characters')
  if (/\|\d+$/.test(checked)) throw badRequest('full_name cannot end in | and a number')
  return checked
}

function checkPassword(password: string): true {
  if ([...password].length < limits.passwordMin)
    throw badRequest(`password is too short (at least ${limits.passwordMin} characters)`)
  return true
}
