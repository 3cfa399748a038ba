// Numbered things that a test looks back on and waits for, and the newest of many such.

import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Boundary } from '../boundary.ts'
import { conflict, Refusal } from '../domain/refusal.ts'

export interface Numbered {
  readonly id: number
}

/** What is waited for. */
export interface Wish<T> {
  fits(item: T): boolean
  /** Instructions of its patterns, which are tried on every new item. */
  readonly size: number
  /** Of the JSON that it was given as. */
  readonly characters: number
  /** Whether it has been tried on more than a test needs. */
  readonly isTooCostly: boolean
}

/** Instructions that the patterns of all waits in a log may have together. */
export const mostPatternSize = 1000
/** Waits at the same time. */
const mostWaits = 1000
/** Of all of them. */
const mostCharacters = 4 * 1024 * 1024
/** Milliseconds of the processor that all waits in a log may take to look at new items, in any such span of real time. */
const mostLooking = { ms: 1000, span: 10_000 }
/** Milliseconds of looking at old items after which other requests get their turn. */
const slice = 10
/** The same before the first of them: a short wait need not stand in line behind long ones. */
const firstSlice = 1

// Shared by all worlds: the end of the line of those that wait for a slice. Many waits can end at the same moment.
let line: Promise<void> = Promise.resolve()

/** For long work in a loop. */
export class Slices {
  #until = performance.now() + firstSlice

  /** Lets other requests have their turn, now and then. A turn of the event loop has one slice of such work. */
  async take(): Promise<void> {
    if (performance.now() < this.#until) return
    line = line.then(() => nextTurn())
    await line
    this.#until = performance.now() + slice
  }
}

export abstract class NumberedLog<T extends Numbered> {
  readonly #waiting = new Map<(item: T) => void, Wish<T>>()
  readonly #ends = new Set<(refusal?: Refusal) => void>()
  readonly #boundary: Boundary
  #ended = false
  #looking = { since: Number.NEGATIVE_INFINITY, ms: 0 }

  constructor(boundary: Boundary) {
    this.#boundary = boundary
  }

  abstract readonly lastId: number

  /** Those after the number, oldest first. */
  abstract since(id?: number): T[]

  get awaited(): boolean {
    return this.#waiting.size > 0
  }

  /** Called when an item is added or changes. */
  onChange: (() => void) | undefined

  /** An item has changed: the waits check it again. */
  tell(item: T): void {
    this.onChange?.()
    if (!this.awaited) return
    const now = performance.now()
    if (now - this.#looking.since > mostLooking.span) this.#looking = { since: now, ms: 0 }
    // Time of the processor: on a busy machine a short look can last long.
    const begin = process.cpuUsage()
    for (const look of this.#waiting.keys()) look(item)
    this.#looking.ms += process.cpuUsage(begin).user / 1000
    if (this.#looking.ms > mostLooking.ms) for (const giveUp of [...this.#ends]) giveUp(tooMuchLooking())
  }

  /** The first that fits, of those there are after the number or of those to come; undefined when the time is up. */
  async wait(wish: Wish<T>, since: number, ms: number): Promise<T | undefined> {
    this.#admit(wish)
    let found: T | Refusal | undefined
    const parked = this.#park(wish, since, ms, outcome => {
      found = outcome
    })
    // Parked first: what changes while others have their turn is not missed.
    const slices = new Slices()
    for (const item of this.since(since)) {
      if (found || wish.isTooCostly) break
      await slices.take()
      if (wish.fits(item)) parked.end(item)
    }
    if (wish.isTooCostly && !found)
      parked.end(
        conflict('since', 'the patterns are too long for a log of this length; give since, or use shorter patterns'),
      )
    if (ms <= 0 || this.#ended) parked.end(undefined)
    await parked.over
    if (found instanceof Refusal) throw found
    return found
  }

  #admit(wish: Wish<T>): void {
    if (this.#waiting.size >= mostWaits)
      throw conflict('within', `${mostWaits} waits are in progress; let some of them end`)
    if (this.#looking.ms > mostLooking.ms && performance.now() - this.#looking.since <= mostLooking.span)
      throw tooMuchLooking()
    const all = [...this.#waiting.values(), wish]
    if (all.reduce((sum, { size }) => sum + size, 0) > mostPatternSize)
      throw conflict('within', 'the patterns of all waits in progress are too long together; let some of them end')
    if (all.reduce((sum, { characters }) => sum + characters, 0) > mostCharacters)
      throw conflict('within', 'the waits in progress are too long together; let some of them end')
  }

  #park(wish: Wish<T>, since: number, ms: number, onOutcome: (outcome: T | Refusal) => void) {
    let end!: (outcome: T | Refusal | undefined) => void
    const over = new Promise<void>(resolve => {
      end = outcome => {
        cancel()
        this.#waiting.delete(look)
        this.#ends.delete(giveUp)
        if (outcome) onOutcome(outcome)
        resolve()
      }
      const giveUp = (refusal?: Refusal) => end(refusal)
      const look = (item: T) => {
        if (item.id > since && wish.fits(item)) end(item)
      }
      // Real time: the clock may be frozen during a wait.
      const cancel = this.#boundary.after(ms, giveUp)
      this.#waiting.set(look, wish)
      this.#ends.add(giveUp)
    })
    return { over, end }
  }

  /** Nothing more will come: ends all waits. */
  end(): void {
    this.#ended = true
    for (const giveUp of [...this.#ends]) giveUp()
  }
}

function tooMuchLooking(): Refusal {
  const seconds = mostLooking.span / 1000
  return conflict(
    'within',
    `the waits in progress take too long; wait ${seconds} seconds, and use fewer or shorter patterns`,
  )
}

export class Recent<T extends Numbered> extends NumberedLog<T> {
  readonly #most: number
  readonly #mostSize: number
  readonly #sizes = new WeakMap<T, number>()
  #items: T[] = []
  #size = 0
  #lastId = 0

  /** Keeps the newest, at most as many as `most`, and as many as have this size together. The newest one has any size. */
  constructor(most: number, boundary: Boundary, mostSize = Number.POSITIVE_INFINITY) {
    super(boundary)
    this.#most = most
    this.#mostSize = mostSize
  }

  get lastId(): number {
    return this.#lastId
  }

  add(make: (id: number) => T, size = 0): T {
    const item = make(++this.#lastId)
    this.#items.push(item)
    this.resize(item, size)
    return item
  }

  /** An item has become larger. */
  resize(item: T, size: number): void {
    if (item.id < (this.#items[0]?.id ?? Number.POSITIVE_INFINITY)) return
    this.#size += size - this.#sizeOf(item)
    this.#sizes.set(item, size)
    // Cut in halves: taking one off the front of a long list each time would cost its length.
    if (this.#items.length >= 2 * this.#most || this.#size >= 2 * this.#mostSize) this.#cut()
  }

  #cut(): void {
    let first = Math.max(0, this.#items.length - this.#most)
    this.#size = this.#items.slice(first).reduce((sum, item) => sum + this.#sizeOf(item), 0)
    while (this.#size > this.#mostSize && first < this.#items.length - 1)
      this.#size -= this.#sizeOf(this.#items[first++]!)
    this.#items = this.#items.slice(first)
  }

  #sizeOf(item: T): number {
    return this.#sizes.get(item) ?? 0
  }

  since(id = 0): T[] {
    return this.#items.slice(-this.#most).filter(item => item.id > id)
  }

  /** Numbers go on: who remembers one must not take an older item for a newer. */
  clear(): void {
    this.#items = []
    this.#size = 0
  }
}
