// `natter search WORDS`: the messages that contain them, newest last.

import { messages } from '../../../daemon/api/messages/messages.ts'
import type { ExtraSubcommand } from '../../base/subcommand.ts'
import { callEndpoint } from '../../catalogue/call.ts'
import { everydayFlags } from '../../catalogue/everyday.ts'

const filters = everydayFlags(messages.list).filter(({ name }) => name !== 'search')

export const subcommands: readonly ExtraSubcommand[] = [
  {
    name: 'search',
    about: 'Find messages by their words',
    args: [{ name: 'words', about: 'all of them must be in the message', many: true }],
    flags: filters,
    examples: ['natter search pizza', 'natter search release notes --channel general -n 50'],
    async run({ args, flags, globals }) {
      const given = Object.entries(flags).map(([name, value]) => [`@${name}`, value as string | boolean] as const)
      await callEndpoint(messages.list, new Map([...given, ['@search', args.join(' ')]]), globals)
    },
  },
]
