// `natter record FILE`: writes the calls of clients and their answers, until Ctrl-C or the end of a command.

import { type FileHandle, open, rm } from 'node:fs/promises'
import { refuseDevice } from '../../../daemon/local/atomic-file.ts'
import { Ending, exitCodes, Failure } from '../../base/failure.ts'
import type { Globals } from '../../base/globals.ts'
import { note } from '../../base/note.ts'
import { nextSignal } from '../../base/signals.ts'
import type { ExtraSubcommand } from '../../base/subcommand.ts'
import { callControlPlane } from '../../transport/control.ts'
import {
  demandOutline,
  downloadControl,
  limitSize,
  maxSize,
  recordingOutline,
  sizeIn,
} from '../../transport/download.ts'
import { runChild } from './child.ts'

/** A recording has no deadline. */
const recordingTimeout = 86_400_000

export const subcommands: readonly ExtraSubcommand[] = [
  {
    name: 'record',
    about: 'Write every call of a daemon with its answer to a file, until Ctrl-C or until a command ends',
    args: [{ name: 'file', about: 'the file to write, lines of JSON; an existing one is replaced' }],
    runs: true,
    flags: [maxSize],
    globals: ['quiet', 'site', 'profile', 'ready-file', 'control-token'],
    more: `natter record FILE -- COMMAND records while the command runs, and ends with its exit code. Events are in the answers of polls. API
keys, tokens and passwords are hidden. The last line says that the recording is complete. natter replay FILE plays it again.`,
    examples: ['natter record talk.ndjson', 'natter exec --preset dev -- natter record talk.ndjson -- npm test'],
    async run({ args: [file], rest = [], flags, globals }) {
      const { recorded, began } = recordTo(file!, globals, sizeIn(flags['max-size']))
      // Until the first line is there, calls would be missed.
      await Promise.race([began, recorded])
      const code = rest.length === 0 ? await waitForInterrupt(recorded) : await runChild(rest, process.env)
      await callControlPlane(globals, { method: 'DELETE', path: '/control/v1/recording' })
      const { calls, isComplete } = await recorded
      note(`wrote ${file}, ${calls} ${calls === 1 ? 'call' : 'calls'}`)
      if (calls === 0 && rest.length > 0)
        note('the command did not call this daemon; a test that uses startNatter() has a daemon of its own')
      const incomplete = `${file} is not complete: the daemon answered calls faster than they were written`
      if (!isComplete && code === exitCodes.done)
        throw new Failure(exitCodes.refused, incomplete, {
          hint: 'Record fewer calls at a time, or write to a faster disk.',
        })
      if (!isComplete) note(incomplete)
      if (code !== exitCodes.done) throw new Ending(code)
    },
  },
]

interface Recorded {
  readonly calls: number
  readonly isComplete: boolean
}

/** Written line by line, so that a recording that is interrupted has everything up to that point. */
function recordTo(
  file: string,
  globals: Globals,
  largest: number,
): { recorded: Promise<Recorded>; began: Promise<void> } {
  let begin = () => {}
  const began = new Promise<void>(resolve => {
    begin = resolve
  })
  const recorded = (async () => {
    let output: FileHandle | undefined
    let lines = 0
    let end = ''
    const recording = downloadControl(globals, '/control/v1/recording', { timeout: recordingTimeout })
    try {
      for await (const bytes of demandOutline(limitSize(recording, largest), recordingOutline)) {
        // Not before: without a daemon that records, an earlier recording stays as it is.
        output ??= await openNew(file)
        await output.appendFile(bytes)
        const text = String(Buffer.from(bytes))
        lines += text.split('\n').length - 1
        end = (end + text).slice(-100)
        begin()
      }
    } catch (error) {
      if (error instanceof Failure) throw error
      throw new Failure(exitCodes.refused, `cannot write ${file}: ${(error as Error).message}`)
    } finally {
      await output?.close()
    }
    // Neither the first line nor the last is a call.
    return { calls: Math.max(0, lines - 2), isComplete: /\{"end":\d+\}\n$/.test(end) }
  })()
  recorded.catch(() => {})
  return { recorded, began }
}

/** In the place of an earlier file, or of a link, which may lead to another file of the user. */
async function openNew(file: string): Promise<FileHandle> {
  refuseDevice(file)
  await rm(file, { force: true })
  return open(file, 'wx', 0o600)
}

async function waitForInterrupt(recorded: Promise<unknown>): Promise<number> {
  const interrupted = nextSignal('SIGINT', 'SIGTERM')
  note('recording until Ctrl-C')
  await Promise.race([interrupted, recorded])
  return exitCodes.done
}
