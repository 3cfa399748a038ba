// `natter snapshot export`: a snapshot as a file, written piece by piece under its name only when it is complete.

import { note } from '../../base/note.ts'
import type { ExtraSubcommand } from '../../base/subcommand.ts'
import {
  demandOutline,
  downloadControl,
  downloadTimeout,
  limitSize,
  maxSize,
  saveAs,
  sizeIn,
  snapshotOutline,
} from '../../transport/download.ts'

export const subcommands: readonly ExtraSubcommand[] = [
  {
    name: 'snapshot export',
    about: 'Write a snapshot to a file that is complete by itself',
    args: [
      { name: 'file', about: 'the file to write; an existing one is replaced' },
      { name: 'name', about: 'the snapshot, or start; default: now', optional: true },
    ],
    flags: [maxSize],
    globals: ['quiet', 'site', 'profile', 'ready-file', 'control-token', 'timeout'],
    more: `The file holds the organization, its uploads and the clock, and neither API keys nor the secret of the daemon. Password hashes are in
it. natter snapshot import reads it into a running daemon, natterd --memory --from FILE starts with it.`,
    examples: ['natter snapshot export world.json', 'natter snapshot export before.json before'],
    async run({ args, flags, globals }) {
      const [file, name = 'now'] = args as readonly [string, string?]
      const path = `/control/v1/snapshots/${encodeURIComponent(name)}/file`
      const pieces = downloadControl(globals, path, { timeout: globals.timeout ?? downloadTimeout })
      await saveAs(file, demandOutline(limitSize(pieces, sizeIn(flags['max-size'])), snapshotOutline))
      note(`wrote ${file}`)
    },
  },
]
