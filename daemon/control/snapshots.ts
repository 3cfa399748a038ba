// Snapshots: the state at the start, and those saved by name. Kept in memory; they share their rows with the current state, so
// saving one is cheap.

import { setImmediate as nextTurn } from 'node:timers/promises'
import type { ClockSetting, SteeredClock } from '../clock.ts'
import { compareStates, type Difference } from '../domain/difference/index.ts'
import { rowsForCopy } from '../domain/model/saved-rows.ts'
import type { State } from '../domain/model/state.ts'
import { conflict, invalid, missingOwn } from '../domain/refusal.ts'
import type { Engine } from '../engine.ts'
import { inTurn, Writing } from './in-turn.ts'

/** A state as rows, section by section. */
export type Sections = Readonly<Record<string, readonly unknown[]>>

/** When a state was, and how the clock ran. */
export interface WorldTime {
  /** Milliseconds, by the daemon's clock. */
  readonly time: number
  readonly clock: ClockSetting
}

export interface Snapshot extends WorldTime {
  readonly sections: Sections
}

/** Snapshots that leave the daemon, and come back. */
export interface SnapshotFiles {
  write(time: WorldTime, state: State): AsyncIterable<string>
  /** The same organization as a seed. */
  seed(state: State): AsyncIterable<string>
  /** Refuses what is no snapshot, or not one that this version reads. */
  read(text: string): Promise<Snapshot>
}

const mostSnapshots = 1000
/** Of all snapshots: rows of some sections are copied for each. A single snapshot may have more. */
const mostRows = 500_000

/** Names of the current state, and of the one that `reset` goes back to. */
const reserved = ['now', 'start']

export class Snapshots {
  readonly #engine: Engine
  readonly #clock: SteeredClock
  readonly #files: SnapshotFiles
  readonly #saved = new Map<string, Snapshot>()
  readonly #writing = new Writing()
  #start: Snapshot | undefined

  constructor(engine: Engine, clock: SteeredClock, files: SnapshotFiles) {
    this.#engine = engine
    this.#clock = clock
    this.#files = files
    const kept = () => [...this.#saved.values(), ...(this.#start ? [this.#start] : [])]
    engine.keepFiles(() => kept().map(({ sections }) => sections))
  }

  /** Makes the current state the one that `reset` goes back to. `sections` are its rows, if the caller has them. */
  setStart(sections?: Sections): void {
    this.#start = this.#current(sections)
  }

  async reset(): Promise<void> {
    await this.#restore('reset', this.#start!)
  }

  save(name: string): { name: string; time: number } {
    this.#checkName(name)
    return this.#keep(name, this.#current())
  }

  #keep(name: string, snapshot: Snapshot): { name: string; time: number } {
    const others = [...this.#saved].filter(([other]) => other !== name).map(([, { sections }]) => countRows(sections))
    if (others.length > 0 && others.reduce((sum, rows) => sum + rows, countRows(snapshot.sections)) > mostRows)
      throw conflict('name', `all snapshots together have more than ${mostRows} rows; remove one first`)
    this.#saved.set(name, snapshot)
    return { name, time: snapshot.time }
  }

  #checkName(name: string): void {
    // It becomes a part of paths, where '.' and '..' have a meaning.
    if (!/^[\w-][\w.-]{0,99}$/.test(name))
      throw invalid('name', 'must be up to 100 letters, digits, dots, dashes and underscores, not beginning with a dot')
    if (reserved.includes(name)) throw invalid('name', `${name} is reserved; choose another name`)
    if (this.#saved.size >= mostSnapshots && !this.#saved.has(name))
      throw conflict('name', `there are already ${mostSnapshots} snapshots; remove one first`)
  }

  async restore(name: string): Promise<void> {
    await this.#restore('restore-snapshot', this.#named(name))
  }

  remove(name: string): void {
    this.#named(name)
    this.#saved.delete(name)
  }

  list(): { name: string; time: number }[] {
    return Array.from(this.#saved, ([name, { time }]) => ({ name, time }))
  }

  /** A snapshot from which another world starts; without a name, the current state. A refusal names the parameter. */
  copy(name: string | undefined, parameter: string): Snapshot {
    const snapshot = name === undefined ? this.#current() : this.#named(name, parameter)
    // The other world does not have the files of this store.
    return { ...snapshot, sections: rowsForCopy(this.#engine.whole(snapshot.sections)) }
  }

  /** Lists at most `limit` things. */
  compare(from: string, to: string, limit: number): Promise<Difference> {
    return this.#compare(this.#find(from, 'from'), this.#find(to, 'to'), limit)
  }

  /** What this piece of work changes. */
  async changedBy(work: () => unknown, limit: number): Promise<Difference> {
    const before = this.#current()
    await work()
    return this.#compare(before, this.#current(), limit)
  }

  /** The snapshot as a file: complete by itself. */
  write(name: string): AsyncIterable<string> {
    if (name !== 'now') this.#find(name, 'name')
    return this.#writing.write(() => {
      const now = { time: this.#clock.now(), clock: this.#clock.setting }
      return this.#files.write(name === 'now' ? now : this.#find(name, 'name'), this.#loadState(name))
    })
  }

  /** The snapshot as a seed. */
  dumpSeed(name: string): AsyncIterable<string> {
    if (name !== 'now') this.#find(name, 'name')
    return this.#writing.write(() => this.#files.seed(this.#loadState(name)))
  }

  /** The current state is not copied: a million messages would need their memory twice. */
  #loadState(name: string): State {
    return name === 'now' ? this.#engine.state : this.#engine.load(this.#find(name, 'name').sections)
  }

  /** Saves a snapshot that was a file, possibly of another daemon. */
  async import(name: string, text: string): Promise<{ name: string; time: number }> {
    this.#checkName(name)
    return this.#keep(name, await inTurn(this, () => this.#files.read(text)))
  }

  /** Other requests get their turn meanwhile. */
  #compare(from: Snapshot, to: Snapshot, limit: number): Promise<Difference> {
    return inTurn(this, () => this.#compareNow(from, to, limit))
  }

  async #compareNow(from: Snapshot, to: Snapshot, limit: number): Promise<Difference> {
    const load = ({ sections }: Snapshot): State => this.#engine.load(sections)
    const comparing = compareStates(load(from), load(to), limit)
    for (;;) {
      const { done, value } = comparing.next()
      if (done) return value
      await nextTurn()
    }
  }

  #find(name: string, parameter: string): Snapshot {
    if (name === 'now') return this.#current()
    return name === 'start' ? this.#start! : this.#named(name, parameter)
  }

  #named(name: string, parameter = 'name'): Snapshot {
    const snapshot = this.#saved.get(name)
    if (!snapshot) throw missingOwn(parameter, 'snapshot', name)
    return snapshot
  }

  #current(sections: Sections = this.#engine.sections()): Snapshot {
    return { time: this.#clock.now(), clock: this.#clock.setting, sections }
  }

  /** A frozen clock is set to its time in the snapshot. A running clock goes on from now, with the offset that it had. */
  async #restore(op: string, { clock, sections }: Snapshot): Promise<void> {
    this.#clock.jump(clock)
    await this.#engine.restore(op, sections)
  }
}

function countRows(sections: Sections): number {
  return Object.values(sections).reduce((sum, rows) => sum + rows.length, 0)
}
