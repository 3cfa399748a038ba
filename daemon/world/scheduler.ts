// Runs the jobs that fall due by the clock as commands of the system. One alarm is set, for the earliest job.

import { Alarm, type Clock } from '../clock.ts'
import type { Job, Surroundings } from '../domain/resource.ts'
import type { Engine } from '../engine.ts'
import { monotonicMs } from '../local/monotonic.ts'
import { warn } from '../local/warnings.ts'

/** Milliseconds of work after which requests are served before the next job. */
const slice = 10

/** Milliseconds until a job that failed is tried again. The others go on meanwhile. */
const rest = 60_000

export class Scheduler {
  readonly #engine: Engine
  readonly #jobs: readonly Job[]
  readonly #clock: Clock
  readonly #surroundings: () => Surroundings
  readonly #resting = new Map<Job, number>()
  readonly #alarm: Alarm
  #since = 0
  #running = false

  constructor(engine: Engine, jobs: readonly Job[], clock: Clock, surroundings: () => Surroundings) {
    this.#engine = engine
    this.#jobs = jobs
    this.#clock = clock
    this.#alarm = new Alarm(clock, () => this.#fire())
    this.#surroundings = surroundings
  }

  start(): void {
    this.#running = true
    this.#since = this.#clock.now()
    this.reconsider()
  }

  stop(): void {
    this.#running = false
    this.#alarm.stop()
  }

  /** Sets the alarm; to be called after each change. Also while jobs are running: the last of them sets it again. */
  reconsider(): void {
    if (this.#running) this.#alarm.set(this.#next()?.at)
  }

  /** The job that is due first; of several, the first in the list. */
  #next(): { readonly job: Job; readonly at: number } | undefined {
    const { state } = this.#engine
    const now = this.#clock.now()
    let next: { readonly job: Job; readonly at: number } | undefined
    for (const job of this.#jobs) {
      const due = job.due(state, now)
      if (due === undefined) continue
      const at = Math.max(due, this.#resting.get(job) ?? 0)
      if (!next || at < next.at) next = { job, at }
    }
    return next
  }

  /** Runs the jobs that are due, in order of their times. Each job sees the changes of the one before it. */
  #fire(): void {
    const until = monotonicMs() + slice
    const now = this.#clock.now()
    for (let next = this.#next(); next && next.at <= now && this.#running; next = this.#next()) {
      void this.#run(next.job)
      if (monotonicMs() > until) break
    }
    this.reconsider()
  }

  /**
   * The job is applied before this returns; the promise waits for the disk. Never rejects: a job that throws has changed nothing
   * and is tried again later; later errors are reported by the engine, which ends the world.
   */
  async #run(job: Job): Promise<void> {
    const rests = this.#clock.now() + rest
    try {
      await this.#engine.run(job.op, null, () => {
        try {
          return job.run({ ...this.#surroundings(), awakeSince: this.#since })
        } catch (error) {
          this.#resting.set(job, rests)
          warn(`${job.op} failed and is tried again in a minute: ${(error as Error).stack}`)
          throw error
        }
      })
    } catch {}
  }
}
