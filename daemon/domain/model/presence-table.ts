// The last presence report of each user. Volatile: saved with a snapshot and when the daemon stops, not with every report.

import type { Presence } from './rows/people.ts'

export class PresenceTable {
  readonly #rows = new Map<number, Presence>()
  #newest = 0
  /** The newest change that a snapshot or the journal has. */
  #saved = 0

  /**
   * IDs are milliseconds where they can be: a crash forgets the newest rows, and an ID that a client has seen must not
   * come again for something else.
   */
  nextUpdateId(now: number): number {
    return Math.max(this.#newest + 1, now)
  }

  get(userId: number): Presence | undefined {
    return this.#rows.get(userId)
  }

  values(): IterableIterator<Presence> {
    return this.#rows.values()
  }

  put(row: Presence): void {
    this.#rows.set(row.userId, row)
    this.#newest = Math.max(this.#newest, row.updateId)
  }

  /** What a stop must save: rows that changed since the start, or since they were last saved. */
  unsaved(): Presence[] {
    return [...this.#rows.values()].filter(({ updateId }) => updateId > this.#saved)
  }

  save(): unknown[] {
    return [...this.#rows.values()]
  }

  load(rows: Iterable<unknown>): void {
    for (const row of rows) this.put(row as Presence)
    this.#saved = this.#newest
  }
}
