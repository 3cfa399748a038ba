// Accounts with their API keys.

import { controlEndpoint } from '../control-endpoint.ts'
import { int, listOf, maybe, optional, record, text } from '../define.ts'
import { account as accountName } from '../shapes/control.ts'

const account = record({ user_id: int, email: text, full_name: text, api_key: text })

export const accounts = {
  list: controlEndpoint({
    id: 'list-accounts',
    route: 'GET /accounts',
    also: ['/accounts/{name}'],
    summary: 'List all active accounts with their API keys, or one account',
    params: { name: optional(accountName, 'an email address, the part of it before the @, or a user ID') },
    reply: { accounts: maybe(listOf(account)), account: maybe(account) },
    cli: {
      name: 'accounts',
      args: ['name'],
      examples: ['natter accounts', 'natter accounts amy --jq .account.api_key'],
    },
  }),
}
