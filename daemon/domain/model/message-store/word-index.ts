// The words of one segment's messages: word hash to local IDs, in typed arrays that can be written to a file as they are.
// Hashes can collide and edited messages leave their old words behind: callers check the text too.

import type { IdList } from './id-list.ts'

/** A word's first ID is in the table; more of them in blocks of 4, 8 … 128, each pointing to the one before. */
const largestBlock = 128

/** Messages within bounds, listed when they are needed. */
export interface WordPart {
  readonly first: number
  readonly last: number
  readonly ids: () => IdList
}

export interface WordArrays {
  readonly hashes: Uint32Array
  readonly counts: Uint32Array
  readonly tails: Uint32Array
  readonly firsts: Uint16Array
  readonly lasts: Uint16Array
  readonly pool: Uint16Array
}

export class WordIndex {
  #hashes: Uint32Array
  #counts: Uint32Array
  #tails: Uint32Array
  #firsts: Uint16Array
  #lasts: Uint16Array
  #pool: Uint16Array
  #poolUsed: number
  #distinct = 0

  constructor(arrays?: WordArrays) {
    this.#hashes = arrays?.hashes ?? new Uint32Array(64)
    this.#counts = arrays?.counts ?? new Uint32Array(64)
    this.#tails = arrays?.tails ?? new Uint32Array(64)
    this.#firsts = arrays?.firsts ?? new Uint16Array(64)
    this.#lasts = arrays?.lasts ?? new Uint16Array(64)
    this.#pool = arrays?.pool ?? new Uint16Array(256)
    this.#poolUsed = arrays?.pool.length ?? 0
    if (arrays) this.#distinct = distinctIn(arrays)
  }

  get arrays(): WordArrays {
    return {
      hashes: this.#hashes,
      counts: this.#counts,
      tails: this.#tails,
      firsts: this.#firsts,
      lasts: this.#lasts,
      pool: this.#pool.subarray(0, this.#poolUsed),
    }
  }

  add(hash: number, local: number): void {
    let slot = this.#slot(hash)
    if (this.#hashes[slot] === 0) {
      if (++this.#distinct * 3 > this.#hashes.length * 2) {
        this.#grow()
        slot = this.#slot(hash)
      }
      this.#hashes[slot] = hash
      this.#counts[slot] = 1
      this.#firsts[slot] = local
      this.#lasts[slot] = local
      return
    }
    if (this.#lasts[slot] === local) return
    this.#lasts[slot] = local
    const { inTail, size } = computeTail(this.#counts[slot]! - 1)
    if (inTail === size) this.#newBlock(slot, Math.min(size === 0 ? 4 : size * 2, largestBlock))
    this.#pool[this.#tails[slot]! + 2 + (inTail === size ? 0 : inTail)] = local
    this.#counts[slot]!++
  }

  /** How many messages may have the word. */
  count(hash: number): number {
    return this.#counts[this.#slot(hash)]!
  }

  /** Local IDs that may have the word, ascending. */
  find(hash: number): Uint16Array {
    const slot = this.#slot(hash)
    const count = this.#counts[slot]!
    const found = new Uint16Array(count)
    if (count === 0) return found
    found[0] = this.#firsts[slot]!
    let block = this.#tails[slot]!
    for (let write = count; write > 1; ) {
      const { inTail } = computeTail(write - 1)
      write -= inTail
      found.set(this.#pool.subarray(block + 2, block + 2 + inTail), write)
      block = this.#pool[block]! + this.#pool[block + 1]! * 0x10000
    }
    return ascending(found)
  }

  #slot(hash: number): number {
    const mask = this.#hashes.length - 1
    // The low bits of this hash are its weakest.
    let slot = (hash ^ (hash >>> 15)) & mask
    while (this.#hashes[slot] !== 0 && this.#hashes[slot] !== hash) slot = (slot + 1) & mask
    return slot
  }

  #newBlock(slot: number, size: number): void {
    const start = this.#poolUsed
    this.#poolUsed += size + 2
    if (this.#poolUsed > this.#pool.length) {
      const larger = new Uint16Array(Math.max(this.#poolUsed, Math.ceil(this.#pool.length * 1.5)))
      larger.set(this.#pool)
      this.#pool = larger
    }
    this.#pool[start] = this.#tails[slot]! & 0xffff
    this.#pool[start + 1] = this.#tails[slot]! >>> 16
    this.#tails[slot] = start
  }

  #grow(): void {
    const old = this.arrays
    const size = old.hashes.length * 2
    this.#hashes = new Uint32Array(size)
    this.#counts = new Uint32Array(size)
    this.#tails = new Uint32Array(size)
    this.#firsts = new Uint16Array(size)
    this.#lasts = new Uint16Array(size)
    for (let from = 0; from < old.hashes.length; from++) {
      if (old.hashes[from] === 0) continue
      const to = this.#slot(old.hashes[from]!)
      this.#hashes[to] = old.hashes[from]!
      this.#counts[to] = old.counts[from]!
      this.#tails[to] = old.tails[from]!
      this.#firsts[to] = old.firsts[from]!
      this.#lasts[to] = old.lasts[from]!
    }
  }
}

/** How many words they hold. Arrays of a file that were not written from an index are refused: a search must end. */
function distinctIn({ hashes, counts, tails, firsts, lasts, pool }: WordArrays): number {
  const size = hashes.length
  let distinct = 0
  for (const hash of hashes) if (hash !== 0) distinct++
  const isTable = size > 0 && (size & (size - 1)) === 0 && distinct < size
  const isWhole = [counts, tails, firsts, lasts].every(array => array.length === size)
  if (!isTable || !isWhole || counts.some(count => count > pool.length + 1))
    throw new RangeError('the index of words is damaged')
  return distinct
}

/** The newest block when the blocks hold `inBlocks` IDs: its size, and how many of them are in it. */
function computeTail(inBlocks: number): { size: number; inTail: number } {
  let size = 0
  let left = inBlocks
  while (left > 0) {
    size = size === 0 ? 4 : Math.min(size * 2, largestBlock)
    if (left <= size) return { size, inTail: left }
    if (size === largestBlock) return { size, inTail: ((left - 1) % largestBlock) + 1 }
    left -= size
  }
  return { size, inTail: 0 }
}

function ascending(ids: Uint16Array): Uint16Array {
  let sorted = true
  for (let i = 1; i < ids.length; i++) if (ids[i]! <= ids[i - 1]!) sorted = false
  if (sorted) return ids
  ids.sort()
  return ids.filter((id, index) => index === 0 || ids[index - 1] !== id)
}
