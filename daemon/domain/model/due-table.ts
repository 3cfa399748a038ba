// Rows that fall due: a table that always knows which comes first. A heap beside the rows; what was changed or removed
// meanwhile is dropped from it when it comes up.

import { Table } from './table.ts'

interface Due {
  readonly id: number
  /** Seconds. */
  readonly due: number
  /** It was tried and is not tried again. */
  readonly failed: boolean
  readonly userId: number
}

interface Entry {
  readonly due: number
  readonly id: number
}

export class DueTable<Row extends Due> extends Table<Row, number, { user: (row: Row) => number }> {
  #heap: Entry[] = []

  constructor() {
    super(row => row.id, { user: row => row.userId })
  }

  override put(row: Row): void {
    const before = this.get(row.id)
    super.put(row)
    if (row.failed || (before && !before.failed && before.due === row.due)) return
    // Edited again and again, rows would leave more behind than they are.
    if (this.#heap.length > 2 * this.size + 64) {
      const live = [...this.values()].filter(({ failed }) => !failed)
      this.#heap = live.map(({ due, id }) => ({ due, id })).sort((a, b) => (isBefore(a, b) ? -1 : 1))
    } else this.#push({ due: row.due, id: row.id })
  }

  /** The one that falls due first, of several the oldest. */
  get first(): Row | undefined {
    for (let top = this.#heap[0]; top; top = this.#heap[0]) {
      const row = this.get(top.id)
      if (row && !row.failed && row.due === top.due) return row
      this.#pop()
    }
    return undefined
  }

  /** Milliseconds when the first one falls due. */
  get nextDue(): number | undefined {
    const { first } = this
    return first && first.due * 1000
  }

  /** The user's rows in the order they fall due. */
  ofUser(userId: number): Row[] {
    return this.where('user', userId).sort((a, b) => (isBefore(a, b) ? -1 : 1))
  }

  #push(entry: Entry): void {
    const heap = this.#heap
    let at = heap.push(entry) - 1
    while (at > 0) {
      const parent = (at - 1) >> 1
      if (!isBefore(entry, heap[parent]!)) break
      heap[at] = heap[parent]!
      at = parent
    }
    heap[at] = entry
  }

  #pop(): void {
    const heap = this.#heap
    const last = heap.pop()
    if (!last || heap.length === 0) return
    let at = 0
    for (;;) {
      let child = 2 * at + 1
      if (child >= heap.length) break
      if (child + 1 < heap.length && isBefore(heap[child + 1]!, heap[child]!)) child++
      if (!isBefore(heap[child]!, last)) break
      heap[at] = heap[child]!
      at = child
    }
    heap[at] = last
  }
}

function isBefore(a: Entry, b: Entry): boolean {
  return a.due < b.due || (a.due === b.due && a.id < b.id)
}
