// Users: the people and bots of the organization. Keys, avatars, profile fields and bots have pages of their own.

import {
  bool,
  defaulted,
  eitherOf,
  endpoint,
  inPath,
  int,
  keyed,
  listOf,
  maybe,
  named,
  nullable,
  optional,
  record,
  required,
  secret,
  since,
  text,
  userId,
} from '../define.ts'

const roles = { owner: 100, administrator: 200, moderator: 300, member: 400, guest: 600 } as const

export const role = named(roles)
/** Names by number. */
export const roleNames: Readonly<Record<number, string>> = Object.fromEntries(
  Object.entries(roles).map(([name, value]) => [value, name]),
)
export const roleAbout = '100 owner, 200 administrator, 300 moderator, 400 member, 600 guest'

const profileValue = record({ value: text, rendered_value: maybe(text) })

const userFields = {
  user_id: int,
  delivery_email: nullable(text),
  email: text,
  full_name: text,
  date_joined: text,
  is_active: bool,
  is_owner: bool,
  is_admin: bool,
  is_guest: bool,
  is_bot: bool,
  is_system_bot: maybe(bool),
  bot_type: nullable(int),
  bot_owner_id: maybe(nullable(int)),
  role,
  timezone: text,
  avatar_url: maybe(nullable(text)),
  avatar_version: int,
  profile_data: maybe(keyed(profileValue)),
  is_imported_stub: since(433, bool, 'leftOut'),
  is_deleted: since(490, bool, 'leftOut'),
}

/** Users are a list, everything else is text. */
export const profileInput = record({ id: int, value: maybe(nullable(eitherOf(text, listOf(userId)))) })

const reading = {
  client_gravatar: defaulted(bool, true, 'let avatar_url be null for users of the avatar provider', {
    off: 'always return avatar_url',
  }),
  include_custom_profile_fields: defaulted(bool, false, 'include profile_data'),
}

const changes = {
  full_name: optional(text, 'the new name, 2 to 100 characters'),
  role: optional(role, roleAbout),
  profile_data: optional(
    listOf(profileInput),
    'profile fields to set: [{"id": 4, "value": "vim"}]; null or an empty value removes one',
  ),
  new_email: optional(text, 'the new email address; only for owners with the can_change_user_emails flag'),
}

export const users = {
  list: endpoint({
    id: 'get-users',
    route: 'GET /users',
    summary: 'List users and bots, including deactivated ones',
    params: { ...reading, user_ids: optional(listOf(userId), 'only these users; unknown IDs are skipped') },
    reply: { members: listOf(record(userFields)) },
    cli: {
      name: 'users list',
      flags: { user_ids: 'only' },
      examples: ['natter users list', 'natter users list --only amy@example.com --json'],
      columns: ['user_id', 'full_name', 'email', 'role', 'is_active', 'is_bot'],
    },
  }),
  show: endpoint({
    id: 'get-user',
    route: 'GET /users/{user_id}',
    summary: 'Show one user',
    params: { user_id: inPath(userId, 'the user'), ...reading },
    reply: { user: record(userFields) },
    cli: {
      name: 'users show',
      examples: ['natter users show amy@example.com', 'natter users show id:9 --include-custom-profile-fields --json'],
    },
  }),
  showByEmail: endpoint({
    id: 'get-user-by-email',
    route: 'GET /users/{email}',
    since: 39,
    summary: 'Show the user with this email address',
    params: { email: inPath(text, 'the real or API email address'), ...reading },
    reply: { user: record(userFields) },
    cli: {
      name: 'users show-by-email',
      examples: ['natter users show-by-email amy@example.com', 'natter users show-by-email user9@example.com --json'],
    },
  }),
  me: endpoint({
    id: 'get-own-user',
    route: 'GET /users/me',
    summary: 'Show your own account',
    reply: { ...userFields, max_message_id: int },
    cli: { name: 'users me', examples: ['natter users me', 'natter users me --json'] },
  }),
  create: endpoint({
    id: 'create-user',
    route: 'POST /users',
    callers: 'administrators',
    summary: 'Create an account (administrators with the can_create_users flag)',
    params: {
      email: required(text, 'the email address'),
      password: required(secret, 'the password'),
      full_name: required(text, 'the full name, 2 to 100 characters'),
    },
    reply: { user_id: int },
    cli: {
      name: 'users create',
      done: 'created user {email} (ID {user_id})',
      args: ['email', 'full_name'],
      examples: [
        'natter users create zoe@example.com "Zoe Zimmer"',
        'natter users create eve@example.com "Eve Evans" --password "battery staple" --json',
      ],
    },
  }),
  update: endpoint({
    id: 'update-user',
    route: 'PATCH /users/{user_id}',
    summary: "Edit a user's name, role, profile or email address (administrators)",
    params: { user_id: inPath(userId, 'the user'), ...changes },
    refusals: ['UNAUTHORIZED_PRINCIPAL'],
    cli: {
      name: 'users edit',
      done: 'edited user {user_id}',
      examples: [
        'natter users edit amy@example.com --role moderator',
        'natter users edit id:9 --full-name "Amy Baker" --json',
      ],
    },
  }),
  updateByEmail: endpoint({
    id: 'update-user-by-email',
    route: 'PATCH /users/{email}',
    since: 313,
    summary: 'Edit the user with this email address (administrators)',
    params: { email: inPath(text, 'the real or API email address'), ...changes },
    refusals: ['UNAUTHORIZED_PRINCIPAL'],
    cli: {
      name: 'users edit-by-email',
      done: 'edited user {email}',
      examples: [
        'natter users edit-by-email amy@example.com --role 300',
        'natter users edit-by-email user9@example.com --full-name "Amy Baker" --json',
      ],
    },
  }),
  deactivate: endpoint({
    id: 'deactivate-user',
    mails: 'notice',
    route: 'DELETE /users/{user_id}',
    summary: 'Deactivate a user (administrators)',
    params: {
      user_id: inPath(userId, 'the user'),
      deactivation_notification_comment: optional(
        text,
        'text of a mail that informs the user; an empty text sends the mail without it',
      ),
      actions: optional(
        record({
          delete_profile: maybe(bool),
          delete_public_channel_messages: maybe(bool),
          delete_private_channel_messages: maybe(bool),
          delete_direct_messages: maybe(bool),
        }),
        'what else to delete, of the bots of the user too: the name and the avatar, or messages that they sent',
        { since: 459 },
      ),
    },
    refusals: ['UNAUTHORIZED_PRINCIPAL'],
    cli: {
      name: 'users deactivate',
      done: 'deactivated user {user_id}',
      destroys: { question: 'Deactivate the user {user_id}?', when: 'typed' },
      flags: { deactivation_notification_comment: 'comment' },
      examples: [
        'natter users deactivate amy@example.com',
        'natter users deactivate id:7 --comment "Thank you for everything." --json',
      ],
    },
  }),
  deactivateSelf: endpoint({
    id: 'deactivate-own-user',
    route: 'DELETE /users/me',
    summary: 'Deactivate your own account',
    refusals: ['CANNOT_DEACTIVATE_LAST_USER'],
    cli: {
      name: 'users deactivate-me',
      done: 'deactivated your account; an administrator can reactivate it',
      destroys: { question: 'Deactivate your own account?' },
      examples: ['natter users deactivate-me', 'natter users deactivate-me --json'],
    },
  }),
  reactivate: endpoint({
    id: 'reactivate-user',
    route: 'POST /users/{user_id}/reactivate',
    summary: 'Reactivate a user (administrators) or your own bot',
    params: { user_id: inPath(userId, 'the user') },
    cli: {
      name: 'users reactivate',
      done: 'reactivated user {user_id}',
      examples: ['natter users reactivate amy@example.com', 'natter users reactivate id:9 --json'],
    },
  }),
  fetchApiKey: endpoint({
    id: 'fetch-api-key',
    route: 'POST /fetch_api_key',
    login: { password: 'password', account: 'username' },
    access: 'anyone',
    summary: 'Get your API key with your email address and password',
    params: {
      username: required(text, 'your real email address'),
      password: required(secret, 'your password'),
    },
    reply: { api_key: text, email: text, user_id: int },
    refusals: ['AUTHENTICATION_FAILED', 'PASSWORD_AUTH_DISABLED'],
    cli: {
      name: 'users key',
      args: ['username'],
      examples: [
        'natter users key zoe@example.com',
        'natter users key zoe@example.com --password "correct horse" --json',
      ],
      shows: 'api_key',
    },
  }),
}
