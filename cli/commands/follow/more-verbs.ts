// Verbs that no endpoint describes, of nouns that the catalogue has: `messages export`, `uploads download`. Only what their help
// needs is here, because every subcommand of these nouns loads it.

import { messages } from '../../../daemon/api/messages/messages.ts'
import { accountFlags, formatFlags } from '../../base/globals.ts'
import type { ExtraSubcommand } from '../../base/subcommand.ts'
import { everydayFlags } from '../../catalogue/everyday.ts'

const globals = [...formatFlags, 'quiet', 'color', ...accountFlags, 'timeout', 'retry']

const filters = everydayFlags(messages.list).filter(({ name }) => name !== 'lines' && name !== 'all')

export const subcommands: readonly ExtraSubcommand[] = [
  {
    name: 'messages export',
    about: 'Save messages and the files they link to in a folder; a second run continues',
    args: [{ name: 'folder', about: 'where to save them; it is created if needed' }],
    flags: [
      ...filters,
      { name: 'narrow', value: 'TERMS', about: 'only messages that match: channel:general is:starred' },
      { name: 'format', value: 'FORMAT', about: 'md also writes messages.md, to read or to publish (default ndjson)' },
      { name: 'skip-files', about: 'leave out the files' },
      { name: 'max-size', value: 'MIB', about: 'leave out files that are larger (default 1024)' },
    ],
    globals,
    more: `The folder gets messages.ndjson, one message per line, the oldest first; files/, with every file under the path that follows
/user_uploads/ in its links; and export.json, which says what was asked for. With --format md, every run also writes messages.md. Run the same command again to continue after an
interruption, or to add new messages later. Messages that were saved are not fetched again, so later edits are not in them.`,
    examples: [
      'natter messages export backup',
      'natter messages export lunch --channel general --topic lunch --since 2030-01-01 --skip-files',
      'natter messages export minutes --channel general --format md',
    ],
    run: async call => (await import('./export.ts')).exportMessages(call),
  },
  {
    name: 'topics rename',
    about: 'Rename a topic: move all of its messages to another topic of its channel',
    args: [
      { name: 'topic', about: "the topic, such as '#general>lunch'" },
      { name: 'name', about: 'its new name' },
    ],
    flags: [
      { name: 'notify-old', about: 'post a notice in the old topic' },
      { name: 'silent', about: 'do not post a notice in the new topic' },
    ],
    examples: [
      "natter topics rename '#general>lunch' dinner",
      "natter topics rename '#general>lunch' '✔ lunch' --silent",
    ],
    run: async call => (await import('./rename-topic.ts')).renameTopic(call),
  },
  {
    name: 'uploads download',
    about: 'Save an uploaded file on this machine',
    args: [{ name: 'file', about: 'its path or address, as uploads create and messages have it, or its path_id' }],
    flags: [
      { name: 'output', short: 'o', value: 'FILE', about: 'where to save it (default: its name); `-` is stdout' },
      { name: 'max-size', value: 'MIB', about: 'the largest file to save (default 1024)' },
    ],
    globals: [...globals, 'yes'],
    examples: [
      'natter uploads download /user_uploads/1/4f/0a9c5b1e/report.pdf',
      'natter uploads download /user_uploads/1/4f/0a9c5b1e/report.pdf -o - | less',
    ],
    run: async call => (await import('./download.ts')).downloadUpload(call),
  },
]
