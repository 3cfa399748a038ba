// Rows that come from a file must leave room for those to come: what later calls count on from them has to pass the same checks, or no
// backup of the store could be restored.

import { count, highestId } from '../../api/shapes/rows.ts'
import { RowsRefused } from './refused.ts'

/** Numbers that calls increase by one. No store comes near the half of their bounds. */
const mostGiven = new Map([
  [/^last_id$/, highestId / 2],
  [/^(updateId|attempts|count)$|[vV]ersion$/, count.maximum! / 2],
])

/** Throws RowsRefused. */
export function checkRoom(sections: Readonly<Record<string, Iterable<unknown>>>): void {
  for (const [section, rows] of Object.entries(sections))
    for (const row of rows) {
      const problem = findFull(row) ?? (isRecord(row) ? Object.values(row).map(findFull).find(Boolean) : undefined)
      if (problem) throw new RowsRefused(`${section}: ${problem}`)
    }
}

function findFull(fields: unknown): string | undefined {
  if (!isRecord(fields)) return undefined
  for (const [name, value] of Object.entries(fields))
    if (typeof value === 'number')
      for (const [names, most] of mostGiven)
        if (value > most && names.test(name)) return `${name} leaves no room for later ones; give at most ${most}`
  return undefined
}

function isRecord(value: unknown): value is object {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
