// Rows must leave room for those to come: what later calls count on from them has to pass the same checks, or no backup of the
// store could be restored.

import { count, highestId, highestUserId } from '../../api/shapes/rows.ts'
import type { State } from '../model/state.ts'
import { latestTime } from '../values/time.ts'
import { RowsRefused } from './refused.ts'

/**
 * The part of the numbers that a row may have which a store can use. One that begins with rows from elsewhere has less, so that it
 * can count on for longer than stores live before its backups are refused.
 */
const usable = { new: 1 / 2, old: 3 / 4 }

/** Besides IDs: numbers that calls increase by one. */
const counted = /^(attempts|count)$|[vV]ersion$/

/** Throws RowsRefused. A store is new when it begins with these rows. */
export function checkRoom(state: State, store: keyof typeof usable): void {
  const part = usable[store]
  for (const [section, rows] of Object.entries(state.save())) {
    const highest = section === 'users' ? highestUserId : highestId
    for (const row of rows) {
      for (const [name, value] of numbersIn(row)) {
        const most = mostOf(name, part, highest)
        if (value > most) throw refuseFull(section, name, value, most)
      }
      // Of messages calls count on from the highest ID alone.
      if (section === 'messages') break
    }
  }
}

function mostOf(name: string, part: number, highest: number): number {
  if (name === 'last_id') return part * highest
  // These are milliseconds, and more than that only after many in one.
  if (name === 'updateId') return latestTime
  return counted.test(name) ? part * count.maximum! : Infinity
}

/** Rows of event queues have positions in them. */
export function checkPosition(position: number): void {
  if (position > usable.old * count.maximum!)
    throw new RowsRefused(`the journal is at position ${position}, which leaves no room for later ones`)
}

function refuseFull(section: string, name: string, value: number, most: number): RowsRefused {
  const number = name === 'last_id' ? 'the highest ID' : name
  return new RowsRefused(`${section}: ${number}, ${value}, leaves no room for later ones; give at most ${most}`)
}

/** Those of the row, and of the records in it. */
function* numbersIn(row: unknown, deeper = true): Generator<[name: string, value: number]> {
  if (typeof row !== 'object' || row === null || Array.isArray(row)) return
  for (const [name, value] of Object.entries(row))
    if (typeof value === 'number') yield [name, value]
    else if (deeper) yield* numbersIn(value, false)
}
