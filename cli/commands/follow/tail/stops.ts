// Stops a tail by its flags: after a number of events, after a certain event, after a silence, after a time.

import type { ChatEvent } from '../../../base/chat-event.ts'
import { exitCodes, Failure } from '../../../base/failure.ts'
import { readCount, readDuration } from '../../../base/flag-values.ts'
import type { Criterion } from './criteria.ts'

export interface StopFlags {
  readonly count?: string
  readonly until?: string
  readonly idle?: string
  readonly within?: string
}

export class Stops {
  readonly #flags: StopFlags
  readonly #stop: AbortController
  readonly #count: number | undefined
  readonly #until: Criterion | undefined
  readonly #idle: number | undefined
  readonly #within: number | undefined
  #seen = 0
  #met = false
  #listening = false
  #deadline: NodeJS.Timeout | undefined
  #silence: NodeJS.Timeout | undefined

  /** `until`: what --until asks for. */
  constructor(flags: StopFlags, until: Criterion | undefined, stop: AbortController) {
    this.#flags = flags
    this.#stop = stop
    this.#count = flags.count === undefined ? undefined : readCount('count', flags.count)
    this.#until = until
    this.#idle = flags.idle === undefined ? undefined : readDuration('idle', flags.idle)
    this.#within = flags.within === undefined ? undefined : readDuration('within', flags.within)
  }

  /** Starts the timer for the whole run. */
  begin(): void {
    if (this.#within !== undefined) this.#deadline = setTimeout(() => this.#stop.abort(), this.#within)
  }

  /** Starts counting silence. Before that, the server may still be searching for past messages. */
  caughtUp(): void {
    this.#listening = true
    this.#wait()
  }

  /** Call after each event; true if it was the last. */
  after(item: { readonly event: ChatEvent }): boolean {
    this.#seen++
    this.#wait()
    if (this.#count !== undefined && this.#seen >= this.#count) this.#met = true
    if (this.#until?.meets(item.event, undefined)) this.#met = true
    return this.#met
  }

  /** Stops the timers. */
  end(): void {
    clearTimeout(this.#deadline)
    clearTimeout(this.#silence)
  }

  /** Throws with its own exit code if an awaited event did not arrive. */
  check(): void {
    const { count, until, idle, within } = this.#flags
    if (this.#met || (count === undefined && until === undefined)) return
    const came = count === undefined ? `no event with ${until} arrived` : `${this.#seen} of ${count} events arrived`
    const limits = [within && `within ${within}`, idle && `before ${idle} without events`].filter(Boolean)
    throw new Failure(exitCodes.unmet, `${came} ${limits.join(' or ')}`.trim())
  }

  #wait(): void {
    if (this.#idle === undefined || !this.#listening) return
    clearTimeout(this.#silence)
    this.#silence = setTimeout(() => this.#stop.abort(), this.#idle)
  }
}
