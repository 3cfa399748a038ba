// `natter seed pull`: what an account may see of a server, as a seed for a daemon of your own.

import { accountFlags } from '../../../base/globals.ts'
import type { ExtraSubcommand } from '../../../base/subcommand.ts'

export const seedPull: ExtraSubcommand = {
  name: 'seed pull',
  about: 'Read people, groups, channels and settings of a server into a seed file, with made-up names',
  args: [{ name: 'file', about: 'the seed to write, in JSON' }],
  flags: [
    { name: 'channel', value: 'NAME', about: 'also the messages of this channel (repeatable)', repeatable: true },
    { name: 'messages', value: 'N', about: 'how many of the newest messages of each channel (default 1000)' },
    { name: 'keep-names', about: 'keep the real names and addresses' },
    {
      name: 'salt-file',
      value: 'FILE',
      about: 'give the same made-up names as other pulls with this file; it is made if needed',
    },
    { name: 'force', about: 'the same as --yes: replace the file if it exists' },
  ],
  globals: ['json', 'quiet', ...accountFlags, 'timeout', 'yes'],
  more: `Works with any server of the API family, and reads what the account may see: no direct messages, no keys, no uploaded files.
Of the settings it takes those that no person or message of the seed could break, and none that name a group or a channel.
Names and email addresses are replaced by made-up ones, the same one for the same person everywhere: in accounts, mentions and
texts. Each pull makes up other names, unless --salt-file names a file; keep that file to yourself, since who has it can find out
whose names they were. In texts, nicknames, first names of two Latin letters, parts of names written without spaces and other personal data
stay; read the seed before you share it. One call is made at a time, and rate limits are respected. If the pull is interrupted, run the same command again: what was read is in FILE.partial, under the real names.`,
  examples: [
    'natter seed pull team.json --site https://chat.example.com --user me@example.com',
    'natter seed pull team.json --channel general --channel random --messages 500',
  ],
  run: async call => (await import('./pull.ts')).pullSeed(call),
}
