// Whether the log in etcd is the one that this daemon has followed so far. An older copy of it, which an operator has put in its
// place, goes on with other entries.

import type { EntryMark } from '../journal/replicated-journal.ts'
import { lastSum } from '../journal/segment-format.ts'
import { AnotherHistory, type Head } from './keys.ts'
import type { SharedLog } from './log.ts'

/** The log only grows. One that ends before the entries of this daemon is an older copy, and will have other entries there. */
export function checkEnd(position: number, head: number): void {
  if (position > head)
    throw new AnotherHistory(`the log in etcd ends at position ${head}, but this daemon has entries up to ${position}`)
}

/**
 * Throws if the log does not have the newest entry of this daemon. It cannot be known of a log that was trimmed up to there. One batch
 * with the entry is enough: other programs may have put keys between those of natterd.
 */
export async function checkHistory(log: SharedLog, { position, sum }: EntryMark, head: Head): Promise<void> {
  checkEnd(position, head.position)
  if (sum === undefined) return
  let hasOther = false
  for await (const { first, last, lines } of log.readBack(position, head)) {
    if (last < position) continue
    const line = lines.split('\n', position - first + 1).at(-1)
    if (lastSum(`${line}\n`) === sum) return
    hasOther = true
  }
  if (hasOther)
    throw new AnotherHistory(
      `the log in etcd has another entry at position ${position} than this daemon: it goes on from an older copy, or the folder was changed`,
    )
}
