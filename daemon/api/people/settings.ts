// Settings: your own, and the defaults for new accounts.

import {
  anything,
  bool,
  copySpan,
  endpoint,
  int,
  keyed,
  listOf,
  maybe,
  optional,
  record,
  required,
  secret,
  text,
  textUpTo,
  userId,
} from '../define.ts'
import { type UserSetting, userSettings } from '../shapes/user-settings.ts'
import { mapTable } from '../tables.ts'

/** Settings that have no default for new accounts. */
const withoutDefaults = [
  'default_language',
  'enable_login_emails',
  'enable_marketing_emails',
  'timezone',
  'allow_private_data_export',
] as const satisfies readonly UserSetting[]

type Defaultable = Exclude<UserSetting, (typeof withoutDefaults)[number]>

const settingParams = mapTable(userSettings, about) as { [K in UserSetting]: ReturnType<typeof about<K>> }
const defaultParams = Object.fromEntries(
  Object.entries(settingParams).filter(([name]) => !(withoutDefaults as readonly string[]).includes(name)),
) as Pick<typeof settingParams, Defaultable>

export const settings = {
  // OPEN: in the API family only `register` returns settings; this endpoint is an addition.
  show: endpoint({
    id: 'get-settings',
    route: 'GET /settings',
    since: 417,
    notOnPublicServers: true,
    summary: 'Show your settings',
    reply: { user_settings: keyed(anything) },
    cli: {
      name: 'settings show',
      examples: ['natter settings show', 'natter settings show --json'],
    },
  }),
  update: endpoint({
    id: 'update-settings',
    route: 'PATCH /settings',
    also: ['/settings/display', '/settings/notifications'],
    login: { password: 'old_password', only: 'new_password' },
    mails: 'confirmation',
    callers: 'humans',
    summary: 'Edit your settings, your name, your email address or your password',
    params: {
      full_name: optional(text, 'your new name'),
      email: optional(text, 'your new email address; a mail to it asks you to confirm it'),
      old_password: optional(secret, 'your current password; required to set a new one'),
      new_password: optional(secret, 'your new password'),
      target_users: optional(
        record({
          user_ids: maybe(listOf(userId)),
          group_ids: maybe(listOf(int)),
          skip_if_already_edited: bool,
        }),
        'change the settings of these people, not yours (administrators); skip_if_already_edited leaves out people who changed the setting themselves',
        { since: 444 },
      ),
      ...settingParams,
    },
    reply: {},
    refusals: ['UNAUTHORIZED_PRINCIPAL'],
    cli: {
      name: 'settings edit',
      done: 'edited your settings',
      examples: ['natter settings edit --twenty-four-hour-time', 'natter settings edit --timezone Europe/Berlin'],
    },
  }),
  command: endpoint({
    id: 'run-slash-command',
    route: 'POST /zcommand',
    summary: 'Run a slash command: /ping, /dark, /light, /fluid-width or /fixed-width',
    params: { command: required(textUpTo(100), 'the command, with its slash') },
    reply: { msg: maybe(text) },
    cli: {
      name: 'settings command',
      done: 'ran {command}',
      examples: ['natter settings command /dark', 'natter settings command /ping --json'],
    },
  }),
  // OPEN: the web client confirms through a link; this endpoint takes the token directly.
  confirmEmail: endpoint({
    id: 'confirm-email-change',
    mails: 'notice',
    route: 'POST /settings/email/confirm',
    access: 'anyone',
    since: 417,
    notOnPublicServers: true,
    summary: 'Confirm a new email address with the token from the mail',
    params: { token: required(text, 'the token from the mail') },
    reply: { user_id: int },
    cli: {
      name: 'settings confirm-email',
      done: 'confirmed the new email address of user {user_id}',
      examples: ['natter settings confirm-email TOKEN', 'natter settings confirm-email TOKEN --json'],
    },
  }),
  updateDefaults: endpoint({
    id: 'update-realm-user-settings-defaults',
    route: 'PATCH /realm/user_settings_defaults',
    callers: 'administrators',
    since: 96,
    summary: 'Edit the default settings of new accounts (administrators)',
    params: defaultParams,
    cli: {
      name: 'settings edit-defaults',
      done: 'edited the default settings of new accounts',
      examples: ['natter settings edit-defaults --enter-sends', 'natter settings edit-defaults --color-scheme 2'],
    },
  }),
}

function about<K extends UserSetting>(name: K) {
  const setting = userSettings[name]
  return optional(setting.shape as (typeof userSettings)[K]['shape'], name.replaceAll('_', ' '), copySpan(setting))
}
