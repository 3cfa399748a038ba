// What falls due by the clock becomes commands of the system: one timer, set for the earliest job.

import type { Cancel, Clock } from './clock.ts'
import type { Job, Surroundings } from './domain/resource.ts'
import type { Engine } from './engine.ts'

export class Scheduler {
  readonly #engine: Engine
  readonly #jobs: readonly Job[]
  readonly #clock: Clock
  readonly #surroundings: () => Surroundings
  #timer: { readonly at: number; readonly cancel: Cancel } | undefined
  #reconsidering = false
  #running = false

  constructor(engine: Engine, jobs: readonly Job[], clock: Clock, surroundings: () => Surroundings) {
    this.#engine = engine
    this.#jobs = jobs
    this.#clock = clock
    this.#surroundings = surroundings
  }

  start(): void {
    this.#running = true
    this.#set()
  }

  stop(): void {
    this.#running = false
    this.#timer?.cancel()
    this.#timer = undefined
  }

  /** Facts were taken. Looked at once per turn, however many came. */
  reconsider(): void {
    if (this.#reconsidering || !this.#running) return
    this.#reconsidering = true
    queueMicrotask(() => {
      this.#reconsidering = false
      this.#set()
    })
  }

  #set(): void {
    if (!this.#running) return
    const at = Math.min(...this.#jobs.map(job => job.due(this.#engine.state) ?? Number.POSITIVE_INFINITY))
    if (at === this.#timer?.at) return
    this.#timer?.cancel()
    this.#timer = undefined
    if (at === Number.POSITIVE_INFINITY) return
    this.#timer = { at, cancel: this.#clock.after(at - this.#clock.now(), () => this.#fire()) }
  }

  #fire(): void {
    this.#timer = undefined
    const now = this.#clock.now()
    const due = this.#jobs
      .map(job => ({ job, at: job.due(this.#engine.state) ?? Number.POSITIVE_INFINITY }))
      .filter(({ at }) => at <= now)
      .sort((a, b) => a.at - b.at)
    // A failure to write stops the daemon by itself; nothing else may come out of a job.
    for (const { job } of due) this.#engine.run(job.op, null, () => job.run(this.#surroundings())).catch(() => {})
    this.#set()
  }
}
