// `natter env`: the server and the account as variables for a shell, for eval "$(natter env ready.json)".

import { accountVariables } from '../../../daemon/local/profiles.ts'
import { formatFlags, type Globals } from '../../base/globals.ts'
import { readOnlyVariable } from '../../base/limits.ts'
import { note } from '../../base/note.ts'
import { accountFor, controlTokenFor, readReadyFile } from '../../base/profile.ts'
import type { ExtraSubcommand } from '../../base/subcommand.ts'
import { print } from '../../base/writer.ts'
import { printFormatted } from '../../print/output.ts'
import { requireSite } from '../../transport/client.ts'
import { findAccount } from '../../transport/control.ts'

export const subcommands: readonly ExtraSubcommand[] = [
  {
    name: 'env',
    about: 'Print the server and the account as variables for a shell to evaluate',
    args: [
      {
        name: 'ready-file',
        about: 'the ready file of a daemon; default: the current server and account',
        optional: true,
      },
    ],
    flags: [{ name: 'as', value: 'ACCOUNT', about: 'print the variables of this account, by name, email or ID' }],
    globals: [...formatFlags, 'quiet', 'site', 'user', 'api-key', 'profile', 'ready-file', 'control-token', 'timeout'],
    more: `Sets NATTER_SITE, NATTER_EMAIL, NATTER_API_KEY, the same as ZULIP_*, and NATTER_USER_ID and NATTER_CONTROL_TOKEN where they
are known. With --as the control token is empty, because it opens every account, and natter does not take that of a profile either.
The output contains secrets.`,
    examples: ['eval "$(natter env ready.json)"', 'eval "$(natter env ready.json --as echo-bot)"', 'natter env --json'],
    async run({ args, flags, globals }) {
      const file = args[0] ?? globals.readyFile
      const as = (flags.as as string | undefined) ?? globals.as
      const variables = await collectVariables({ ...globals, ...(file && { readyFile: file }) }, as)
      const known = variables.filter(([, value]) => value !== undefined)
      if (await printFormatted(Object.fromEntries(known), globals)) return
      const lines = variables.map(([name, value]) =>
        value === undefined ? `unset ${name}` : `export ${name}=${quote(value)}`,
      )
      print(`${lines.join('\n')}\n`)
    },
  },
]

/** A variable without a value is unset: it may still have that of another account. */
async function collectVariables(globals: Globals, as: string | undefined): Promise<[string, string | undefined][]> {
  const account = accountFor(globals, process.env)
  const site = requireSite(account)
  if (account.limits?.channels ?? account.limits?.noDirect)
    note(`the limits of ${account.limits?.from} on channels do not apply to programs that use this key`)
  const found = as === undefined ? undefined : await findAccount(globals, as, '--as')
  const email = found?.email ?? account.email
  const owner = globals.readyFile ? readReadyFile(globals.readyFile).owner : undefined
  const id = found?.user_id ?? (owner?.email === email ? owner?.user_id : undefined)
  const values = { SITE: site, EMAIL: email, API_KEY: found?.api_key ?? account.apiKey }
  const token = found ? '' : controlTokenFor(globals, process.env, account)
  return [
    ...accountVariables(values),
    ['NATTER_USER_ID', id === undefined ? undefined : String(id)],
    ['NATTER_CONTROL_TOKEN', token],
    ...(account.limits?.readOnly ? [[readOnlyVariable, '1'] as [string, string]] : []),
  ]
}

function quote(value: string): string {
  return `'${value.replaceAll("'", "'\\''")}'`
}
