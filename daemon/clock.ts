// The source of time of a world: the real time, or one that tests freeze and move, which fires timers in their order.

import { Boundary, type Cancel } from './boundary.ts'
import { monotonicMs } from './local/monotonic.ts'

export interface Clock {
  /** Milliseconds since the epoch. The clock of the machine can be set, so this can step back and forth. */
  now(): number
  /** Milliseconds since some moment, for durations. Only grows, at the pace of the clock. */
  elapsed(): number
  /** The value of `elapsed` at the end of the move in progress, or now if the clock is not being moved. */
  heading(): number
  /**
   * Runs once after that long; never keeps the process alive. With a time by `now`, a clock that is steered goes by that
   * while it is frozen: `now` and `elapsed` drift apart a little while it runs.
   */
  after(ms: number, run: () => void, time?: number): Cancel
  /** Timers run inside it. */
  readonly boundary: Boundary
  readonly setting: ClockSetting
}

/** `ahead`: by how many milliseconds it is ahead of the real time. */
export type ClockSetting = { readonly frozenAt: number } | { readonly ahead: number }

export class RealClock implements Clock {
  readonly boundary: Boundary
  readonly setting = { ahead: 0 }

  constructor(boundary = new Boundary()) {
    this.boundary = boundary
  }

  now(): number {
    return Date.now()
  }

  elapsed(): number {
    return monotonicMs()
  }

  heading(): number {
    return this.elapsed()
  }

  after(ms: number, run: () => void): Cancel {
    return this.boundary.after(ms, run)
  }
}

/** Real milliseconds between two looks at the clock of the machine, which can be set meanwhile. */
const lookAgain = 30_000
/** Milliseconds that two ways to measure the same time may differ. */
const tolerance = 50

/** A timer for a moment by the clock of the machine. If that clock is set, it fires at most half a minute early or late. */
export class Alarm {
  readonly #clock: Clock
  readonly #ring: () => void
  #set: { readonly at: number; readonly rings: number; readonly cancel: Cancel } | undefined
  #looking: Cancel | undefined

  constructor(clock: Clock, ring: () => void) {
    this.#clock = clock
    this.#ring = ring
  }

  /** Sets it to another time, or to none. Setting the same time again is cheap. */
  set(at: number | undefined): void {
    if (at === undefined) {
      this.stop()
      return
    }
    const wait = at - this.#clock.now()
    const rings = this.#clock.elapsed() + wait
    if (this.#set?.at === at && Math.abs(this.#set.rings - rings) < tolerance) return
    this.#set?.cancel()
    this.#looking ??= this.#clock.boundary.every(lookAgain, () => this.set(this.#set?.at))
    this.#set = { at, rings, cancel: this.#clock.after(wait, () => this.#rings(), at) }
  }

  stop(): void {
    this.#set?.cancel()
    this.#set = undefined
    this.#looking?.()
    this.#looking = undefined
  }

  #rings(): void {
    this.stop()
    this.#ring()
  }
}

interface Due {
  /** By `elapsed`. */
  readonly at: number
  /** By `now`; undefined for a timer with a duration. */
  readonly time: number | undefined
  /** Ties fire in the order they were set. */
  readonly turn: number
  readonly run: () => void
  cancel?: Cancel | undefined
}

/**
 * The next whole millisecond, but for an error of the last digits. Stops in between would be rounded in what the clock shows, and a
 * move would end a fraction before what falls due at its very end.
 */
function whole(ms: number): number {
  return Math.ceil(ms - 0.001)
}

/** A move in progress. The clock is frozen meanwhile. */
interface Move {
  /** Where it ends, by `elapsed`. */
  readonly until: number
  /** Whether the clock runs afterwards. */
  resumes: boolean
}

/** Time that can be frozen, moved and resumed. While it is frozen, only moving it fires timers. */
export class SteeredClock implements Clock {
  readonly boundary: Boundary
  /** What it shows while it is frozen. */
  #frozenAt: number | undefined
  /** How far it is ahead of the real time while it runs. */
  #ahead = 0
  /** The same for `elapsed`, which no jump changes. */
  #frozenElapsed = 0
  #elapsedAhead = 0
  #move: Move | undefined
  #turn = 0
  #stopped = false
  readonly #due = new Set<Due>()
  /** Moves run one after the other, because each must see timers that the one before it has set. */
  #moving: Promise<unknown> = Promise.resolve()

  constructor(frozenAt?: number, boundary = new Boundary()) {
    this.boundary = boundary
    this.#frozenAt = frozenAt
    // Whole milliseconds, so that a frozen clock shows only these.
    this.#frozenElapsed = frozenAt ?? 0
  }

  get frozen(): boolean {
    return this.#frozenAt !== undefined
  }

  get setting(): ClockSetting {
    if (this.#frozenAt === undefined) return { ahead: this.#ahead }
    return this.#move?.resumes ? { ahead: this.#frozenAt - Date.now() } : { frozenAt: this.#frozenAt }
  }

  now(): number {
    return this.#frozenAt ?? Date.now() + this.#ahead
  }

  elapsed(): number {
    return this.frozen ? this.#frozenElapsed : monotonicMs() + this.#elapsedAhead
  }

  heading(): number {
    return this.#move?.until ?? this.elapsed()
  }

  after(ms: number, run: () => void, time?: number): Cancel {
    const due: Due = { at: this.elapsed() + Math.max(ms, 0), time, turn: this.#turn++, run }
    if (!this.#stopped) {
      this.#due.add(due)
      this.#arm(due)
    }
    return () => {
      this.#due.delete(due)
      due.cancel?.()
    }
  }

  /** Cancels all timers. */
  stop(): void {
    for (const due of this.#due) due.cancel?.()
    this.#due.clear()
    this.#stopped = true
  }

  freeze(): void {
    if (this.#move) {
      this.#move.resumes = false
      return
    }
    this.#frozenElapsed = Math.ceil(this.elapsed())
    this.#frozenAt = this.now()
    for (const due of this.#due) due.cancel?.()
  }

  resume(): void {
    if (this.#move) {
      this.#move.resumes = true
      return
    }
    if (this.#frozenAt === undefined) return
    this.#ahead = this.#frozenAt - Date.now()
    this.#elapsedAhead = this.#frozenElapsed - monotonicMs()
    this.#frozenAt = undefined
    for (const due of this.#due) this.#arm(due)
  }

  /** Shows another time, earlier or later, without firing anything on the way: no time passes. Ends a move in progress. */
  jump(to: ClockSetting): void {
    this.#move = undefined
    if (!this.frozen) this.freeze()
    if ('frozenAt' in to) this.#frozenAt = to.frozenAt
    else {
      this.resume()
      this.#ahead = to.ahead
    }
  }

  /**
   * Moves time forward, firing what falls due on the way; `settle` lets each firing finish its work first. A move ends where it is
   * when `settle` throws. False if a jump has ended it.
   */
  moveTo(time: (now: number) => number, settle: () => Promise<void>): Promise<boolean> {
    const moved = this.#moving.then(() => this.#moveOn(time(this.now()), settle))
    this.#moving = moved.catch(() => {})
    return moved
  }

  async #moveOn(time: number, settle: () => Promise<void>): Promise<boolean> {
    const resumes = !this.frozen
    if (resumes) this.freeze()
    const until = this.elapsed() + Math.round(time - this.now())
    const move: Move = { until, resumes }
    this.#move = move
    try {
      for (let next = this.#earliest(until); next; next = this.#earliest(until)) {
        this.#due.delete(next.due)
        this.#pass(next.at)
        this.boundary.run(next.due.run)
        await settle()
        if (this.#move !== move) return false
      }
      this.#pass(until)
      return true
    } finally {
      if (this.#move === move) {
        this.#move = undefined
        if (move.resumes) this.resume()
      }
    }
  }

  /** Lets time pass while it is frozen. */
  #pass(until: number): void {
    const passed = Math.max(0, until - this.#frozenElapsed)
    this.#frozenElapsed += passed
    this.#frozenAt = Math.round(this.#frozenAt! + passed)
  }

  #arm(due: Due): void {
    if (this.frozen) return
    due.cancel = this.boundary.after(due.at - this.elapsed(), () => this.#ring(due))
  }

  #ring(due: Due): void {
    if (due.at > this.elapsed()) this.#arm(due)
    else if (this.#due.delete(due)) due.run()
  }

  /** While it is frozen. */
  #earliest(until: number): { readonly due: Due; readonly at: number } | undefined {
    let best: { readonly due: Due; readonly at: number } | undefined
    for (const due of this.#due) {
      const at = due.time === undefined ? whole(due.at) : this.#frozenElapsed + Math.max(0, due.time - this.#frozenAt!)
      if (at <= until && (!best || at < best.at || (at === best.at && due.turn < best.due.turn))) best = { due, at }
    }
    return best
  }
}
