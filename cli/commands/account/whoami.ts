// `natter whoami`: the account that a subcommand would use, as the server knows it.

import { users } from '../../../daemon/api/people/users.ts'
import { accountFor, demandKey } from '../../base/profile.ts'
import type { ExtraSubcommand } from '../../base/subcommand.ts'
import { printReply } from '../../print/output.ts'
import { call, demandUser } from '../../transport/client.ts'

export const subcommands: readonly ExtraSubcommand[] = [
  {
    name: 'whoami',
    about: 'Show the account that subcommands use, the server, and where the key comes from',
    examples: ['natter whoami', 'natter whoami --as echo-bot', 'natter whoami --jq .email'],
    async run({ globals }) {
      const account = accountFor(globals, process.env)
      demandKey(account)
      const request = { method: 'GET', path: '/api/v1/users/me', fields: new Map<string, string>() }
      if (globals.dryRun || globals.curl)
        return (await import('../../print/request-text.ts')).printRequest(account, request, globals)
      const me = await call(account, request, globals)
      demandUser(me, account.site)
      const { full_name, user_id, role, is_bot } = me
      const known = { full_name, email: account.email, user_id, role, is_bot }
      const view = { shapes: users.me.reply }
      await printReply({ ...known, site: account.site, key_from: account.from.apiKey }, view, globals)
    },
  },
]
