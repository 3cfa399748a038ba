// States to go back to: the one the daemon began with, and those saved by name. Kept in memory; rows are shared with the
// living state, so saving one costs next to nothing.

import { setImmediate as nextTurn } from 'node:timers/promises'
import type { ClockSetting, SteeredClock } from '../clock.ts'
import { compareStates, type Difference } from '../domain/difference/index.ts'
import { rowsForCopy } from '../domain/model/saved-rows.ts'
import type { State } from '../domain/model/state.ts'
import { conflict, invalid, missingOwn } from '../domain/refusal.ts'
import type { Engine } from '../engine.ts'

/** A state as rows, section by section. */
export type Sections = Readonly<Record<string, readonly unknown[]>>

/** When a state was, and how the clock ran. */
export interface WorldTime {
  /** Milliseconds, by the daemon's clock. */
  readonly time: number
  readonly clock: ClockSetting
}

/** A state with its time. */
export interface SavedWorld extends WorldTime {
  readonly sections: Sections
}

interface NamedWorld extends SavedWorld {
  readonly name: string
}

/** Snapshots that leave the daemon, and come back. */
export interface SnapshotFiles {
  write(time: WorldTime, state: State): AsyncIterable<string>
  /** The same organization as a seed. */
  seed(state: State): AsyncIterable<string>
  /** Refuses what is no snapshot, or not one that this version reads. */
  read(text: string): Promise<SavedWorld>
}

const most = 1000

/** Names in a comparison: the present state, and the one that `reset` goes back to. */
const places = ['now', 'start']

export class SavedStates {
  readonly #engine: Engine
  readonly #clock: SteeredClock
  readonly #files: SnapshotFiles
  readonly #saved = new Map<string, NamedWorld>()
  #beginning: NamedWorld | undefined

  constructor(engine: Engine, clock: SteeredClock, files: SnapshotFiles) {
    this.#engine = engine
    this.#clock = clock
    this.#files = files
    const kept = () => [...this.#saved.values(), ...(this.#beginning ? [this.#beginning] : [])]
    engine.keepFiles(() => kept().map(({ sections }) => sections))
  }

  /** Makes the present state the one that `reset` goes back to. `sections` are its rows, if the caller has them. */
  begin(sections?: Sections): void {
    this.#beginning = this.#world('', sections)
  }

  async reset(): Promise<void> {
    await this.#restore('reset', this.#beginning!)
  }

  save(name: string): { name: string; time: number } {
    this.#checkName(name)
    const world = this.#world(name)
    this.#saved.set(name, world)
    return { name, time: world.time }
  }

  #checkName(name: string): void {
    // It becomes a part of paths, where '.' and '..' have a meaning.
    if (!/^[\w-][\w.-]{0,99}$/.test(name))
      throw invalid('name', 'must be up to 100 letters, digits, dots, dashes and underscores, not beginning with a dot')
    if (places.includes(name)) throw invalid('name', `${name} names a state itself; choose another name`)
    if (this.#saved.size >= most && !this.#saved.has(name))
      throw conflict('name', `there are already ${most} snapshots; remove one first`)
  }

  async restore(name: string): Promise<void> {
    await this.#restore('restore-snapshot', this.#named(name))
  }

  remove(name: string): void {
    this.#saved.delete(this.#named(name).name)
  }

  list(): { name: string; time: number }[] {
    return [...this.#saved.values()].map(({ name, time }) => ({ name, time }))
  }

  /** A snapshot for another world to begin with, by the parameter that names it; what is now without a name. */
  copy(name: string | undefined, parameter: string): Pick<NamedWorld, 'clock' | 'sections'> {
    const world = name === undefined ? this.#world('') : this.#named(name, parameter)
    // The other world does not have the files of this store.
    return { ...world, sections: rowsForCopy(this.#engine.whole(world.sections)) }
  }

  /** Lists at most `limit` things. */
  compare(from: string, to: string, limit: number): Promise<Difference> {
    return this.#compare(this.#place(from, 'from'), this.#place(to, 'to'), limit)
  }

  /** What this piece of work changes. */
  async changedBy(work: () => unknown, limit: number): Promise<Difference> {
    const before = this.#world('')
    await work()
    return this.#compare(before, this.#world(''), limit)
  }

  /** The snapshot as a file: complete by itself. */
  write(name: string): AsyncIterable<string> {
    const now = { time: this.#clock.now(), clock: this.#clock.setting }
    return this.#files.write(name === 'now' ? now : this.#place(name, 'name'), this.#loadState(name))
  }

  /** The snapshot as a seed. */
  dumpSeed(name: string): AsyncIterable<string> {
    return this.#files.seed(this.#loadState(name))
  }

  /** What is now is not copied: a million messages would need their memory twice. */
  #loadState(name: string): State {
    return name === 'now' ? this.#engine.state : this.#engine.load(this.#place(name, 'name').sections)
  }

  /** Takes a snapshot that was a file, possibly of another daemon. */
  async take(name: string, text: string): Promise<{ name: string; time: number }> {
    this.#checkName(name)
    const world = { name, ...(await this.#files.read(text)) }
    this.#saved.set(name, world)
    return { name, time: world.time }
  }

  /** Other requests get their turn meanwhile. */
  async #compare(from: NamedWorld, to: NamedWorld, limit: number): Promise<Difference> {
    const load = ({ sections }: NamedWorld): State => this.#engine.load(sections)
    const comparing = compareStates(load(from), load(to), limit)
    for (;;) {
      const { done, value } = comparing.next()
      if (done) return value
      await nextTurn()
    }
  }

  #place(name: string, parameter: string): NamedWorld {
    if (name === 'now') return this.#world('')
    return name === 'start' ? this.#beginning! : this.#named(name, parameter)
  }

  #named(name: string, parameter = 'name'): NamedWorld {
    const world = this.#saved.get(name)
    if (!world) throw missingOwn(parameter, 'snapshot', name)
    return world
  }

  #world(name: string, sections: Sections = this.#engine.sections()): NamedWorld {
    return { name, time: this.#clock.now(), clock: this.#clock.setting, sections }
  }

  /** Frozen time is frozen at the same time again; running time continues from now, as far ahead of the real one as it was. */
  async #restore(op: string, world: NamedWorld): Promise<void> {
    this.#clock.jump(world.clock)
    await this.#engine.restore(op, world.sections)
  }
}
