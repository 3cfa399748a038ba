// Faults on demand: rules that say which calls go wrong, how, and how often. Randomness can be seeded, so that it repeats.

import { faults as api, type faultKinds } from '../api/control/faults.ts'
import { events } from '../api/events.ts'
import { decodeJson } from '../api/json-wire.ts'
import { requireEndpoint } from '../domain/index.ts'
import { conflict, invalid } from '../domain/refusal.ts'
import type { KnownCall } from '../http/exchange.ts'

type FaultKind = keyof typeof faultKinds

export interface FaultRule {
  readonly kind: FaultKind
  /** Operation ID, or method and path such as `GET /events`; absent: every call. */
  readonly endpoint?: string
  /** Who asks: address, the part of it before the @, or ID; absent: anyone. */
  readonly user?: string | number
  /** How many calls it spoils before it rests; absent: all. */
  readonly times?: number
  /** How many fitting calls it lets pass first. */
  readonly after?: number
  /** From 0 to 1; absent: always. */
  readonly probability?: number
  /** Of `status`. */
  readonly status?: number
  /** Of `rate-limit`: what Retry-After says. */
  readonly seconds?: number
  /** Of `latency` and `slow-heartbeat`. */
  readonly ms?: number
}

export interface Fault extends FaultRule {
  readonly id: number
  /** Calls that matched, and those of them that it changed. */
  seen: number
  hits: number
}

/** Which kinds a poll alone can suffer. */
const ofPolls: ReadonlySet<FaultKind> = new Set([
  'hang-poll',
  'expire-queue',
  'duplicate-event',
  'reorder',
  'slow-heartbeat',
  'stale-queue',
])

/** Each call is compared with all of them. */
const mostRules = 1000

/** Characters of all answers that are kept for `stale-queue`; the oldest are dropped for a new one. */
const mostCharacters = 1024 * 1024

export class Faults {
  readonly #random: () => number
  readonly #rules = new Map<number, Fault>()
  /** The last answer with events to each poller, while a rule of `stale-queue` exists. */
  readonly #answers = new Map<string, string>()
  #characters = 0
  #lastId = 0

  /** `random` gives numbers from 0 up to 1. */
  constructor(random: () => number) {
    this.#random = random
  }

  list(): Fault[] {
    return [...this.#rules.values()]
  }

  add(rule: FaultRule): Fault {
    if (this.#rules.size >= mostRules) throw conflict('kind', `there are already ${mostRules} faults; remove one first`)
    const fault = { id: ++this.#lastId, ...rule, seen: 0, hits: 0 }
    this.#rules.set(fault.id, fault)
    return fault
  }

  remove(id: number): boolean {
    const removed = this.#rules.delete(id)
    if (!this.repeats()) this.#forgetAll()
    return removed
  }

  clear(): void {
    this.#rules.clear()
    this.#forgetAll()
  }

  /** Keeps the answer to a poll, to give it again. */
  remember(poller: string, answer: string): void {
    this.#forget(poller)
    if (answer.length > mostCharacters) return
    this.#answers.set(poller, answer)
    this.#characters += answer.length
    for (const oldest of this.#answers.keys()) if (this.#characters > mostCharacters) this.#forget(oldest)
  }

  #forget(poller: string): void {
    this.#characters -= this.#answers.get(poller)?.length ?? 0
    this.#answers.delete(poller)
  }

  #forgetAll(): void {
    this.#answers.clear()
    this.#characters = 0
  }

  /** The answer that this poller got before. */
  previousAnswer(call: KnownCall): string | undefined {
    const poller = pollerOf(call)
    return poller === undefined ? undefined : this.#answers.get(poller)
  }

  /** Whether answers must be remembered. */
  repeats(): boolean {
    return this.#rules.size > 0 && this.list().some(({ kind }) => kind === 'stale-queue')
  }

  /** The faults that this call meets, in the order they were added; each is counted. */
  meet(call: KnownCall): Fault[] {
    if (this.#rules.size === 0) return []
    return this.list().filter(fault => fits(fault, call) && this.#canRepeat(fault, call) && this.#strikes(fault))
  }

  /** A queue whose first answer is still to come has nothing that could come again. */
  #canRepeat({ kind }: Fault, call: KnownCall): boolean {
    return kind !== 'stale-queue' || this.previousAnswer(call) !== undefined
  }

  #strikes(fault: Fault): boolean {
    fault.seen++
    if (fault.seen <= (fault.after ?? 0) || fault.hits >= (fault.times ?? Number.POSITIVE_INFINITY)) return false
    // Drawn only where it decides: other rules must not change the numbers that this one draws.
    if (fault.probability !== undefined && this.#random() >= fault.probability) return false
    fault.hits++
    return true
  }
}

function fits({ kind, endpoint: wanted, user }: FaultRule, { endpoint, actor }: KnownCall): boolean {
  if (wanted === undefined) {
    if (ofPolls.has(kind) && endpoint.id !== events.get.id) return false
  } else if (wanted !== endpoint.id && wanted !== `${endpoint.method} ${endpoint.path}`) return false
  if (user === undefined) return true
  return actor !== undefined && (user === actor.id || String(user).toLowerCase() === actor.email.toLowerCase())
}

/** The account is part of the key: no client is given the events of another. */
export function pollerOf({ endpoint, actor, fields }: KnownCall): string | undefined {
  return endpoint.id === events.get.id && actor ? `${actor.id} ${fields.get('queue_id')}` : undefined
}

/** The address of the account with this name, address or ID; refuses when there is none. */
type FindEmail = (name: unknown) => string

/** A rule from an object of any form, for callers without an endpoint; a mistake is refused before it can make a test pass. */
export function readRule(given: Readonly<Record<string, unknown>>, findEmail: FindEmail): FaultRule {
  const decoded = decodeJson(api.add, { path: {}, query: {}, body: given })
  if ('problem' in decoded) throw invalid(decoded.problem.parameter, decoded.problem.why)
  return checkRule(decoded.params as unknown as FaultRule, findEmail)
}

/** What the shapes cannot check: that fields fit the kind, and that endpoint and account exist. */
export function checkRule(rule: FaultRule, findEmail: FindEmail): FaultRule {
  for (const [name, kinds] of Object.entries(onlyFor))
    if (rule[name as keyof FaultRule] !== undefined && !kinds.includes(rule.kind))
      throw invalid(name, `belongs to ${kinds.join(' and ')}, not to ${rule.kind}`)
  if (rule.endpoint !== undefined) requireEndpoint(rule.endpoint)
  return rule.user === undefined ? rule : { ...rule, user: findEmail(rule.user) }
}

/** Fields that only some kinds use. */
const onlyFor: Readonly<Record<string, readonly FaultKind[]>> = {
  status: ['status'],
  seconds: ['rate-limit'],
  ms: ['latency', 'slow-heartbeat'],
}
