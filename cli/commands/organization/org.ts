// The verb of `org` that no endpoint describes. Only what its help needs is here, because every subcommand of `org` loads it.

import { accountFlags, formatFlags } from '../../base/globals.ts'
import type { ExtraSubcommand } from '../../base/subcommand.ts'

export const subcommands: readonly ExtraSubcommand[] = [
  {
    name: 'org export',
    about: 'Make an archive of the organization and save it on this machine (administrators)',
    args: [
      {
        name: 'file',
        about: 'where to save it (default: the name it has on the server); `-` is stdout',
        optional: true,
      },
    ],
    flags: [
      { name: 'private', about: 'also the private data of people who allow it; `natter exports consents` lists them' },
      { name: 'within', value: 'TIME', about: 'give up after this long (default 10m)' },
      { name: 'max-size', value: 'MIB', about: 'the largest archive to save (default 1024)' },
    ],
    globals: [...formatFlags, 'quiet', ...accountFlags, 'timeout', 'yes'],
    more: 'natterd --import FILE begins an empty store with the archive. docs/export.md describes both.',
    examples: ['natter org export', 'natter org export move.tar.gz --private'],
    run: async call => (await import('./org-export.ts')).exportOrganization(call),
  },
]
