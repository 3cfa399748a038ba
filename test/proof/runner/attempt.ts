// Runs one campaign in a process group and a temporary folder of its own. However it ends, neither outlives it.

import { type ChildProcess, fork, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bundleCampaign } from './program.ts'
import type { Order, Report } from './report.ts'

export interface Outcome {
  readonly outcome: 'passed' | 'failed' | 'interrupted'
  readonly done: number
  readonly summary: string
  readonly skipped: readonly string[]
  readonly again?: string
}

export async function attempt(
  order: Order,
  signal: AbortSignal,
  hear: (report: Report) => void = () => {},
): Promise<Outcome> {
  const program = await bundleCampaign(order.file)
  const folder = mkdtempSync(join(tmpdir(), 'natter-prove-'))
  const child = fork(program.file, [JSON.stringify(order)], {
    execArgv: ['--enable-source-maps'],
    // A group of its own: Ctrl-C reaches the runner only, which ends the whole group.
    detached: true,
    env: { ...process.env, TMPDIR: folder },
  })
  const endGroup = () => killGroup(child)
  signal.addEventListener('abort', endGroup)
  if (signal.aborted) endGroup()
  let done = 0
  let lastNote = ''
  let last: Report | undefined
  child.on('message', (report: Report) => {
    if (report.kind === 'note') lastNote = report.text
    if (report.kind === 'progress') done = report.done
    last = report
    hear(report)
  })
  const code = await new Promise<string>(resolve =>
    child.once('close', (code, killed) => resolve(String(killed ?? code))),
  )
  signal.removeEventListener('abort', endGroup)
  endGroup()
  removeFolder(folder)
  program.remove()

  if (last?.kind === 'passed')
    return { outcome: 'passed', done: last.done, summary: last.summary, skipped: last.skipped ?? [] }
  const rest = { done, skipped: [] }
  if (last?.kind === 'failed') return { outcome: 'failed', ...rest, summary: last.message, again: last.again }
  if (signal.aborted) return { outcome: 'interrupted', ...rest, summary: lastNote }
  const again = `--seed ${order.seed} --count ${order.count}`
  return { outcome: 'failed', ...rest, summary: `the campaign ended with ${code} and reported nothing`, again }
}

function killGroup({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

/** With the small disks that a campaign mounted in it and could not unmount itself. */
function removeFolder(folder: string): void {
  const mounts = existsSync('/proc/mounts') ? readFileSync('/proc/mounts', 'utf8').split('\n') : []
  const places = mounts.map(line => line.split(' ')[1]!).filter(place => place?.startsWith(`${folder}/`))
  // Lazily: a process that was just killed can still hold a file.
  for (const place of places) spawnSync('umount', ['-l', place])
  rmSync(folder, { recursive: true, force: true, maxRetries: 10 })
}
