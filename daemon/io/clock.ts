// The one source of time. Real, or steered by hand: everything that falls due then fires in order.

export type Cancel = () => void

export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number
  /** Runs once after that long; never keeps the process alive. */
  after(ms: number, run: () => void): Cancel
}

/** A timer beyond 2^31 ms would fire at once. */
const longest = 0x7fffffff

export class RealClock implements Clock {
  now(): number {
    return Date.now()
  }

  after(ms: number, run: () => void): Cancel {
    const timer = setTimeout(run, Math.min(Math.max(ms, 0), longest))
    timer.unref()
    return () => clearTimeout(timer)
  }
}

interface Due {
  readonly at: number
  /** Ties fire in the order they were set. */
  readonly turn: number
  readonly run: () => void
  timer?: NodeJS.Timeout | undefined
}

/** It stands still, or runs so many milliseconds ahead of the real time. */
export type ClockSetting = { readonly frozenAt: number } | { readonly ahead: number }

/** Time that can be stopped, moved and let go again. While it is stopped nothing fires but what it is moved past. */
export class SteeredClock implements Clock {
  /** What it shows while it stands still. */
  #frozenAt: number | undefined
  /** How far it is ahead of the real time while it runs. */
  #ahead = 0
  #turn = 0
  readonly #due = new Set<Due>()
  /** One move after the other: each must find what the one before it has set. */
  #moving: Promise<void> = Promise.resolve()

  constructor(frozenAt?: number) {
    this.#frozenAt = frozenAt
  }

  get frozen(): boolean {
    return this.#frozenAt !== undefined
  }

  get setting(): ClockSetting {
    return this.#frozenAt === undefined ? { ahead: this.#ahead } : { frozenAt: this.#frozenAt }
  }

  now(): number {
    return this.#frozenAt ?? Date.now() + this.#ahead
  }

  after(ms: number, run: () => void): Cancel {
    const due: Due = { at: this.now() + Math.max(ms, 0), turn: this.#turn++, run }
    this.#due.add(due)
    this.#arm(due)
    return () => {
      this.#due.delete(due)
      clearTimeout(due.timer)
    }
  }

  freeze(): void {
    this.#frozenAt = this.now()
    for (const due of this.#due) clearTimeout(due.timer)
  }

  resume(): void {
    if (this.#frozenAt === undefined) return
    this.#ahead = this.#frozenAt - Date.now()
    this.#frozenAt = undefined
    for (const due of this.#due) this.#arm(due)
  }

  /** Shows another time, earlier or later, without firing anything on the way. */
  jump(to: ClockSetting): void {
    for (const due of this.#due) clearTimeout(due.timer)
    this.#frozenAt = 'frozenAt' in to ? to.frozenAt : undefined
    this.#ahead = 'ahead' in to ? to.ahead : 0
    for (const due of this.#due) this.#arm(due)
  }

  /** Moves time forward, firing what falls due on the way; `settle` lets each firing finish its work first. */
  moveTo(time: (now: number) => number, settle: () => Promise<void>): Promise<void> {
    const move = this.#moving.then(() => this.#move(time(this.now()), settle))
    this.#moving = move.catch(() => {})
    return move
  }

  async #move(time: number, settle: () => Promise<void>): Promise<void> {
    const running = !this.frozen
    if (running) this.freeze()
    for (let next = this.#earliest(time); next; next = this.#earliest(time)) {
      this.#due.delete(next)
      this.#frozenAt = Math.max(this.now(), next.at)
      next.run()
      await settle()
    }
    this.#frozenAt = Math.max(this.now(), time)
    if (running) this.resume()
  }

  #arm(due: Due): void {
    if (this.frozen) return
    due.timer = setTimeout(() => this.#ring(due), Math.min(Math.max(due.at - this.now(), 0), longest))
    due.timer.unref()
  }

  #ring(due: Due): void {
    if (due.at > this.now()) this.#arm(due)
    else if (this.#due.delete(due)) due.run()
  }

  #earliest(until: number): Due | undefined {
    let best: Due | undefined
    for (const due of this.#due)
      if (due.at <= until && (!best || due.at < best.at || (due.at === best.at && due.turn < best.turn))) best = due
    return best
  }
}
