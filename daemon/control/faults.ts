// Faults on demand: rules that say which calls go wrong, how, and how often. Randomness can be seeded, so that it repeats.

import { badRequest } from '../domain/refusal.ts'
import type { KnownCall } from '../http/exchange.ts'

/** Kind of fault, and what it does. */
export const faultKinds = {
  'rate-limit': 'answers 429 with Retry-After and RATE_LIMIT_HIT; the call is not carried out',
  status: 'answers with a status of your choice, 500 unless said; the call is not carried out',
  'html-502': 'answers 502 with a page in HTML, as a proxy does; the call is not carried out',
  latency: 'waits before the call is carried out',
  'hang-poll': 'never answers; the call is not carried out',
  'drop-after-write': 'carries the call out and hangs up without an answer',
  'reset-mid-body': 'carries the call out and hangs up in the middle of the answer',
  'expire-queue': 'lets the event queue that the call names expire first',
  'duplicate-event': 'answers a poll with every event twice',
} as const

export type FaultKind = keyof typeof faultKinds

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
  /** Of `latency`. */
  readonly ms?: number
}

export interface Fault extends FaultRule {
  readonly id: number
  /** Calls that fitted, and those of them that it spoilt. */
  seen: number
  hits: number
}

/** Which kinds a poll alone can suffer. */
const ofPolls: ReadonlySet<FaultKind> = new Set(['hang-poll', 'expire-queue', 'duplicate-event'])

export class Faults {
  readonly #random: () => number
  readonly #rules = new Map<number, Fault>()
  #lastId = 0

  /** `random` gives numbers from 0 up to 1. */
  constructor(random: () => number) {
    this.#random = random
  }

  list(): Fault[] {
    return [...this.#rules.values()]
  }

  add(rule: FaultRule): Fault {
    const fault = { id: ++this.#lastId, ...rule, seen: 0, hits: 0 }
    this.#rules.set(fault.id, fault)
    return fault
  }

  remove(id: number): boolean {
    return this.#rules.delete(id)
  }

  clear(): void {
    this.#rules.clear()
  }

  /** The faults that this call meets, in the order they were added; each is counted. */
  meet(call: KnownCall): Fault[] {
    if (this.#rules.size === 0) return []
    return this.list().filter(fault => fits(fault, call) && this.#strikes(fault))
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
    if (ofPolls.has(kind) && endpoint.id !== 'get-events') return false
  } else if (wanted !== endpoint.id && wanted !== `${endpoint.method} ${endpoint.path}`) return false
  if (user === undefined) return true
  return actor !== undefined && (user === actor.id || String(user).toLowerCase() === actor.email.toLowerCase())
}

export interface Known {
  /** Whether an endpoint goes by this operation ID, or by this method and path. */
  endpoint(name: string): boolean
  /** The address of who goes by this name, address or ID; refuses when that is nobody. */
  user(name: unknown): string
}

/** A rule from what was sent; a mistake is named before it can make a test pass. */
export function readRule(sent: Readonly<Record<string, unknown>>, known: Known): FaultRule {
  const { kind } = sent
  if (typeof kind !== 'string' || !Object.hasOwn(faultKinds, kind))
    throw badRequest(`kind: one of ${Object.keys(faultKinds).join(', ')}`)
  for (const name of Object.keys(sent)) {
    if (!fields.includes(name)) throw badRequest(`${name}: no such field of a fault; there is ${fields.join(', ')}`)
    const owner = belongings[name]
    if (owner !== undefined && owner !== kind) throw badRequest(`${name}: belongs to ${owner}, not to ${kind}`)
  }
  if (sent.endpoint !== undefined && !(typeof sent.endpoint === 'string' && known.endpoint(sent.endpoint)))
    throw badRequest(
      `endpoint: no endpoint is called ${JSON.stringify(sent.endpoint)}; an operation ID such as send-message, or "POST /messages"`,
    )
  for (const [name, [least, most, whole]] of Object.entries(ranges)) {
    const value = sent[name]
    if (value === undefined) continue
    if (!(typeof value === 'number' && value >= least && value <= most && (!whole || Number.isInteger(value))))
      throw badRequest(`${name}: a ${whole ? 'whole ' : ''}number from ${least} to ${most}`)
  }
  return { ...(sent as unknown as FaultRule), ...(sent.user !== undefined && { user: known.user(sent.user) }) }
}

/** From, to, and whether only whole ones. */
const ranges: Readonly<Record<string, readonly [number, number, boolean?]>> = {
  times: [1, 1e9, true],
  after: [0, 1e9, true],
  probability: [0, 1],
  status: [400, 599, true],
  seconds: [0, 86_400],
  ms: [0, 600_000],
}

/** Fields that only one kind knows what to do with. */
const belongings: Readonly<Record<string, FaultKind>> = { status: 'status', seconds: 'rate-limit', ms: 'latency' }

const fields = ['kind', 'endpoint', 'user', ...Object.keys(ranges)]
