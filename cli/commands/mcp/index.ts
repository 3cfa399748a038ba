// `natter mcp`: serves the tools of daemon/mcp to an agent on stdin and stdout.

import { didYouMean } from '../../../daemon/local/did-you-mean.ts'
import { usage } from '../../base/failure.ts'
import { formatFlags } from '../../base/globals.ts'
import { type Limits, limitRefusal } from '../../base/limits.ts'
import { note } from '../../base/note.ts'
import { accountFor, controlTokenFor, demandKey } from '../../base/profile.ts'
import type { ExtraSubcommand } from '../../base/subcommand.ts'
import { version } from '../../base/version.ts'
import { printReply } from '../../print/output.ts'
import { fetchOptions } from '../limited-fetch.ts'

const toolsets = ['read', 'write', 'control', 'api'] as const
type Toolset = (typeof toolsets)[number]

export const subcommands: readonly ExtraSubcommand[] = [
  {
    name: 'mcp',
    about: 'Serve chat to an agent over the Model Context Protocol, on stdin and stdout',
    flags: [
      {
        name: 'toolsets',
        value: 'NAMES',
        about: 'read (the default), write, control, api; separate several with commas',
      },
      { name: 'list', about: 'list the tools instead' },
    ],
    globals: [...formatFlags, 'site', 'profile', 'ready-file', 'control-token', 'user', 'api-key', 'as'],
    more: `An agent starts it; see docs/agents.md for its configuration. It acts as the account that \`natter whoami\` shows, on any server of the
family. Without --toolsets it reads only. control needs a Natter with an open control plane, and api calls any endpoint by its name.`,
    examples: [
      'natter mcp',
      'natter mcp --toolsets read,write --profile bot',
      'natter mcp --toolsets read,write,control,api --list',
    ],
    async run({ flags, globals }) {
      const chosen = toolsetsIn(flags.toolsets as string | undefined)
      // Its code is that of a subcommand, which /mcp of a daemon does not have.
      const more = chosen.includes('control') ? [(await import('./trigger-tool.ts')).triggerTool(globals)] : []
      const { chatOver, serveOnStdio, loadTools } = await import('../../../daemon/mcp/index.ts')
      if (flags.list) {
        const tools = [...(await loadTools(chosen)), ...more].map(({ name, toolset, impact, description }) => ({
          name,
          toolset,
          impact,
          description,
        }))
        return printReply({ tools }, { shows: 'tools' }, globals)
      }
      const account = accountFor(globals, process.env)
      demandKey(account)
      const controlToken = controlTokenFor(globals, process.env, account)
      refuseToolsets(chosen, account.limits)
      const chat = chatOver({
        site: account.site!,
        email: account.email!,
        apiKey: account.apiKey!,
        client: `natter-mcp/${version()}`,
        ...(await fetchOptions(account)),
        ...(controlToken !== undefined && { controlToken }),
      })
      if (process.stdin.isTTY) note('natter mcp waits for an agent on stdin; Ctrl-C ends it')
      serveOnStdio({ chat, toolsets: chosen, more }, error => note(`ignored: ${error.message}`))
      await new Promise(resolve => process.stdin.once('close', resolve))
    },
  },
]

/** Tools that a limit rules out are not offered: an agent would try them. */
function refuseToolsets(chosen: readonly Toolset[], limits: Limits | undefined): void {
  if (limits?.readOnly && chosen.includes('write'))
    throw limitRefusal(limits, 'read-only', '--toolsets: write changes something')
  const closed = limits?.channels ? 'channels' : limits?.noDirect ? 'no-direct' : undefined
  if (closed && chosen.includes('control'))
    throw limitRefusal(limits!, closed, '--toolsets: control opens every account')
}

function toolsetsIn(text: string | undefined): Toolset[] {
  const names = (text ?? 'read').split(',').map(name => name.trim())
  for (const name of names)
    if (!toolsets.includes(name as Toolset))
      throw usage(
        `--toolsets: there is no toolset "${name}"`,
        didYouMean(name, toolsets) ?? `There is ${toolsets.join(', ')}.`,
      )
  return names as Toolset[]
}
