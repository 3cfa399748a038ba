// Ends a process that a test has started and needs no longer.

import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'

/** At once; in a run with coverage first with a request to stop, because what a killed process ran is not counted. */
export async function endProcess(child: ChildProcess): Promise<void> {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return
  if (process.env.NODE_V8_COVERAGE !== undefined) {
    const late = setTimeout(() => child.kill('SIGKILL'), 30_000)
    child.kill('SIGTERM')
    await once(child, 'exit')
    clearTimeout(late)
  } else child.kill('SIGKILL')
}
