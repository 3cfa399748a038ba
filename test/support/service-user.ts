// A user without rights, for daemons that root looks after.

import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { root } from './sources.ts'

export const serviceUser = 65_534

/** Before a command: runs it as that user. */
export const asService = ['setpriv', `--reuid=${serviceUser}`, `--regid=${serviceUser}`, '--clear-groups']

/** Only root can, and only where that user may read this tree. */
export function canBeService(): boolean {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return false
  const [command, ...args] = [...asService, process.execPath, join(root, 'bin/natterd'), '--version']
  return spawnSync(command!, args).status === 0
}
