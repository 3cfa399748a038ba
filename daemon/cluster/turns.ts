// Takes turns: each key has so many at a time, and further ones of it wait. So one account, or all callers without one together,
// cannot take up every connection to the leader.

import { Refusal } from '../domain/refusal.ts'

/** Calls of one key that wait for their turn. */
const mostWaiting = 1000

export class Turns {
  readonly #most: number
  readonly #keys = new Map<unknown, { running: number; readonly waiting: (() => void)[] }>()

  constructor(most: number) {
    this.#most = most
  }

  /** Runs the work when it is its turn. */
  async take<T>(key: unknown, work: () => Promise<T>): Promise<T> {
    const own = this.#keys.get(key) ?? { running: 0, waiting: [] }
    this.#keys.set(key, own)
    if (own.running < this.#most) own.running++
    else if (own.waiting.length < mostWaiting) await new Promise<void>(resolve => own.waiting.push(resolve))
    else throw busy()
    try {
      return await work()
    } finally {
      const next = own.waiting.shift()
      if (next) next()
      else if (--own.running === 0) this.#keys.delete(key)
    }
  }
}

function busy(): Refusal {
  return new Refusal('Too many of these calls wait for the leader of the cluster. Try again in a moment.', {
    code: 'SERVER_BUSY',
  })
}
