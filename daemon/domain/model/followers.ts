// Everyone who follows or ever followed one channel, by user ID in pages. IDs are given out in a row, so a page is mostly
// full or not there, and coming to one is a write to a list instead of an entry in a map.

import type { Following } from './rows/channels.ts'

const bits = 6
const perPage = 1 << bits
const inPage = perPage - 1

/** As an audience: the present subscribers, deactivated accounts too, ascending. */
export class Followers implements Iterable<number> {
  readonly #pages: (Following | undefined)[][]
  #size: number

  constructor(pages: (Following | undefined)[][] = [], size = 0) {
    this.#pages = pages
    this.#size = size
  }

  get size(): number {
    return this.#size
  }

  has(userId: number): boolean {
    return this.get(userId)?.active === true
  }

  [Symbol.iterator](): IterableIterator<number> {
    return this.#ids(following => following.active).values()
  }

  /** Former subscribers too. */
  everyone(): number[] {
    return this.#ids(() => true)
  }

  get(userId: number): Following | undefined {
    return this.#pages[userId >> bits]?.[userId & inPage]
  }

  /** Returns the previous value. */
  put(userId: number, following: Following): Following | undefined {
    let page = this.#pages[userId >> bits]
    if (!page) {
      page = new Array(perPage).fill(undefined)
      this.#pages[userId >> bits] = page
    }
    const before = page[userId & inPage]
    page[userId & inPage] = following
    if (following.active) this.#size++
    if (before?.active) this.#size--
    return before
  }

  copy(): Followers {
    return new Followers(
      this.#pages.map(page => page.slice()),
      this.#size,
    )
  }

  #ids(wanted: (following: Following) => boolean): number[] {
    const ids: number[] = []
    this.#pages.forEach((page, number) => {
      for (let i = 0; i < perPage; i++) {
        const following = page[i]
        if (following && wanted(following)) ids.push((number << bits) | i)
      }
    })
    return ids
  }
}
