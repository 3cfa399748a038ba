// `natter seed dump`: an organization as a seed file, written piece by piece. `natter seed pull` is in a folder of its own.

import { note } from '../../base/note.ts'
import type { ExtraSubcommand } from '../../base/subcommand.ts'
import { printBytes } from '../../base/writer.ts'
import { Progress } from '../../terminal/progress.ts'
import {
  demandOutline,
  downloadControl,
  downloadTimeout,
  limitSize,
  maxSize,
  saveAs,
  seedOutline,
  sizeIn,
} from '../../transport/download.ts'
import { seedPull } from './seed-pull/index.ts'

const newline = 0x0a

export const subcommands: readonly ExtraSubcommand[] = [
  {
    name: 'seed dump',
    about: 'Write the organization of a daemon as a seed that founds the same organization',
    args: [
      { name: 'file', about: 'the file to write, - for stdout; an existing one is replaced' },
      { name: 'name', about: 'a snapshot, or start; default: now', optional: true },
    ],
    flags: [maxSize],
    globals: ['quiet', 'site', 'profile', 'ready-file', 'control-token', 'timeout'],
    more: `The seed holds every row of the organization, one a line, and its uploads. natterd --seed FILE founds it, and so do spaces and
natter/testing. Other sections of a seed can be added to it by hand: users, channels, messages and steps come on top. Password hashes are
in it, API keys are not.`,
    examples: ['natter seed dump world.json', 'natter seed dump before.json before'],
    async run({ args, flags, globals }) {
      const [file, name = 'now'] = args as readonly [string, string?]
      const path = `/control/v1/snapshots/${encodeURIComponent(name)}/seed`
      const options = { timeout: globals.timeout ?? downloadTimeout }
      const answer = limitSize(downloadControl(globals, path, options), sizeIn(flags['max-size']))
      const pieces = demandOutline(answer, seedOutline)
      if (file === '-') {
        for await (const piece of pieces) await printBytes(Buffer.from(piece))
        return
      }
      const progress = new Progress(undefined, globals, 'row')
      await saveAs(file, countRows(pieces, progress))
      progress.end()
      note(`wrote ${file}`)
    },
  },
  seedPull,
]

/** Rows are lines. */
async function* countRows(pieces: AsyncIterable<Uint8Array>, progress: Progress): AsyncGenerator<Uint8Array> {
  for await (const bytes of pieces) {
    for (let at = bytes.indexOf(newline); at >= 0; at = bytes.indexOf(newline, at + 1)) progress.step(false)
    yield bytes
  }
}
