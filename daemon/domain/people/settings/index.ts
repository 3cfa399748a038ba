// Settings of the caller, and the defaults of new accounts.

import { settings as api } from '../../../api/people/settings.ts'
import { legacyEventOf, type UserSetting, userSettings } from '../../../api/shapes/user-settings.ts'
import { mapTable } from '../../../api/tables.ts'
import { inheritedNews } from '../../channels/subscriptions/properties.ts'
import type { Fact } from '../../facts.ts'
import type { SettingChanges, SettingsFact } from '../../model/facts/people.ts'
import { apiEmail } from '../../model/lookups.ts'
import { userSetting } from '../../model/settings.ts'
import type { State, User } from '../../model/state.ts'
import { missing, organizationDeactivated, userDeactivated } from '../../refusal.ts'
import { type Announcement, type Event, resource } from '../../resource.ts'
import { everyone } from '../../rules/audiences.ts'
import * as may from '../../rules/index.ts'
import { toggleVisibility } from '../presence.ts'
import { announceEmail, announcePersonUpdated, exportConsent } from '../users/announce.ts'
import { checkNewEmail } from '../users/checks.ts'
import { accountChanges, composeConfirmationNotice, writeMail } from './account.ts'
import { changedSettings, emojisets, languageName, notificationSounds } from './check.ts'
import { commandChanges } from './command.ts'
import { changesOfOthers } from './for-others.ts'

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
      may.check(may.haveSettings, ctx)
      if (params.target_users)
        return {
          facts: changesOfOthers(ctx, params, params.target_users).map(([user, changes]) =>
            settingsFact(user, changes, ctx.actor),
          ),
          reply: {},
        }
      const changes = changedSettings(params, name => userSetting(ctx.actor, name as UserSetting))
      const account = accountChanges(ctx, params, prepared)
      const facts: Fact[] = [...account]
      if (Object.keys(changes).length > 0) facts.push(settingsFact(ctx.actor, changes))
      const visible = changes.presence_enabled
      return {
        facts,
        mails: account.flatMap(fact => writeMail(ctx, fact)),
        ...(typeof visible === 'boolean' && toggleVisibility(ctx, visible)),
        reply: {},
      }
    },

    command(ctx, { command }) {
      const { changes, msg } = commandChanges(ctx, command)
      const some = Object.keys(changes).length > 0
      return { facts: some ? [settingsFact(ctx.actor, changes)] : [], reply: msg === undefined ? {} : { msg } }
    },

    confirmEmail(ctx, { token }) {
      const pending = ctx.state.emailChanges.get(token)
      if (!pending || pending.expires < ctx.now) throw missing('token', 'pending change of address with this token')
      const { userId, email } = pending
      const user = ctx.state.users.get(userId)!
      // Things can have changed since the request.
      if (ctx.state.organization.deactivated) throw organizationDeactivated()
      if (!user.active) throw userDeactivated()
      may.check(may.changeOwn, { state: ctx.state, actor: user }, 'email_changes_disabled')
      checkNewEmail(ctx.state, 'token', email, user)
      const confirmed: Fact = { type: 'email-change.confirmed', token }
      const change = { userId, from: user.email, to: email }
      if (change.from === change.to) return { facts: [confirmed], reply: { user_id: userId } }
      return {
        facts: [confirmed, { type: 'user.email-changed', ...change }],
        mails: [composeConfirmationNotice(ctx, change)],
        reply: { user_id: userId },
      }
    },

    updateDefaults(ctx, params) {
      may.insist(may.administer, ctx)
      const changes = changedSettings(params, name => defaultSetting(ctx.state, name as UserSetting))
      const some = Object.keys(changes).length > 0
      return { facts: some ? [{ type: 'organization.user-defaults-changed', changes }] : [], reply: {} }
    },
  },

  apply: {
    'user.settings-changed'(state, { userId, changes, by }) {
      const user = state.users.get(userId)!
      const chosen = by === undefined ? { chosenSettings: addNames(user.chosenSettings, changes) } : {}
      state.users.put({ ...user, settings: omitDefaults({ ...user.settings, ...changes }), ...chosen })
      if (changes.enable_drafts_synchronization === false)
        for (const draft of state.drafts.where('user', userId)) state.drafts.remove(draft.id)
    },
    'user.password-changed': (state, { userId, password }) =>
      state.users.put({ ...state.users.get(userId)!, password }),
    'email-change.requested'(state, { change }) {
      for (const older of state.emailChanges.where('user', change.userId)) state.emailChanges.remove(older.token)
      state.emailChanges.put(change)
    },
    'email-change.confirmed': (state, { token }) => state.emailChanges.remove(token),
    'organization.user-defaults-changed'(state, { changes }) {
      const { organization } = state
      state.organization = { ...organization, userDefaults: omitDefaults({ ...organization.userDefaults, ...changes }) }
    },
  },

  announce: {
    'user.settings-changed'(state, { userId, changes, before, languageName }) {
      const user = state.users.get(userId)!
      return Object.entries(changes).flatMap(([name, value]) => [
        ...announceSetting(state, user, name as UserSetting, value, languageName),
        ...inheritedNews(state, user, name),
        ...toldToOthers(state, user, { ...user, settings: omitDefaults({ ...user.settings, ...before }) }, name),
      ])
    },
    'user.password-changed': () => [],
    'email-change.requested': () => [],
    'email-change.confirmed': () => [],
    'organization.user-defaults-changed': (state, { changes }) =>
      Object.entries(changes).map(([property, value]) => ({
        to: everyone(state),
        event: { type: 'realm_user_settings_defaults', op: 'update', property, value },
      })),
  },

  sections: {
    user_settings: ({ actor }) => ({ user_settings: presentSettings(actor) }),
    update_display_settings: ({ actor }, client) =>
      client.settingsObject
        ? {}
        : {
            ...legacySettings(actor, 'display'),
            emojiset_choices: emojisets,
            timezone: userSetting(actor, 'timezone'),
          },
    update_global_notifications: ({ actor }, client) =>
      client.settingsObject
        ? {}
        : { ...legacySettings(actor, 'notifications'), available_notification_sounds: notificationSounds },
    realm_user_settings_defaults: ({ state }) => ({
      realm_user_settings_defaults: {
        ...Object.fromEntries(
          names()
            .filter(hasDefault)
            .map(name => [name, defaultSetting(state, name)]),
        ),
        ...choices,
      },
    }),
  },
})

const choices = { emojiset_choices: emojisets, available_notification_sounds: notificationSounds }

/** A change of settings as a fact; other resources that change a setting use it too. */
export function settingsFact(user: User, changes: SettingChanges, by = user): Fact {
  const language = changes.default_language
  const named = typeof language === 'string' ? languageName(language) : undefined
  const before = mapTable(changes, name => userSetting(user, name as UserSetting))
  const fact = {
    type: 'user.settings-changed',
    userId: user.id,
    changes,
    before,
    ...(by.id !== user.id && { by: by.id }),
  } as const
  return named === undefined ? fact : { ...fact, languageName: named }
}

function addNames(known: readonly string[] = [], changes: SettingChanges): readonly string[] {
  return [...new Set([...known, ...Object.keys(changes)])]
}

/** The time zone is personal: an organization has no default for it. */
function hasDefault(name: UserSetting): boolean {
  return name !== 'timezone'
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
function omitDefaults(settings: SettingChanges): SettingChanges {
  return Object.fromEntries(
    Object.entries(settings).filter(([name, value]) => value !== userSettings[name as UserSetting].default),
  )
}

function announceSetting(
  state: State,
  user: User,
  name: UserSetting,
  value: unknown,
  language?: string,
): Announcement[] {
  const named = name === 'default_language' && language !== undefined ? { language_name: language } : {}
  const modern: Event = { type: 'user_settings', op: 'update', property: name, value, ...named }
  const older = legacyEvent(apiEmail(state, user), name, value, named)
  return [
    {
      to: [user.id],
      event: client => (older && !client.settingsObject ? [modern, older] : modern),
    },
  ]
}

/** A few settings are the business of others too. */
function toldToOthers(state: State, user: User, before: User, name: string): Announcement[] {
  switch (name) {
    case 'timezone':
      return [
        announcePersonUpdated(state, user, { email: apiEmail(state, user), timezone: userSetting(user, 'timezone') }),
      ]
    case 'email_address_visibility':
      return announceEmail(state, before, user)
    case 'allow_private_data_export':
      return [exportConsent(state, user)]
    default:
      return []
  }
}

function legacyEvent(email: string, name: UserSetting, value: unknown, named: object): Event | undefined {
  switch (legacyEventOf(name)) {
    case 'display':
      return { type: 'update_display_settings', user: email, setting_name: name, setting: value, ...named }
    case 'notifications':
      return { type: 'update_global_notifications', user: email, notification_name: name, setting: value }
    default:
      return undefined
  }
}
