// Files beside the store that nothing names any more are deleted: at the start, and when an upload was removed.

import type { State } from './domain/state.ts'
import type { Engine } from './engine.ts'
import type { Files } from './files.ts'

export class UnneededFiles {
  readonly #engine: Engine
  readonly #files: Files
  readonly #warn: (text: string) => void
  #uploads = 0
  #sweeping: Promise<void> | undefined
  #again = false

  constructor(engine: Engine, files: Files, warn: (text: string) => void) {
    this.#engine = engine
    this.#files = files
    this.#warn = warn
  }

  /** Facts were taken. */
  reconsider(): void {
    const { size } = this.#engine.state.attachments
    if (size < this.#uploads) this.sweep()
    this.#uploads = size
  }

  /** One at a time; what is asked for meanwhile is done after it. */
  sweep(): void {
    if (this.#sweeping) {
      this.#again = true
      return
    }
    this.#sweeping = this.#sweep()
      .catch(error => this.#warn(`files that nothing names could not be deleted: ${(error as Error).message}`))
      .finally(() => {
        this.#sweeping = undefined
        if (!this.#again) return
        this.#again = false
        this.sweep()
      })
  }

  /** Waits for what has begun. */
  async stop(): Promise<void> {
    this.#again = false
    await this.#sweeping
  }

  async #sweep(): Promise<void> {
    const there = await this.#files.list()
    const needed = neededBy(this.#engine.state)
    const unneeded = there.filter(name => !needed.has(name))
    if (unneeded.length === 0) return
    // A file goes only when a crash cannot bring back what named it.
    await this.#engine.settled()
    const now = neededBy(this.#engine.state)
    for (const name of unneeded) if (!now.has(name)) this.#files.remove(name)
  }
}

function neededBy(state: State): Set<string> {
  const names = new Set<string>()
  for (const { file } of state.attachments.values()) names.add(file)
  for (const { file } of state.emoji.values()) names.add(file)
  for (const { avatar } of state.users.values()) if (avatar.file !== undefined) names.add(avatar.file)
  return names
}
