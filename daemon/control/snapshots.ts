// States to go back to: the one the daemon began with, and those saved by name. Kept in memory; rows are shared with the
// living state, so saving one costs next to nothing.

import { conflict, invalid, missingOwn } from '../domain/refusal.ts'
import type { Engine } from '../engine.ts'

export type ClockSetting = { readonly frozenAt: number } | { readonly ahead: number }

/** As much of the clock as is needed to set it back. */
export interface WorldClock {
  readonly frozen: boolean
  readonly setting: ClockSetting
  now(): number
  jump(to: ClockSetting): void
}

/** A state as rows, section by section. */
export type Sections = Readonly<Record<string, readonly unknown[]>>

interface World {
  readonly name: string
  /** Milliseconds, by the daemon's clock. */
  readonly time: number
  readonly clock: ClockSetting
  readonly sections: Sections
}

const most = 1000

export class Worlds {
  readonly #engine: Engine
  readonly #clock: WorldClock
  readonly #saved = new Map<string, World>()
  #beginning: World | undefined

  constructor(engine: Engine, clock: WorldClock) {
    this.#engine = engine
    this.#clock = clock
  }

  /** What is now is what `reset` goes back to. `sections` are its rows, where somebody has them already. */
  begin(sections?: Sections): void {
    this.#beginning = this.#world('', sections)
  }

  async reset(): Promise<void> {
    await this.#restore('reset', this.#beginning!)
  }

  save(name: string): { name: string; time: number } {
    if (!/^[\w.-]{1,100}$/.test(name))
      throw invalid('name', 'must be up to 100 letters, digits, dots, dashes and underscores')
    if (this.#saved.size >= most && !this.#saved.has(name))
      throw conflict('name', `there are already ${most} snapshots; remove one first`)
    const world = this.#world(name)
    this.#saved.set(name, world)
    return { name, time: world.time }
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
  copy(name: string | undefined, parameter: string): Pick<World, 'clock' | 'sections'> {
    return name === undefined ? this.#world('', this.#engine.sections(true)) : this.#named(name, parameter)
  }

  #named(name: string, parameter = 'name'): World {
    const world = this.#saved.get(name)
    if (!world) throw missingOwn(parameter, 'snapshot', name)
    return world
  }

  #world(name: string, sections: Sections = this.#engine.sections()): World {
    return { name, time: this.#clock.now(), clock: this.#clock.setting, sections }
  }

  /** Frozen time is frozen at the same time again; running time continues from now, as far ahead of the real one as it was. */
  async #restore(op: string, world: World): Promise<void> {
    this.#clock.jump(world.clock)
    await this.#engine.restore(op, world.sections)
  }
}
