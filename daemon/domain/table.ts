// Rows by key, with declared indexes that keep themselves. Rows are never changed in place: `put` replaces them, so a
// snapshot only has to remember which rows there were, and can be written while the traffic goes on.

type Key = number | string
/** A row can stand under one index value, under several, or under none. */
type IndexKeys<Row> = Readonly<Record<string, (row: Row) => Key | readonly Key[] | undefined>>

export class Table<Row extends object, K extends Key = number, I extends IndexKeys<Row> = Record<never, never>> {
  readonly #keyOf: (row: Row) => K
  readonly #rows = new Map<K, Row>()
  readonly #indexKeys: [string, IndexKeys<Row>[string]][]
  readonly #indexes: Record<string, Map<Key, Map<K, Row>>> = {}
  #lastId = 0
  #version = 0

  constructor(keyOf: (row: Row) => K, indexes: I = {} as I) {
    this.#keyOf = keyOf
    this.#indexKeys = Object.entries(indexes)
    for (const name of Object.keys(indexes)) this.#indexes[name] = new Map()
  }

  get size(): number {
    return this.#rows.size
  }

  /** IDs are never used twice, not even after the newest row is gone. */
  get nextId(): number {
    return this.#lastId + 1
  }

  /** Grows with every change; what is worked out from the rows can be kept as long as it stays. */
  get version(): number {
    return this.#version
  }

  get(key: K): Row | undefined {
    return this.#rows.get(key)
  }

  has(key: K): boolean {
    return this.#rows.has(key)
  }

  values(): IterableIterator<Row> {
    return this.#rows.values()
  }

  /** Rows with this index value, in the order they were first put. */
  where(index: keyof I & string, value: Key): Row[] {
    const found = this.#indexes[index]!.get(value)
    return found ? [...found.values()] : []
  }

  /** The row with this index value, for indexes that are unique by rule. */
  find(index: keyof I & string, value: Key): Row | undefined {
    return this.#indexes[index]!.get(value)?.values().next().value
  }

  put(row: Row): void {
    const key = this.#keyOf(row)
    const old = this.#rows.get(key)
    this.#rows.set(key, row)
    this.#version++
    if (typeof key === 'number' && key > this.#lastId) this.#lastId = key
    for (const [name, indexKey] of this.#indexKeys) {
      const values = listed(indexKey(row))
      if (old) {
        const kept = values.length > 8 ? new Set(values) : undefined
        for (const before of listed(indexKey(old)))
          if (!(kept?.has(before) ?? values.includes(before))) this.#unlink(name, before, key)
      }
      for (const value of values) this.#link(name, value, key, row)
    }
  }

  remove(key: K): void {
    const old = this.#rows.get(key)
    if (!old) return
    this.#rows.delete(key)
    this.#version++
    for (const [name, indexKey] of this.#indexKeys)
      for (const value of listed(indexKey(old))) this.#unlink(name, value, key)
  }

  /** What a snapshot keeps: the highest ID ever, then the rows. */
  save(): unknown[] {
    return [{ last_id: this.#lastId }, ...this.#rows.values()]
  }

  load(saved: Iterable<unknown>): void {
    let first = true
    let lastId = 0
    for (const item of saved) {
      if (first) lastId = (item as { last_id: number }).last_id
      else this.put(item as Row)
      first = false
    }
    this.#lastId = Math.max(this.#lastId, lastId)
  }

  #link(name: string, value: Key, key: K, row: Row): void {
    const index = this.#indexes[name]!
    let rows = index.get(value)
    if (!rows) {
      rows = new Map()
      index.set(value, rows)
    }
    rows.set(key, row)
  }

  #unlink(name: string, value: Key, key: K): void {
    const rows = this.#indexes[name]!.get(value)
    rows?.delete(key)
    if (rows?.size === 0) this.#indexes[name]!.delete(value)
  }
}

function listed(value: Key | readonly Key[] | undefined): readonly Key[] {
  return value === undefined ? [] : typeof value === 'object' ? value : [value]
}
