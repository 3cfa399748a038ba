// The control plane: what a test can ask of one world beside the API. Off unless asked for, and never under /api.

import { setImmediate as nextTurn } from 'node:timers/promises'
import type { drift } from '../api/control/drift.ts'
import type { ParamsOf } from '../api/define.ts'
import type { Level } from '../api/levels/level.ts'
import type { SteeredClock } from '../clock.ts'
import type { Fact } from '../domain/facts.ts'
import type { State } from '../domain/model/state.ts'
import { conflict, invalid, type Refusal } from '../domain/refusal.ts'
import type { Keys, Mail } from '../domain/resource.ts'
import { latestTime } from '../domain/values/time.ts'
import type { Engine } from '../engine.ts'
import type { Watch } from '../http/exchange.ts'
import { Calls } from './calls.ts'
import { Deliveries } from './deliveries.ts'
import { Events } from './events.ts'
import { Faults } from './faults.ts'
import { History } from './history.ts'
import { Live } from './live.ts'
import { type NumberedLog, Recent } from './recent.ts'
import { type Sections, type SnapshotFiles, Snapshots } from './snapshots.ts'
import type { Findings } from './strict.ts'
import { watchCalls } from './watch.ts'

interface ControlPlaneParts {
  readonly engine: Engine
  readonly clock: SteeredClock
  /** A random number from 0 up to 1. */
  readonly randomNumber: () => number
  readonly keys: Keys
  /** The feature level of the world. */
  readonly level: () => Level
  /** Whether there is a store on disk, which a reset replaces. */
  readonly kept: boolean
  /** Resolves when no server of a bot is being called. */
  readonly quiet: () => Promise<void>
  readonly version: string
  readonly snapshotFiles: SnapshotFiles
  /** Absent if calls are not compared with what public servers take. */
  readonly findings: Findings | undefined
  /** Bytes; null where nothing is written. */
  readonly journalSize: () => number | null
}

/** Mails that are kept, and their characters. */
const keptMails = 1000
const mostCharacters = 8 * 1024 * 1024
/** Timers that one move of the clock fires. */
const mostDue = 50_000

/** Who moves the clock. */
export interface Move {
  /** The parameter that says how far. */
  readonly parameter?: string
  /** Whether the client has left: then the clock need not move. */
  readonly isGone?: () => boolean
}

interface LoggedMail extends Mail {
  readonly id: number
  readonly time: number
}

type DriftReport = ParamsOf<typeof drift.keep> & { readonly time: number }

export class ControlPlane {
  readonly parts: ControlPlaneParts
  readonly clock: SteeredClock
  readonly calls: Calls
  readonly events: Events
  readonly faults: Faults
  readonly outbox: Recent<LoggedMail>
  readonly deliveries: Deliveries
  readonly snapshots: Snapshots
  readonly live: Live
  readonly history: History
  /** With --strict. They are about a whole run, so a reset keeps them. */
  readonly findings: Findings | undefined
  /** The newest report of differences from a recorded server. Like findings, it is about a whole run. */
  drift: DriftReport | null = null
  /** Where the edge tells of the calls it serves. */
  readonly watch: Watch

  constructor(parts: ControlPlaneParts) {
    const { clock, engine, keys, randomNumber } = parts
    this.parts = parts
    this.clock = clock
    const { boundary } = engine
    this.calls = new Calls(clock, boundary)
    this.events = new Events(() => clock.now(), parts.level, boundary)
    this.outbox = new Recent(keptMails, boundary, mostCharacters)
    this.faults = new Faults(randomNumber)
    this.deliveries = new Deliveries(engine, keys)
    this.snapshots = new Snapshots(engine, clock, parts.snapshotFiles)
    this.history = new History(() => engine)
    this.live = new Live([this.calls, this.events], boundary)
    this.findings = parts.findings
    this.watch = watchCalls({ engine, calls: this.calls, faults: this.faults, findings: this.findings })
  }

  /** The world is complete: `reset` goes back to this. How it came to be is not logged, that would slow down the start. */
  begin(sections?: Sections): void {
    this.snapshots.setStart(sections)
    this.engine.queues.onPassedOver = queueId => this.history.passedOver(queueId)
    this.engine.queues.onAnnounced = (...announced) => this.events.log(...announced)
  }

  get engine(): Engine {
    return this.parts.engine
  }

  /** A fact was applied at this position. */
  take(state: State, position: number, fact: Fact): void {
    this.history.take(state, position, fact)
    this.deliveries.take(fact)
  }

  post(mails: readonly Mail[]): void {
    for (const mail of mails) {
      const { subject, text } = mail
      const logged = this.outbox.add(id => ({ id, time: this.clock.now(), ...mail }), subject.length + text.length)
      this.outbox.tell(logged)
    }
  }

  /** Whether a wait is in progress. */
  get isAwaited(): boolean {
    return this.live.isAwaited || this.#logs.some(log => log.awaited)
  }

  /** Every call that waits is answered. */
  end(): void {
    this.live.end()
    this.calls.recordings.close()
    for (const log of this.#logs) log.end()
  }

  get #logs(): NumberedLog<any>[] {
    return [this.calls, this.events, this.outbox, this.deliveries]
  }

  /** Moves time forward and lets everything that falls due on the way come to its end. Other requests get their turn meanwhile. */
  async moveTo(time: (now: number) => number, { parameter = 'to', isGone = () => false }: Move = {}): Promise<void> {
    // What is being tried now is tried at the time that was.
    await this.parts.quiet()
    let fired = 0
    const isThere = await this.clock.moveTo(
      now => {
        const end = time(now)
        if (end > latestTime) throw invalid(parameter, 'the clock goes no further than the end of the year 9999')
        return end
      },
      async () => {
        await nextTurn()
        await this.parts.quiet()
        await this.engine.settled()
        this.engine.mustBeOpen()
        if (isGone() || ++fired > mostDue) throw this.#stoppedAt(parameter)
      },
    )
    if (!isThere)
      throw conflict(
        parameter,
        `a reset or restore has set the clock to ${this.#shown} while it moved. Move it on from there`,
      )
    await nextTurn()
  }

  get #shown(): string {
    return new Date(this.clock.now()).toISOString()
  }

  #stoppedAt(parameter: string): Refusal {
    return conflict(
      parameter,
      `more than ${mostDue} things fall due on the way; the clock has stopped at ${this.#shown}. Move it on from there`,
    )
  }

  /** Everything as it was at the beginning: state, time, faults, logs. */
  async reset(): Promise<void> {
    await this.snapshots.reset()
    this.faults.clear()
    this.calls.clear()
    this.events.clear()
    this.outbox.clear()
  }
}
