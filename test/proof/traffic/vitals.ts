// The resources that a daemon takes: memory, descriptors, disk.

import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { TestDaemon } from '../../support/daemon.ts'
import { megabytesKept } from '../../support/heap.ts'

export interface Vitals {
  /** Megabytes in use, garbage excluded. */
  readonly kept: number
  /** Megabytes that the system gave it. */
  readonly resident: number
  readonly descriptors: number
  /** Megabytes of its store. */
  readonly disk: number
}

export const withoutVitals = existsSync('/proc/self/fd') ? undefined : 'memory and descriptors are read from /proc'

/** While nothing is asked of it: to collect the garbage takes a moment. */
export async function vitalsOf(daemon: TestDaemon, heapFile: string): Promise<Vitals> {
  const { pid } = daemon.process
  const kept = await megabytesKept(daemon, heapFile)
  const resident = Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))![1]) / 1024
  const descriptors = readdirSync(`/proc/${pid}/fd`).length
  return { kept, resident, descriptors, disk: sizeOf(daemon.data) / 1024 / 1024 }
}

function sizeOf(folder: string): number {
  let size = 0
  // A compaction can delete a file meanwhile.
  for (const name of readdirSync(folder, { recursive: true, encoding: 'utf8' }))
    size += statSync(join(folder, name), { throwIfNoEntry: false })?.size ?? 0
  return size
}
