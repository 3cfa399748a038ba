// The one source of time. Real, or frozen and moved by hand: everything that falls due then fires in order.

export type Cancel = () => void

export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number
  /** Runs once after that long; never keeps the process alive. */
  after(ms: number, run: () => void): Cancel
}

export class RealClock implements Clock {
  now(): number {
    return Date.now()
  }

  after(ms: number, run: () => void): Cancel {
    // A timer beyond 2^31 ms would fire at once.
    const timer = setTimeout(run, Math.min(Math.max(ms, 0), 0x7fffffff))
    timer.unref()
    return () => clearTimeout(timer)
  }
}

interface Due {
  readonly at: number
  /** Ties fire in the order they were set. */
  readonly turn: number
  readonly run: () => void
}

export class FrozenClock implements Clock {
  #now: number
  #turn = 0
  readonly #due = new Set<Due>()

  constructor(start: number) {
    this.#now = start
  }

  now(): number {
    return this.#now
  }

  after(ms: number, run: () => void): Cancel {
    const due = { at: this.#now + Math.max(ms, 0), turn: this.#turn++, run }
    this.#due.add(due)
    return () => this.#due.delete(due)
  }

  /** Moves time forward, firing what falls due on the way; `settle` lets each firing finish its work first. */
  async moveTo(time: number, settle: () => Promise<void>): Promise<void> {
    for (let next = this.#earliest(time); next; next = this.#earliest(time)) {
      this.#due.delete(next)
      this.#now = Math.max(this.#now, next.at)
      next.run()
      await settle()
    }
    this.#now = Math.max(this.#now, time)
  }

  #earliest(until: number): Due | undefined {
    let best: Due | undefined
    for (const due of this.#due)
      if (due.at <= until && (!best || due.at < best.at || (due.at === best.at && due.turn < best.turn))) best = due
    return best
  }
}
