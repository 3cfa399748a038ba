// Rate limits of calls. Off on loopback unless wanted; kept exact, since tests of clients will look at the numbers.

import type { Endpoint } from '../api/define.ts'
import { type Refusal, rateLimited } from '../domain/refusal.ts'

export interface Budget {
  readonly name: string
  readonly limit: number
  readonly perSeconds: number
}

export const budgets = {
  user: { name: 'user', limit: 200, perSeconds: 60 },
  /** Polls have a budget of their own, so that they do not use up that of all other calls. */
  events: { name: 'events', limit: 200, perSeconds: 60 },
  /** Requests to /mcp. The calls that their tools make count as those of the account. */
  mcp: { name: 'mcp', limit: 200, perSeconds: 60 },
  address: { name: 'address', limit: 100, perSeconds: 60 },
  /** Failed passwords for one account from one client, from one client for all accounts, and for one account from all clients. */
  password: { name: 'password', limit: 5, perSeconds: 1800 },
  passwordClient: { name: 'password-client', limit: 30, perSeconds: 1800 },
  passwordAccount: { name: 'password-account', limit: 50, perSeconds: 3600 },
} as const satisfies Record<string, Budget>

/** Always on: a mail leaves the machine, and the person who gets it did not ask for it. */
export const mailBudgets = {
  confirmationsHourly: { name: 'confirmations-hourly', limit: 2, perSeconds: 3600 },
  confirmationsDaily: { name: 'confirmations-daily', limit: 5, perSeconds: 86_400 },
  invitations: { name: 'invitations', limit: 200, perSeconds: 86_400 },
  recipient: { name: 'recipient', limit: 5, perSeconds: 86_400 },
} as const satisfies Record<string, Budget>

/** The budget of its account that a call of this endpoint uses. */
export function budgetOf({ path }: Endpoint): Budget {
  return path === '/events' ? budgets.events : budgets.user
}

type Key = string | number

/** A budget, the account or address it is for, and how much is counted (1 by default). */
export type Claim = readonly [Budget, Key, number?]

function nameOf({ name }: Budget, key: Key): string {
  return `${name}:${key}`
}

export interface Times {
  /** For what callers are told. */
  readonly now: () => number
  /** For durations: `now` can be set back, and what was counted ahead of it would count for hours. */
  readonly elapsed: () => number
}

export class RateLimiter {
  readonly #times: Times
  /** When recent calls were made, by `elapsed`; oldest first. */
  readonly #calls = new Map<string, { readonly calls: number[]; readonly perSeconds: number }>()
  #sweepAt = 0

  constructor(times: Times) {
    this.#times = times
  }

  /** Whole milliseconds. */
  get #elapsed(): number {
    return Math.floor(this.#times.elapsed())
  }

  /** Counts a call, or refuses it. Appends the headers that tell what is left. */
  count(budget: Budget, key: Key, headers: string[]): void {
    const calls = this.#recent(budget, key)
    const full = calls.length >= budget.limit
    if (!full) this.#add(budget, key, calls, this.#elapsed)
    headers.push(
      'X-RateLimit-Limit',
      String(budget.limit),
      'X-RateLimit-Remaining',
      String(budget.limit - calls.length),
      'X-RateLimit-Reset',
      String(Math.ceil((this.#times.now() - this.#elapsed + calls.at(-1)! + budget.perSeconds * 1000) / 1000)),
    )
    if (full) throw this.#hit(budget, calls)
  }

  /** Counts an attempt in all of these budgets, or refuses it and counts it in none. Returns a function that takes it back. */
  attempt(claims: readonly Claim[]): () => void {
    const claimed = claims.map(([budget, key, times = 1]) => [budget, key, this.#recent(budget, key), times] as const)
    for (const [budget, , calls, times] of claimed)
      if (calls.length + times > budget.limit) throw this.#hit(budget, calls)
    const now = this.#elapsed
    for (const [budget, key, calls, times] of claimed)
      for (let n = 0; n < times; n++) this.#add(budget, key, calls, now)
    return () => {
      for (const [, , calls] of claimed) {
        const index = calls.lastIndexOf(now)
        if (index !== -1) calls.splice(index, 1)
      }
    }
  }

  /** Empties the budget of one account or address. */
  forget(budget: Budget, key: Key): void {
    this.#calls.delete(nameOf(budget, key))
  }

  #hit(budget: Budget, calls: readonly number[]): Refusal {
    const oldest = calls[0] ?? this.#elapsed
    return rateLimited(Math.max(0, (oldest + budget.perSeconds * 1000 - this.#elapsed) / 1000))
  }

  /** Nothing is kept for a caller that is refused. */
  #recent(budget: Budget, key: Key): number[] {
    this.#sweep()
    const calls = this.#calls.get(nameOf(budget, key))?.calls ?? []
    const oldest = this.#elapsed - budget.perSeconds * 1000
    while (calls.length > 0 && calls[0]! <= oldest) calls.shift()
    return calls
  }

  #add(budget: Budget, key: Key, calls: number[], now: number): void {
    calls.push(now)
    if (calls.length === 1) this.#calls.set(nameOf(budget, key), { calls, perSeconds: budget.perSeconds })
  }

  /** Deletes budgets that were not used lately, so that their number stays bounded. */
  #sweep(): void {
    if (this.#elapsed < this.#sweepAt) return
    this.#sweepAt = this.#elapsed + 60_000
    for (const [name, { calls, perSeconds }] of this.#calls)
      if ((calls.at(-1) ?? 0) <= this.#elapsed - perSeconds * 1000) this.#calls.delete(name)
  }
}
