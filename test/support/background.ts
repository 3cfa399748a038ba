// Daemons of `natter daemon start`.

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Shell } from './cli.ts'
import type { Outcome } from './natter-bundle.ts'

export function started(shell: Shell, store: string, ...flags: string[]): Promise<Outcome> {
  return shell.run(['daemon', 'start', '--port', '0', '--data', store, ...flags])
}

/** By the number that the daemon itself wrote down. */
export function endAt(store: string): void {
  try {
    process.kill(JSON.parse(readFileSync(join(store, 'daemon.json'), 'utf8')).pid, 'SIGKILL')
  } catch {
    // It has stopped already.
  }
}
