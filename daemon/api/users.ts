// Users: the people and bots of the organization.

import { bool, endpoint, int, keyed, maybe, nullable, record, required, text } from './define.ts'

export const profileValue = record({ value: text, rendered_value: maybe(text) })

export const userFields = {
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
  role: int,
  timezone: text,
  avatar_url: maybe(nullable(text)),
  avatar_version: int,
  profile_data: maybe(keyed(profileValue)),
}

export const users = {
  me: endpoint({
    id: 'get-own-user',
    method: 'GET',
    path: '/users/me',
    access: 'user',
    since: 1,
    summary: 'Show your own account',
    params: {},
    reply: { ...userFields, max_message_id: int },
    refusals: [],
    cli: { name: 'users me', examples: ['natter users me', 'natter users me --json'] },
  }),
  create: endpoint({
    id: 'create-user',
    method: 'POST',
    path: '/users',
    access: 'user',
    since: 1,
    summary: 'Create an account (administrators with the can_create_users flag)',
    params: {
      email: required(text, 'the new user’s email address'),
      password: required(text, 'their password'),
      full_name: required(text, 'their name, 2 to 100 characters'),
    },
    reply: { user_id: int },
    refusals: ['BAD_REQUEST', 'UNAUTHORIZED_PRINCIPAL'],
    cli: {
      name: 'users create',
      args: ['email', 'full_name'],
      examples: [
        'natter users create amy@example.com "Amy Adams" --password "correct horse"',
        'natter users create bob@example.com "Bob Brown" --password "battery staple" --json',
      ],
    },
  }),
  fetchApiKey: endpoint({
    id: 'fetch-api-key',
    method: 'POST',
    path: '/fetch_api_key',
    access: 'anyone',
    since: 1,
    summary: 'Get your API key for your email address and password',
    params: {
      username: required(text, 'your real email address'),
      password: required(text, 'your password'),
    },
    reply: { api_key: text, email: text, user_id: int },
    refusals: ['BAD_REQUEST', 'AUTHENTICATION_FAILED'],
    cli: {
      name: 'users key',
      args: ['username'],
      examples: [
        'natter users key amy@example.com --password "correct horse"',
        'natter users key amy@example.com --password "correct horse" --json',
      ],
      shows: 'api_key',
    },
  }),
}
