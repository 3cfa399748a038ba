// A folder for files that need not outlive a test or a campaign.

import { existsSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'

const inMemory = '/dev/shm'

/** In memory where there is room: many tests that sync at once make each other wait for the disk. */
export function quickFolder(): string {
  if (tmpdir().startsWith(inMemory) || !existsSync(inMemory)) return tmpdir()
  const { bavail, bsize } = statfsSync(inMemory)
  return bavail * bsize > 4 * 1024 ** 3 ? inMemory : tmpdir()
}
