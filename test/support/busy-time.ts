// The working time of the main thread of a process: its own time on a processor, which other processes do not change.

import { readFileSync } from 'node:fs'

/** Linux counts it in nanoseconds; where this file is missing, the time is not counted. */
export function busyTimeFile(pid: number): string {
  return `/proc/${pid}/task/${pid}/schedstat`
}

export function busyMilliseconds(pid: number): number {
  return Number(readFileSync(busyTimeFile(pid), 'utf8').split(' ')[0]) / 1e6
}
