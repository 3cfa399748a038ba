// `natter keep DIR`: everything that explains a failure, in one folder that `natter exec --resume DIR` starts from.

import { join } from 'node:path'
import { type FailedRun, type FailureReport, failureFiles, type TextFile } from '../../../daemon/local/failure-files.ts'
import { forgetFailure, refuseOthers, writeFailure } from '../../../daemon/local/failure-folder.ts'
import { makeFolderInside } from '../../../daemon/local/plain-files.ts'
import { exitCodes, Failure } from '../../base/failure.ts'
import type { Globals } from '../../base/globals.ts'
import { note } from '../../base/note.ts'
import type { ExtraSubcommand } from '../../base/subcommand.ts'
import { callControlPlane } from '../../transport/control.ts'
import {
  demandOutline,
  downloadControl,
  limitSize,
  maxSize,
  sizeIn,
  snapshotOutline,
} from '../../transport/download.ts'
import { type ShownSpace, spaceAt } from './spaces.ts'

const callOptions = { timeout: 120_000 }

export const subcommands: readonly ExtraSubcommand[] = [
  {
    name: 'keep',
    about: 'Write calls, events, queues, clock and a snapshot of a daemon and its spaces to a folder',
    args: [{ name: 'folder', about: 'the folder; it is created if needed' }],
    flags: [maxSize],
    globals: ['quiet', 'site', 'profile', 'ready-file', 'control-token', 'timeout'],
    more: 'natter exec --resume FOLDER starts a daemon from it. natter exec --on-failure FOLDER does the same when a command fails.',
    examples: ['natter keep failure', 'natter keep "$RUNNER_TEMP/natter" --ready-file ready.json'],
    async run({ args: [folder], flags, globals }) {
      await keepFailure(folder!, globals, { what: 'natter keep' }, [], sizeIn(flags['max-size']))
      note(`wrote ${folder}`)
    },
  },
]

/**
 * Keeps the daemon, and every space of it in spaces/NAME. `more` are files that the daemon does not have: its log, its seed.
 * Returns the folders of the spaces.
 */
export async function keepFailure(
  folder: string,
  daemon: Partial<Globals>,
  run: Omit<FailedRun, 'version'>,
  more: readonly TextFile[] = [],
  largest = sizeIn(undefined),
): Promise<string[]> {
  const spaces = await listSpaces(daemon)
  await keepOne(folder, daemon, run, largest, more)
  const kept: string[] = []
  for (const shown of spaces) {
    const { name, url, control_token } = spaceAt(daemon, shown)
    const inside = join(folder, 'spaces', name)
    await writing(folder, () => makeFolderInside(folder, inside))
    await keepOne(
      inside,
      { site: url, controlToken: control_token },
      { ...run, what: `${run.what} (space ${name})` },
      largest,
    )
    kept.push(inside)
  }
  return kept
}

/** Before a run that may keep its failure in the folder. */
export async function prepareFolder(folder: string): Promise<void> {
  await writing(folder, () => {
    refuseOthers(folder)
    forgetFailure(folder)
  })
}

/** A space has no spaces; other errors come again with the next call. */
async function listSpaces(daemon: Partial<Globals>): Promise<readonly ShownSpace[]> {
  try {
    const { spaces } = await callControlPlane(daemon, { method: 'GET', path: '/control/v1/spaces' }, callOptions)
    return spaces as ShownSpace[]
  } catch (error) {
    if (error instanceof Failure) return []
    throw error
  }
}

async function keepOne(
  folder: string,
  daemon: Partial<Globals>,
  run: Omit<FailedRun, 'version'>,
  largest: number,
  more?: readonly TextFile[],
): Promise<void> {
  const report = await callControlPlane(daemon, { method: 'GET', path: '/control/v1/report' }, callOptions)
  const version = String(report.version)
  const files = failureFiles({ version, ...run }, report as unknown as FailureReport, more)
  const answer = limitSize(downloadControl(daemon, '/control/v1/snapshots/now/file', callOptions), largest)
  const snapshot = demandOutline(answer, snapshotOutline)
  await writing(folder, () => writeFailure(folder, files, snapshot))
}

async function writing(folder: string, work: () => void | Promise<void>): Promise<void> {
  try {
    await work()
  } catch (error) {
    if (error instanceof Failure) throw error
    throw new Failure(exitCodes.refused, `cannot write ${folder}: ${(error as Error).message}`)
  }
}
