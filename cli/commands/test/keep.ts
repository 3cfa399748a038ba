// `natter keep DIR`: everything that explains a failure, in one folder that `natter exec --resume DIR` starts from.

import { existsSync, mkdirSync, readdirSync, rmdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { writeFileAtomically } from '../../../daemon/local/atomic-file.ts'
import {
  type FailedRun,
  type FailureReport,
  failureFiles,
  isKeptName,
  runName,
  snapshotName,
} from '../../../daemon/local/failure-files.ts'
import { exitCodes, Failure } from '../../base/failure.ts'
import type { Globals } from '../../base/globals.ts'
import { note } from '../../base/note.ts'
import type { ExtraSubcommand } from '../../base/subcommand.ts'
import { callControlPlane } from '../../transport/control.ts'
import { downloadControl } from '../../transport/download.ts'
import type { ShownSpace } from './spaces.ts'

const callOptions = { timeout: 120_000 }

export const subcommands: readonly ExtraSubcommand[] = [
  {
    name: 'keep',
    about: 'Write calls, events, queues, clock and a snapshot of a daemon and its spaces to a folder',
    args: [{ name: 'folder', about: 'the folder; it is created if needed' }],
    globals: ['quiet', 'site', 'profile', 'ready-file', 'control-token', 'timeout'],
    more: 'natter exec --resume FOLDER starts a daemon from it. natter exec --on-failure FOLDER does the same when a command fails.',
    examples: ['natter keep failure', 'natter keep "$RUNNER_TEMP/natter" --ready-file ready.json'],
    async run({ args: [folder], globals }) {
      await keepFailure(folder!, globals, { what: 'natter keep' })
      note(`wrote ${folder}`)
    },
  },
]

type Extra = readonly (readonly [name: string, content: string | Uint8Array])[]

/**
 * Keeps the daemon, and every space of it in spaces/NAME. `more` are files that the daemon does not have: its log, its seed.
 * Returns the folders of the spaces.
 */
export async function keepFailure(
  folder: string,
  daemon: Partial<Globals>,
  run: Omit<FailedRun, 'version'>,
  more: Extra = [],
): Promise<string[]> {
  const spaces = await listSpaces(daemon)
  // Spaces of an earlier run would look like those of this one.
  if (existsSync(join(folder, runName))) rmSync(join(folder, 'spaces'), { recursive: true, force: true })
  await keepOne(folder, daemon, run, more)
  const kept: string[] = []
  for (const { name, url, control_token } of spaces) {
    const inside = join(folder, 'spaces', name)
    await keepOne(inside, { site: url, controlToken: control_token }, { what: `space ${name}` })
    kept.push(inside)
  }
  return kept
}

/** Folders that tests kept themselves, beside what the daemon knew; the test that failed first comes first. */
export function keptTests(folder: string): string[] {
  if (!existsSync(folder)) return []
  return readdirSync(folder)
    .map(name => join(folder, name))
    .filter(inside => [runName, snapshotName].every(file => existsSync(join(inside, file))))
    .map(inside => ({ inside, keptAt: statSync(join(inside, runName)).mtimeMs }))
    .sort((a, b) => a.keptAt - b.keptAt)
    .map(({ inside }) => inside)
}

/** What an earlier run kept would look like that of this one. Other files stay. */
export function forgetFailure(folder: string): void {
  try {
    const own = existsSync(join(folder, runName)) ? readdirSync(folder).filter(isKeptName) : []
    const earlier = [...own.map(name => join(folder, name)), ...keptTests(folder)]
    for (const path of earlier) rmSync(path, { recursive: true, force: true })
    if (earlier.length > 0 && readdirSync(folder).length === 0) rmdirSync(folder)
  } catch (error) {
    throw cannotWrite(folder, error)
  }
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
  more: Extra = [],
): Promise<void> {
  const report = await callControlPlane(daemon, { method: 'GET', path: '/control/v1/report' }, callOptions)
  const version = String(report.version)
  const snapshot = downloadControl(daemon, '/control/v1/snapshots/now/file', callOptions)
  try {
    mkdirSync(folder, { recursive: true })
    for (const [name, content] of [...failureFiles({ version, ...run }, report as unknown as FailureReport), ...more])
      await writeFileAtomically(join(folder, name), content)
    await writeFileAtomically(join(folder, snapshotName), snapshot)
  } catch (error) {
    if (error instanceof Failure) throw error
    throw cannotWrite(folder, error)
  }
}

function cannotWrite(folder: string, error: unknown): Failure {
  return new Failure(exitCodes.refused, `cannot write ${folder}: ${(error as Error).message}`)
}
