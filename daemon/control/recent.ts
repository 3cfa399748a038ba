// Numbered things that a test looks back on and waits for, and the newest of many such.

export interface Numbered {
  readonly id: number
}

export abstract class Log<T extends Numbered> {
  readonly #waiting = new Set<(item: T) => void>()
  readonly #ends = new Set<() => void>()
  #ended = false

  abstract readonly lastId: number

  /** Those after the number, oldest first. */
  abstract since(id?: number): T[]

  get awaited(): boolean {
    return this.#waiting.size > 0
  }

  /** Called when an item is added or changes. */
  onChange: (() => void) | undefined

  /** Something about an item is new: those who wait check it. */
  tell(item: T): void {
    this.onChange?.()
    for (const look of this.#waiting) look(item)
  }

  /** The first that fits, of those there are after the number or of those to come; undefined when the time is up. */
  async wait(fits: (item: T) => boolean, since: number, ms: number): Promise<T | undefined> {
    const found = this.since(since).find(fits)
    if (found || ms <= 0 || this.#ended) return found
    return new Promise(resolve => {
      const end = (item: T | undefined) => {
        clearTimeout(timer)
        this.#waiting.delete(look)
        this.#ends.delete(giveUp)
        resolve(item)
      }
      const giveUp = () => end(undefined)
      const look = (item: T) => {
        if (item.id > since && fits(item)) end(item)
      }
      // Real time: the clock may be frozen while somebody waits.
      const timer = setTimeout(giveUp, ms)
      timer.unref()
      this.#waiting.add(look)
      this.#ends.add(giveUp)
    })
  }

  /** Nothing more will come: nobody waits any longer. */
  end(): void {
    this.#ended = true
    for (const giveUp of [...this.#ends]) giveUp()
  }
}

export class Recent<T extends Numbered> extends Log<T> {
  readonly #most: number
  #items: T[] = []
  #lastId = 0

  constructor(most: number) {
    super()
    this.#most = most
  }

  get lastId(): number {
    return this.#lastId
  }

  add(make: (id: number) => T): T {
    const item = make(++this.#lastId)
    this.#items.push(item)
    // Cut in halves: taking one off the front of a long list each time would cost its length.
    if (this.#items.length >= 2 * this.#most) this.#items = this.#items.slice(-this.#most)
    return item
  }

  since(id = 0): T[] {
    return this.#items.slice(-this.#most).filter(item => item.id > id)
  }

  /** Numbers go on: who remembers one must not take an older item for a newer. */
  clear(): void {
    this.#items = []
  }
}
