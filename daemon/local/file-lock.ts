// A lock for a small file that several processes read, change and write. A leaf: the daemon and the command line both use it.

import { rmSync, statSync, writeFileSync } from 'node:fs'

/** Milliseconds after which a lock was left by a process that was killed: the work takes a few. */
const staleAfter = 5000
const step = 10

/** Runs the work while no other process works on this file; waits for one that does. Its folder must exist. */
export function workAlone<T>(path: string, work: () => T): T {
  const lock = `${path}.lock`
  while (!take(lock)) Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, step)
  try {
    return work()
  } finally {
    rmSync(lock, { force: true })
  }
}

function take(lock: string): boolean {
  try {
    writeFileSync(lock, '', { flag: 'wx', mode: 0o600 })
    return true
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  }
  const writtenAt = statSync(lock, { throwIfNoEntry: false })?.mtimeMs
  // In both directions: the clock may have been set back.
  if (writtenAt !== undefined && Math.abs(Date.now() - writtenAt) > staleAfter) rmSync(lock, { force: true })
  return false
}
