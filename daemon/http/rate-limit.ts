// How often a caller may ask. Off on loopback unless wanted; kept exact, since tests of clients will look at the numbers.

import { type Refusal, rateLimited } from '../domain/refusal.ts'

export interface Budget {
  readonly name: string
  readonly limit: number
  readonly perSeconds: number
}

export const budgets = {
  user: { name: 'user', limit: 200, perSeconds: 60 },
  /** Polling must not eat the budget for everything else. */
  events: { name: 'events', limit: 200, perSeconds: 60 },
  address: { name: 'address', limit: 100, perSeconds: 60 },
  password: { name: 'password', limit: 5, perSeconds: 1800 },
} as const satisfies Record<string, Budget>

export class RateLimiter {
  readonly #now: () => number
  /** Times of recent calls, oldest first. */
  readonly #calls = new Map<string, number[]>()
  #sweepAt = 0

  constructor(now: () => number) {
    this.#now = now
  }

  /** Counts a call, or refuses it. Appends the headers that tell what is left. */
  count(budget: Budget, key: string | number, headers: string[]): void {
    const calls = this.#recent(budget, key)
    const full = calls.length >= budget.limit
    if (!full) calls.push(this.#now())
    headers.push(
      'X-RateLimit-Limit',
      String(budget.limit),
      'X-RateLimit-Remaining',
      String(budget.limit - calls.length),
      'X-RateLimit-Reset',
      String(Math.ceil((calls.at(-1)! + budget.perSeconds * 1000) / 1000)),
    )
    if (full) throw this.#hit(budget, calls, headers)
  }

  /**
   * For budgets of failures: counts an attempt before its outcome is known, or many at once would all get through.
   * Returns what takes it back when it succeeds.
   */
  attempt(budget: Budget, key: string | number, headers: string[]): () => void {
    const calls = this.#recent(budget, key)
    if (calls.length >= budget.limit) throw this.#hit(budget, calls, headers)
    const now = this.#now()
    calls.push(now)
    return () => {
      const index = calls.lastIndexOf(now)
      if (index !== -1) calls.splice(index, 1)
    }
  }

  #hit(budget: Budget, calls: readonly number[], headers: string[]): Refusal {
    const wait = Math.max(0, (calls[0]! + budget.perSeconds * 1000 - this.#now()) / 1000)
    headers.push('Retry-After', String(Math.ceil(wait)))
    return rateLimited(wait)
  }

  #recent(budget: Budget, key: string | number): number[] {
    this.#sweep()
    const name = `${budget.name}:${key}`
    let calls = this.#calls.get(name)
    if (!calls) {
      calls = []
      this.#calls.set(name, calls)
    }
    const oldest = this.#now() - budget.perSeconds * 1000
    while (calls.length > 0 && calls[0]! <= oldest) calls.shift()
    return calls
  }

  /** Callers that have gone must not be remembered without end. */
  #sweep(): void {
    if (this.#now() < this.#sweepAt) return
    this.#sweepAt = this.#now() + 60_000
    const longest = Math.max(...Object.values(budgets).map(budget => budget.perSeconds)) * 1000
    for (const [name, calls] of this.#calls) if ((calls.at(-1) ?? 0) < this.#now() - longest) this.#calls.delete(name)
  }
}
