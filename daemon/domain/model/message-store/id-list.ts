// Ascending message IDs in one growable typed array: what every index of messages is made of.

export class IdList {
  #ids: Uint32Array
  #length = 0

  constructor(ids: readonly number[] | Uint32Array = []) {
    this.#ids = Uint32Array.from(ids)
    this.#length = ids.length
  }

  get length(): number {
    return this.#length
  }

  /** 0 when there is none: message IDs start at 1. */
  get last(): number {
    return this.#length === 0 ? 0 : this.#ids[this.#length - 1]!
  }

  at(index: number): number {
    return this.#ids[index]!
  }

  has(id: number): boolean {
    const index = this.lowerBound(id)
    return index < this.#length && this.#ids[index] === id
  }

  /** How many IDs are smaller. */
  lowerBound(id: number): number {
    const ids = this.#ids
    if (this.#length === 0 || id > ids[this.#length - 1]!) return this.#length
    let low = 0
    let high = this.#length
    while (low < high) {
      const middle = (low + high) >>> 1
      if (ids[middle]! < id) low = middle + 1
      else high = middle
    }
    return low
  }

  add(id: number): void {
    const index = this.lowerBound(id)
    if (index < this.#length && this.#ids[index] === id) return
    this.#reserve(1)
    this.#ids.copyWithin(index + 1, index, this.#length)
    this.#ids[index] = id
    this.#length++
  }

  /** Many at once, ascending: one pass, where adding them singly would move the rest again and again. */
  addAll(added: readonly number[]): void {
    if (added.length < 8 || added[0]! > this.last) {
      for (const id of added) this.add(id)
      return
    }
    this.#reserve(added.length)
    const ids = this.#ids
    let write = this.#length + added.length - 1
    let old = this.#length - 1
    let twice = 0
    for (let next = added.length - 1; next >= 0; ) {
      const mine = old >= 0 ? ids[old]! : -1
      const theirs = added[next]!
      if (mine === theirs) {
        next--
        twice++
      } else if (mine > theirs) {
        ids[write--] = mine
        old--
      } else {
        ids[write--] = theirs
        next--
      }
    }
    if (twice > 0) ids.copyWithin(old + 1, write + 1, this.#length + added.length)
    this.#length += added.length - twice
  }

  removeAll(removed: readonly number[]): void {
    if (removed.length === 0) return
    const ids = this.#ids
    let write = this.lowerBound(removed[0]!)
    let next = 0
    for (let read = write; read < this.#length; read++) {
      const id = ids[read]!
      while (next < removed.length && removed[next]! < id) next++
      if (next === removed.length) {
        ids.copyWithin(write, read, this.#length)
        write += this.#length - read
        break
      }
      if (removed[next] === id) continue
      ids[write++] = id
    }
    this.#length = write
  }

  slice(from = 0, to = this.#length): number[] {
    return Array.from(this.#ids.subarray(from, Math.min(to, this.#length)))
  }

  #reserve(more: number): void {
    const needed = this.#length + more
    if (needed <= this.#ids.length) return
    // Half as much again: doubling would leave a third of all index memory unused on average.
    const larger = new Uint32Array(Math.max(needed, 4, Math.ceil(this.#ids.length * 1.5)))
    larger.set(this.#ids.subarray(0, this.#length))
    this.#ids = larger
  }
}
