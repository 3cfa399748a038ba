// API keys: a new one for yourself, and anyone's on a development server.

import { endpoint, int, listOf, record, required, text } from '../define.ts'

const account = record({ email: text, realm_url: text })

export const keys = {
  regenerate: endpoint({
    id: 'regenerate-api-key',
    route: 'POST /users/me/api_key/regenerate',
    summary: 'Generate a new API key for yourself; the old key stops working',
    reply: { api_key: text },
    cli: {
      name: 'keys regenerate',
      examples: ['natter keys regenerate', 'natter keys regenerate --json'],
      shows: 'api_key',
    },
  }),
  devFetch: endpoint({
    id: 'dev-fetch-api-key',
    route: 'POST /dev_fetch_api_key',
    access: 'anyone',
    summary: 'Get anyone’s API key without a password (only with --dev-auth)',
    params: { username: required(text, 'the real email address') },
    reply: { api_key: text, email: text, user_id: int },
    refusals: ['AUTHENTICATION_FAILED'],
    cli: {
      name: 'keys dev-fetch',
      examples: ['natter keys dev-fetch amy@example.com', 'natter keys dev-fetch amy@example.com --json'],
      shows: 'api_key',
    },
  }),
  devUsers: endpoint({
    id: 'dev-list-users',
    route: 'GET /dev_list_users',
    access: 'anyone',
    summary: 'List the accounts that can log in without a password (only with --dev-auth)',
    reply: { direct_admins: listOf(account), direct_users: listOf(account) },
    cli: { name: 'keys dev-users', examples: ['natter keys dev-users', 'natter keys dev-users --json'] },
  }),
}
