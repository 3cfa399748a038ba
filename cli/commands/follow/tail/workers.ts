// Processes several events in parallel, and reports up to which position all of them are done.

import { Failure } from '../../../base/failure.ts'
import { note } from '../../../base/note.ts'
import type { Position } from './cursor.ts'

export type OnError = 'stop' | 'skip' | 'retry'

const tries = 4
const firstWait = 500

export class Workers {
  readonly #limit: number
  readonly #onError: OnError
  /** Called with the position up to which everything is done. */
  readonly #reached: (position: Position) => void
  readonly #waiting: { readonly position: Position; done: boolean }[] = []
  readonly #running = new Set<Promise<void>>()
  #failure: unknown

  constructor(limit: number, onError: OnError, reached: (position: Position) => void) {
    this.#limit = limit
    this.#onError = onError
    this.#reached = reached
  }

  /** Returns when there is room for the next. */
  async add(position: Position, work: () => Promise<void>): Promise<void> {
    const entry = { position, done: false }
    this.#waiting.push(entry)
    const running = this.#do(work).then(
      () => {
        entry.done = true
        this.#advance()
      },
      error => {
        this.#failure ??= error
      },
    )
    this.#running.add(running)
    void running.then(() => this.#running.delete(running))
    while (this.#running.size >= this.#limit) await Promise.race(this.#running)
    this.#check()
  }

  async finish(): Promise<void> {
    await Promise.all(this.#running)
    this.#check()
  }

  #check(): void {
    if (this.#failure !== undefined) throw this.#failure
  }

  async #do(work: () => Promise<void>): Promise<void> {
    for (let left = this.#onError === 'retry' ? tries : 1; ; left--) {
      try {
        return await work()
      } catch (error) {
        if (!(error instanceof Failure)) throw error
        if (this.#onError === 'stop' || (this.#onError === 'retry' && left <= 1)) throw error
        note(`natter: ${error.message}`)
        if (this.#onError === 'skip') return
        await new Promise(resolve => setTimeout(resolve, firstWait * 2 ** (tries - left)))
      }
    }
  }

  #advance(): void {
    let reached: Position | undefined
    while (this.#waiting[0]?.done) reached = this.#waiting.shift()!.position
    if (reached) this.#reached(reached)
  }
}
