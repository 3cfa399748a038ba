// Rows by key, with declared indexes that keep themselves. Rows are never changed in place: `put` replaces them, so a
// snapshot only has to remember which rows there were, and can be written while requests are served.

type Key = number | string
/** A row can be under one index value, under several, or under none. */
type IndexKeys<Row> = Readonly<Record<string, (row: Row) => Key | readonly Key[] | undefined>>

export class Table<Row extends object, K extends Key = number, I extends IndexKeys<Row> = Record<never, never>> {
  readonly #keyOf: (row: Row) => K
  readonly #rows = new Map<K, Row>()
  readonly #indexes: readonly Index<Row, K>[]
  #lastId = 0
  #version = 0
  #listsVersion = 0
  /** Called after a row was put or removed, with what was there before, so that a history can be kept. */
  onChange: ((key: K, before: Row | undefined) => void) | undefined

  constructor(keyOf: (row: Row) => K, indexes: I = {} as I) {
    this.#keyOf = keyOf
    this.#indexes = Object.entries(indexes).map(([name, valuesOf]) => ({ name, valuesOf, rows: new Map() }))
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

  /** Grows when the list of a row under several values of an index changes, and only then. */
  get listsVersion(): number {
    return this.#listsVersion
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
    const found = this.#index(index).get(value)
    return found ? Array.from(found, key => this.#rows.get(key)!) : []
  }

  count(index: keyof I & string, value: Key): number {
    return this.#index(index).get(value)?.size ?? 0
  }

  /** The row with this index value, for indexes that are unique by rule. */
  find(index: keyof I & string, value: Key): Row | undefined {
    const key = this.#index(index).get(value)?.values().next().value
    return key === undefined ? undefined : this.#rows.get(key)
  }

  put(row: Row): void {
    const key = this.#keyOf(row)
    // Most rows of a start are new, and their IDs say so.
    const isNew = typeof key === 'number' && key > this.#lastId
    const old = isNew ? undefined : this.#rows.get(key)
    this.#rows.set(key, row)
    this.#version++
    if (isNew) this.#lastId = key
    for (const { valuesOf, rows } of this.#indexes) {
      const values = valuesOf(row)
      const before = old && valuesOf(old)
      if (values === before) continue
      if (typeof values === 'object') this.#listsVersion++
      relink(rows, key, toList(before), toList(values))
    }
    this.onChange?.(key, old)
  }

  remove(key: K): void {
    const old = this.#rows.get(key)
    if (!old) return
    this.#rows.delete(key)
    this.#version++
    this.#listsVersion++
    for (const { valuesOf, rows } of this.#indexes) for (const value of toList(valuesOf(old))) unlink(rows, value, key)
    this.onChange?.(key, old)
  }

  /** The table as it would be with these rows, to ask questions of; costs what the rows cost. */
  with(rows: readonly Row[]): Table<Row, K, I> {
    // The same table, so that what is known of it, such as who is in which group, stays known.
    if (rows.length === 0) return this
    return new Supposed<Row, K>(
      this as never,
      rows,
      this.#keyOf,
      new Map(this.#indexes.map(({ name, valuesOf }) => [name, valuesOf])),
    ) as never
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

  #index(name: string): IndexedKeys<K> {
    return this.#indexes.find(index => index.name === name)!.rows
  }
}

interface Index<Row, K> {
  readonly name: string
  readonly valuesOf: (row: Row) => Key | readonly Key[] | undefined
  readonly rows: IndexedKeys<K>
}

/** Keys of rows, in the order they were first put. Not the rows: one that is under many values changes often. */
type IndexedKeys<K> = Map<Key, Set<K>>

function link<K>(index: IndexedKeys<K>, value: Key, key: K): void {
  const keys = index.get(value)
  if (keys) keys.add(key)
  else index.set(value, new Set([key]))
}

function unlink<K>(index: IndexedKeys<K>, value: Key, key: K): void {
  const keys = index.get(value)
  keys?.delete(key)
  if (keys?.size === 0) index.delete(value)
}

/** The row has other values than before. */
function relink<K>(index: IndexedKeys<K>, key: K, before: readonly Key[], now: readonly Key[]): void {
  // Long lists mostly grow at their end, or lose a few values.
  const shorter = Math.min(before.length, now.length)
  let same = 0
  while (same < shorter && before[same] === now[same]) same++
  let end = 0
  while (end < shorter - same && before.at(-1 - end) === now.at(-1 - end)) end++
  const gone = before.slice(same, before.length - end)
  if (gone.length > 0) {
    const kept = gone.length === 1 ? { has: (value: Key) => now.includes(value) } : new Set(now)
    for (const value of gone) if (!kept.has(value)) unlink(index, value, key)
  }
  for (const value of now.slice(same, now.length - end)) link(index, value, key)
}

// Shared by all worlds: a number that comes only once, and says nothing.
let supposed = 0

/** A table with some rows in place of its own. */
class Supposed<Row extends object, K extends Key> {
  readonly #base: Table<Row, K, IndexKeys<Row>>
  readonly #rows: ReadonlyMap<K, Row>
  readonly #keyOf: (row: Row) => K
  readonly #indexKeys: ReadonlyMap<string, IndexKeys<Row>[string]>
  /** Unlike that of any real table or other supposition. */
  readonly version = --supposed
  readonly listsVersion = this.version

  constructor(
    base: Table<Row, K, IndexKeys<Row>>,
    rows: readonly Row[],
    keyOf: (row: Row) => K,
    indexKeys: ReadonlyMap<string, IndexKeys<Row>[string]>,
  ) {
    this.#base = base
    this.#rows = new Map(rows.map(row => [keyOf(row), row]))
    this.#keyOf = keyOf
    this.#indexKeys = indexKeys
  }

  with(rows: readonly Row[]): Supposed<Row, K> {
    if (rows.length === 0) return this
    return new Supposed(this as never, rows, this.#keyOf, this.#indexKeys)
  }

  get(key: K): Row | undefined {
    return this.#rows.get(key) ?? this.#base.get(key)
  }

  has(key: K): boolean {
    return this.#rows.has(key) || this.#base.has(key)
  }

  *values(): Generator<Row> {
    for (const row of this.#base.values()) if (!this.#rows.has(this.#keyOf(row))) yield row
    yield* this.#rows.values()
  }

  where(index: string, value: Key): Row[] {
    const indexKey = this.#indexKeys.get(index)!
    const kept = this.#base.where(index, value).filter(row => !this.#rows.has(this.#keyOf(row)))
    return [...kept, ...[...this.#rows.values()].filter(row => toList(indexKey(row)).includes(value))]
  }

  count(index: string, value: Key): number {
    return this.where(index, value).length
  }

  find(index: string, value: Key): Row | undefined {
    return this.where(index, value)[0]
  }
}

function toList(value: Key | readonly Key[] | undefined): readonly Key[] {
  return value === undefined ? [] : typeof value === 'object' ? value : [value]
}
