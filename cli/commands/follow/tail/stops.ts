// Stops a tail by its flags: after a number of events, after a certain event, after a silence, after a time.

import type { ChatEvent } from '../../../base/chat-event.ts'
import { exitCodes, Failure, usage } from '../../../base/failure.ts'
import { longestTimeout } from '../../../base/globals.ts'
import { parseDuration } from '../../../base/times.ts'
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
    this.#count = flags.count === undefined ? undefined : wholeNumber(flags.count, '--count')
    if (this.#count === 0) throw usage('--count must be at least 1')
    this.#until = until
    this.#idle = flags.idle === undefined ? undefined : duration(flags.idle, '--idle')
    this.#within = flags.within === undefined ? undefined : duration(flags.within, '--within')
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

export function wholeNumber(text: string, flag: string): number {
  if (!/^\d{1,9}$/.test(text)) throw usage(`${flag}: "${text}" is not a whole number, 0 or more`)
  return Number(text)
}

export function duration(text: string, flag: string): number {
  const ms = parseDuration(text)
  if (!ms) throw usage(`${flag}: "${text}" is not a duration such as 15s or 2m`)
  if (ms > longestTimeout) throw usage(`${flag}: ${text} is too long`, 'The maximum is 24d.')
  return ms
}
