// Settings: one's own, and what new accounts start with.

import { settings as api } from '../../api/settings.ts'
import { legacyEventOf, type UserSetting, userSettings } from '../../api/user-settings.ts'
import { accessAudience, administrators, everyone } from '../audiences.ts'
import type { Fact } from '../facts.ts'
import { userByEmail } from '../lookups.ts'
import * as may from '../permissions.ts'
import { visibilityToggled } from '../presence.ts'
import { badRequest } from '../refusal.ts'
import { type Announcement, type Event, resource } from '../resource.ts'
import { userSetting } from '../settings-lookup.ts'
import type { State, User } from '../state.ts'
import { accountChanges, type EmailChange, mailOf } from './account.ts'
import { type Changes, changedSettings, emojisets, languageName, notificationSounds } from './check.ts'

export type SettingsFact =
  | {
      readonly type: 'user.settings-changed'
      readonly userId: number
      readonly changes: Changes
      /** What the new default_language calls itself. */
      readonly languageName?: string
    }
  | { readonly type: 'user.password-changed'; readonly userId: number; readonly password: string }
  | { readonly type: 'user.renamed-self'; readonly userId: number; readonly fullName: string }
  | { readonly type: 'email-change.requested'; readonly change: EmailChange }
  | {
      readonly type: 'email-change.confirmed'
      readonly userId: number
      readonly email: string
      readonly token: string
    }
  | { readonly type: 'organization.user-defaults-changed'; readonly changes: Changes }

interface Prepared {
  readonly update: { readonly matches: boolean; readonly hash: string }
}

export const settings = resource(api)<SettingsFact, Prepared>({
  prepare: {
    async update(tools, { old_password, new_password }, _state, actor) {
      if (new_password === undefined) return { matches: false, hash: '' }
      return {
        matches: await tools.verifyPassword(old_password ?? '', actor?.password),
        hash: await tools.hashPassword(new_password),
      }
    },
  },

  commands: {
    show: ({ actor }) => ({ reply: { user_settings: presentSettings(actor) } }),

    update(ctx, params, prepared) {
      may.check(may.haveSettings, ctx, undefined)
      const changes = changedSettings(params, name => userSetting(ctx.actor, name as UserSetting))
      const account = accountChanges(ctx, params, prepared)
      const facts: Fact[] = [...account]
      if (Object.keys(changes).length > 0) facts.push(settingsFact(ctx.actor.id, changes))
      const visible = changes.presence_enabled
      return {
        facts,
        mails: account.flatMap(fact => mailOf(ctx, fact)),
        ...(typeof visible === 'boolean' && visibilityToggled(ctx, visible)),
        reply: {},
      }
    },

    confirmEmail(ctx, { token }) {
      const change = ctx.state.emailChanges.get(token)
      if (!change || change.expires < ctx.now) throw badRequest('token is unknown or no longer valid')
      const other = userByEmail(ctx.state, change.email)
      if (other && other.id !== change.userId) throw badRequest('token: the email address is in use by now')
      const { userId, email } = change
      return { facts: [{ type: 'email-change.confirmed', userId, email, token }], reply: { user_id: userId } }
    },

    updateDefaults(ctx, params) {
      may.insist(may.administer, ctx)
      const changes = changedSettings(params, name => defaultSetting(ctx.state, name as UserSetting))
      const some = Object.keys(changes).length > 0
      return { facts: some ? [{ type: 'organization.user-defaults-changed', changes }] : [], reply: {} }
    },
  },

  apply: {
    'user.settings-changed'(state, { userId, changes }) {
      const user = state.users.get(userId)!
      state.users.put({ ...user, settings: stored({ ...user.settings, ...changes }) })
      if (changes.enable_drafts_synchronization === false)
        for (const draft of state.drafts.where('user', userId)) state.drafts.remove(draft.id)
    },
    'user.password-changed': (state, { userId, password }) =>
      state.users.put({ ...state.users.get(userId)!, password }),
    'user.renamed-self': (state, { userId, fullName }) => state.users.put({ ...state.users.get(userId)!, fullName }),
    'email-change.requested': (state, { change }) => state.emailChanges.put(change),
    'email-change.confirmed'(state, { userId, email, token }) {
      state.emailChanges.remove(token)
      state.users.put({ ...state.users.get(userId)!, email })
    },
    'organization.user-defaults-changed'(state, { changes }) {
      const { organization } = state
      state.organization = { ...organization, userDefaults: stored({ ...organization.userDefaults, ...changes }) }
    },
  },

  announce: {
    'user.settings-changed': (state, { userId, changes, languageName }) =>
      Object.entries(changes).flatMap(([name, value]) => told(state, userId, name as UserSetting, value, languageName)),
    'user.password-changed': () => [],
    'user.renamed-self': (state, { userId, fullName }) => [
      {
        to: everyone(state),
        event: { type: 'realm_user', op: 'update', person: { user_id: userId, full_name: fullName } },
      },
    ],
    'email-change.requested': () => [],
    'email-change.confirmed': (state, { userId, email }) => [
      {
        to: everyone(state),
        event: { type: 'realm_user', op: 'update', person: { user_id: userId, delivery_email: email } },
      },
    ],
    'organization.user-defaults-changed': (state, { changes }) =>
      Object.entries(changes).map(([property, value]) => ({
        to: everyone(state),
        event: { type: 'realm_user_settings_defaults', op: 'update', property, value },
      })),
  },

  sections: {
    user_settings: ({ actor }) => ({ user_settings: presentSettings(actor) }),
    update_display_settings: ({ actor }, capabilities) =>
      capabilities.has('user_settings_object')
        ? {}
        : {
            ...legacySettings(actor, 'display'),
            emojiset_choices: emojisets,
            timezone: userSetting(actor, 'timezone'),
          },
    update_global_notifications: ({ actor }, capabilities) =>
      capabilities.has('user_settings_object')
        ? {}
        : { ...legacySettings(actor, 'notifications'), available_notification_sounds: notificationSounds },
    realm_user_settings_defaults: ({ state }) => ({
      realm_user_settings_defaults: {
        ...Object.fromEntries(names().map(name => [name, defaultSetting(state, name)])),
        ...choices,
      },
    }),
  },
})

const choices = { emojiset_choices: emojisets, available_notification_sounds: notificationSounds }

/** A change of settings as a fact; other resources that change a setting use it too. */
export function settingsFact(userId: number, changes: Changes): Fact {
  const language = changes.default_language
  const named = typeof language === 'string' ? languageName(language) : undefined
  return { type: 'user.settings-changed', userId, changes, ...(named !== undefined && { languageName: named }) }
}

function names(): UserSetting[] {
  return Object.keys(userSettings) as UserSetting[]
}

function presentSettings(user: User): Record<string, unknown> {
  return { ...Object.fromEntries(names().map(name => [name, userSetting(user, name)])), ...choices }
}

function legacySettings(user: User, kind: 'display' | 'notifications'): Record<string, unknown> {
  return Object.fromEntries(
    names()
      .filter(name => legacyEventOf(name) === kind)
      .map(name => [name, userSetting(user, name)]),
  )
}

function defaultSetting(state: State, name: UserSetting): unknown {
  const { userDefaults } = state.organization
  return Object.hasOwn(userDefaults, name) ? userDefaults[name] : userSettings[name].default
}

/** Only what differs from the table is kept. */
function stored(settings: Changes): Changes {
  return Object.fromEntries(
    Object.entries(settings).filter(([name, value]) => value !== userSettings[name as UserSetting].default),
  )
}

function told(state: State, userId: number, name: UserSetting, value: unknown, language?: string): Announcement[] {
  const user = state.users.get(userId)!
  const named = name === 'default_language' && language !== undefined ? { language_name: language } : {}
  const modern: Event = { type: 'user_settings', op: 'update', property: name, value, ...named }
  const older = legacyEvent(user, name, value, named)
  const news: Announcement[] = [
    {
      to: [userId],
      event: client => (older && !client.capabilities.has('user_settings_object') ? [modern, older] : modern),
    },
  ]
  if (name === 'timezone')
    news.push({
      to: accessAudience(state, user),
      event: {
        type: 'realm_user',
        op: 'update',
        person: { user_id: userId, email: user.email, timezone: value },
      },
    })
  if (name === 'presence_enabled')
    news.push({ to: accessAudience(state, user), event: { type: 'user_status', user_id: userId, away: !value } })
  if (name === 'allow_private_data_export')
    news.push({
      to: administrators(state),
      event: { type: 'realm_export_consent', user_id: userId, consented: value },
    })
  return news
}

function legacyEvent(user: User, name: UserSetting, value: unknown, named: object): Event | undefined {
  switch (legacyEventOf(name)) {
    case 'display':
      return { type: 'update_display_settings', user: user.email, setting_name: name, setting: value, ...named }
    case 'notifications':
      return { type: 'update_global_notifications', user: user.email, notification_name: name, setting: value }
    default:
      return undefined
  }
}
