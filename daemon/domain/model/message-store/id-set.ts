// Sets of message IDs with few bytes per ID whatever their pattern: blocks of 8,192 IDs, each empty, full or a bitmap.

/** IDs and the ends of their blocks are computed in 32 bits, of which one is the sign. */
export const highestMessageId = 2 ** 30

const blockBits = 13
const blockSize = 1 << blockBits
const words = blockSize / 32

interface Bitmap {
  readonly bits: Uint32Array
  count: number
}

type Block = 'full' | Bitmap | undefined

/** Runs of consecutive IDs, flat: first, last, first, last … */
export type Runs = readonly number[]

export class IdSet {
  readonly #blocks: Block[] = []

  has(id: number): boolean {
    const block = this.#blocks[id >>> blockBits]
    if (block === undefined) return false
    if (block === 'full') return true
    const at = id & (blockSize - 1)
    return (block.bits[at >>> 5]! & (1 << (at & 31))) !== 0
  }

  get size(): number {
    let size = 0
    for (const block of this.#blocks) if (block) size += block === 'full' ? blockSize : block.count
    return size
  }

  add(id: number): void {
    const index = id >>> blockBits
    let block = this.#blocks[index]
    if (block === 'full') return
    if (!block) {
      block = { bits: new Uint32Array(words), count: 0 }
      while (this.#blocks.length < index) this.#blocks.push(undefined)
      this.#blocks[index] = block
    }
    const at = id & (blockSize - 1)
    const bit = 1 << (at & 31)
    if ((block.bits[at >>> 5]! & bit) !== 0) return
    block.bits[at >>> 5]! |= bit
    if (++block.count === blockSize) this.#blocks[index] = 'full'
  }

  delete(id: number): void {
    const index = id >>> blockBits
    let block = this.#blocks[index]
    if (!block) return
    if (block === 'full') {
      block = { bits: new Uint32Array(words).fill(0xffffffff), count: blockSize }
      this.#blocks[index] = block
    }
    const at = id & (blockSize - 1)
    const bit = 1 << (at & 31)
    if ((block.bits[at >>> 5]! & bit) === 0) return
    block.bits[at >>> 5]! &= ~bit
    if (--block.count === 0) this.#blocks[index] = undefined
  }

  addRuns(runs: Runs): void {
    mustBeIds(runs)
    for (let i = 0; i < runs.length; i += 2) this.#addRun(runs[i]!, runs[i + 1]!)
  }

  deleteRuns(runs: Runs): void {
    mustBeIds(runs)
    for (let i = 0; i < runs.length; i += 2) this.#deleteRun(runs[i]!, runs[i + 1]!)
  }

  #deleteRun(first: number, last: number): void {
    for (let id = first; id <= last; ) {
      const index = id >>> blockBits
      const start = index << blockBits
      const end = start + blockSize - 1
      if (id === start && end <= last) {
        if (this.#blocks[index]) this.#blocks[index] = undefined
      } else if (this.#blocks[index]) {
        const block = this.#bitmap(index)
        block.count -= fill(block.bits, id - start, Math.min(end, last) - start, false)
        if (block.count === 0) this.#blocks[index] = undefined
      }
      id = end + 1
    }
  }

  #addRun(first: number, last: number): void {
    for (let id = first; id <= last; ) {
      const index = id >>> blockBits
      const start = index << blockBits
      const end = start + blockSize - 1
      if (this.#blocks[index] !== 'full') {
        while (this.#blocks.length < index) this.#blocks.push(undefined)
        if (id === start && end <= last) this.#blocks[index] = 'full'
        else {
          const block = this.#bitmap(index)
          block.count += fill(block.bits, id - start, Math.min(end, last) - start, true)
          if (block.count === blockSize) this.#blocks[index] = 'full'
        }
      }
      id = end + 1
    }
  }

  /** The block as one that can be changed. */
  #bitmap(index: number): Bitmap {
    const block = this.#blocks[index]
    if (block && block !== 'full') return block
    const bits = new Uint32Array(words)
    const bitmap = { bits: block ? bits.fill(0xffffffff) : bits, count: block ? blockSize : 0 }
    this.#blocks[index] = bitmap
    return bitmap
  }

  /** The greatest member that is at most the ID; 0 for none. */
  atMost(id: number): number {
    for (let index = Math.min(id >>> blockBits, this.#blocks.length - 1); index >= 0; index--) {
      const block = this.#blocks[index]
      if (!block) continue
      const base = index << blockBits
      let at = Math.min(id - base, blockSize - 1)
      if (block === 'full') return base + at
      for (let word = at >>> 5; word >= 0; word--) {
        const mask = (at & 31) === 31 ? 0xffffffff : (1 << ((at & 31) + 1)) - 1
        const bits = (block.bits[word]! & mask) >>> 0
        if (bits !== 0) return base + word * 32 + 31 - Math.clz32(bits)
        at = word * 32 - 1
      }
    }
    return 0
  }

  /** The smallest member that is at least the ID; Infinity for none. */
  atLeast(id: number): number {
    for (let index = id >>> blockBits; index < this.#blocks.length; index++) {
      const block = this.#blocks[index]
      if (!block) continue
      const base = index << blockBits
      let at = Math.max(id - base, 0)
      if (block === 'full') return base + at
      for (let word = at >>> 5; word < words; word++) {
        const bits = (block.bits[word]! & (0xffffffff << (at & 31))) >>> 0
        if (bits !== 0) return base + word * 32 + 31 - Math.clz32(bits & -bits)
        at = 0
      }
    }
    return Number.POSITIVE_INFINITY
  }

  /** The greatest ID at most this one that is not a member; full blocks are stepped over. */
  absentAtMost(id: number): number {
    while (id > 0) {
      const block = this.#blocks[id >>> blockBits]
      if (!block) return id
      if (block === 'full') {
        id = ((id >>> blockBits) << blockBits) - 1
        continue
      }
      const at = id & (blockSize - 1)
      const mask = (at & 31) === 31 ? 0xffffffff : (1 << ((at & 31) + 1)) - 1
      const free = (~block.bits[at >>> 5]! & mask) >>> 0
      if (free !== 0) return id - (at & 31) + 31 - Math.clz32(free)
      id -= (at & 31) + 1
    }
    return 0
  }

  /** The smallest ID at least this one that is not a member; full blocks are stepped over. */
  #absentAtLeast(id: number): number {
    for (;;) {
      const block = this.#blocks[id >>> blockBits]
      if (!block) return id
      if (block === 'full') {
        id = ((id >>> blockBits) + 1) << blockBits
        continue
      }
      const at = id & (blockSize - 1)
      const free = (~block.bits[at >>> 5]! & (0xffffffff << (at & 31))) >>> 0
      if (free !== 0) return id - (at & 31) + 31 - Math.clz32(free & -free)
      id += 32 - (at & 31)
    }
  }

  runs(): number[] {
    const runs: number[] = []
    for (let id = this.atLeast(0); id !== Number.POSITIVE_INFINITY; id = this.atLeast(id)) {
      const first = id
      id = this.#absentAtLeast(id)
      runs.push(first, id - 1)
    }
    return runs
  }
}

/** Sets or clears the bits from one place to another, a word at a time. Returns how many have changed. */
function fill(bits: Uint32Array, first: number, last: number, isSet: boolean): number {
  let changed = 0
  for (let word = first >>> 5; word <= last >>> 5; word++) {
    let mask = 0xffffffff
    if (word === first >>> 5) mask &= 0xffffffff << (first & 31)
    if (word === last >>> 5) mask &= 0xffffffff >>> (31 - (last & 31))
    const before = bits[word]!
    const after = isSet ? before | mask : before & ~mask
    changed += countBits(before ^ after)
    bits[word] = after
  }
  return changed
}

function countBits(word: number): number {
  let left = word - ((word >>> 1) & 0x55555555)
  left = (left & 0x33333333) + ((left >>> 2) & 0x33333333)
  return Math.imul((left + (left >>> 4)) & 0x0f0f0f0f, 0x01010101) >>> 24
}

function mustBeIds(runs: Runs): void {
  for (const id of runs)
    if (!(id >= 0 && id <= highestMessageId)) throw new RangeError(`${id} is not the ID of a message`)
}

/** Ascending IDs as runs. */
export function packRuns(ids: readonly number[]): number[] {
  const runs: number[] = []
  let last = Number.NaN
  for (const id of ids) {
    if (id !== last + 1) {
      if (runs.length > 0) runs.push(last)
      runs.push(id)
    }
    last = id
  }
  if (runs.length > 0) runs.push(last)
  return runs
}

export function unpackRuns(runs: Runs): number[] {
  mustBeIds(runs)
  const ids: number[] = []
  for (let i = 0; i < runs.length; i += 2) for (let id = runs[i]!; id <= runs[i + 1]!; id++) ids.push(id)
  return ids
}
