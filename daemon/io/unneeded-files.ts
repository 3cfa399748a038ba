// Files beside the store that nothing names any more are deleted: with the last upload that has their bytes, and at the
// start what a crash left behind. While a backup reads the store they stay.

import { pictureFiles } from '../domain/model/lookups.ts'
import type { State } from '../domain/model/state.ts'
import type { Engine } from '../engine.ts'
import { warn } from '../local/warnings.ts'
import type { Files } from './files.ts'

export class UnneededFiles {
  readonly #engine: Engine
  readonly #files: Files
  readonly #isHeld: () => boolean
  #sweeping: Promise<void> | undefined
  /** Files that stay until the next look, because a backup may need them or an upload of the same content holds them. */
  readonly #deferred = new Set<string>()
  #nextLook: (() => void) | undefined

  constructor(engine: Engine, files: Files, isHeld: () => boolean) {
    this.#engine = engine
    this.#files = files
    this.#isHeld = isHeld
  }

  /** What named these files is gone. */
  async drop(names: readonly string[]): Promise<void> {
    const unneeded = listUnnamed(this.#engine.state, names)
    if (unneeded.size === 0) return
    try {
      // A file goes only when a crash cannot bring back what named it.
      await this.#engine.settled()
      // Asked now, not before: a backup that begins after this knows that nothing names them.
      if (this.#isHeld()) this.#defer(unneeded)
      else this.#defer([...listUnnamed(this.#engine.state, unneeded)].filter(name => !this.#files.remove(name)))
    } catch (error) {
      warn(`files that nothing names could not be deleted: ${(error as Error).message}`)
    }
  }

  /** Looks at every file there is. */
  sweep(): void {
    const sweeping = this.#files.list().then(names => this.drop(names))
    this.#sweeping = sweeping.catch(() => {})
    this.#engine.boundary.run(() => sweeping)
  }

  /** Waits for a sweep that has begun. What is deferred is found by the sweep of the next start. */
  async stop(): Promise<void> {
    await this.#sweeping
    this.#nextLook?.()
  }

  #defer(names: Iterable<string>): void {
    for (const name of names) this.#deferred.add(name)
    if (this.#deferred.size === 0) return
    this.#nextLook ??= this.#engine.boundary.after(lookMs, () => {
      this.#nextLook = undefined
      const due = [...this.#deferred]
      this.#deferred.clear()
      return this.drop(due)
    })
  }
}

/** How often a daemon that has something to delete looks whether it still must stay. */
const lookMs = 1000

/** Those of the files that no row of the state names. */
function listUnnamed(state: State, files: Iterable<string>): Set<string> {
  const left = new Set(files)
  for (const name of namedFiles(state)) left.delete(name)
  return left
}

/** Every file that a row of the state names, some of them more than once. */
export function* namedFiles(state: State): Generator<string> {
  for (const { file } of state.attachments.values()) yield file
  yield* pictureFiles(state)
  for (const { file } of state.exports.values()) if (file !== undefined) yield file
}
