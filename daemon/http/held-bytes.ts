// Bytes that are held in memory for a while: bodies while they arrive, and what calls were sent until they are answered. Each kind has a
// bound of its own, so that bodies that never arrive whole do not keep out calls.

import { Refusal } from '../domain/refusal.ts'

export class HeldBytes {
  readonly #most: number
  readonly #whole: HeldBytes | undefined
  readonly #free: number
  #held = 0

  /** With a `whole`, this is a part of it: what is beyond the `free` bytes, which it has whatever the others hold, is counted there too. */
  constructor(most: number, whole?: HeldBytes, free = 0) {
    this.#most = most
    this.#whole = whole
    this.#free = free
  }

  /** Throws when this would exceed the bound. */
  take(bytes: number): void {
    const held = this.#held + bytes
    if (held > this.#most)
      throw new Refusal('Too many calls, or too large ones, wait for their answers. Try again in a moment.', {
        code: 'SERVER_BUSY',
      })
    this.#whole?.take(this.#countedInWhole(held) - this.#countedInWhole(this.#held))
    this.#held = held
  }

  give(bytes: number): void {
    const held = this.#held - bytes
    this.#whole?.give(this.#countedInWhole(this.#held) - this.#countedInWhole(held))
    this.#held = held
  }

  #countedInWhole(held: number): number {
    return Math.max(0, held - this.#free)
  }
}

/** The part of one call. */
export class Hold {
  readonly #of: HeldBytes
  #bytes = 0

  constructor(of: HeldBytes) {
    this.#of = of
  }

  get bytes(): number {
    return this.#bytes
  }

  /** Throws when this would exceed a bound. */
  set(bytes: number): void {
    if (bytes > this.#bytes) this.#of.take(bytes - this.#bytes)
    else this.#of.give(this.#bytes - bytes)
    this.#bytes = bytes
  }

  end(): void {
    this.set(0)
  }
}

/** What a call takes besides what it was sent: more calls than the daemon has connections fit. */
export const perCall = 1024
