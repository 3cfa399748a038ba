// The log of calls: who asked for what and what came of it, with secrets hidden. A test can look back on it or wait for it.

import type { Upload } from '../api/define.ts'
import { maskTokens } from '../api/masking.ts'
import type { Boundary } from '../boundary.ts'
import type { SteeredClock } from '../clock.ts'
import type { Refusal } from '../domain/refusal.ts'
import type { KnownCall } from '../http/exchange.ts'
import type { Finding } from '../local/findings.ts'
import { monotonicMs } from '../local/monotonic.ts'
import { cutText } from '../local/text-parts.ts'
import { codeIn, keptOfAnswer, keptOfCall, longestAgent, mask, maskAnswer, presentSent } from './kept.ts'
import { Recent } from './recent.ts'
import { Recordings } from './recording.ts'

export interface Call {
  readonly id: number
  /** Milliseconds, by the daemon's clock. */
  readonly time: number
  readonly method: string
  readonly path: string
  /** Operation ID; null when no endpoint fits. */
  endpoint: string | null
  user: string | null
  user_id: number | null
  /** The header User-Agent; null if there was none. */
  readonly user_agent: string | null
  /** The parameters as the client sent them, before anything was read or filled in. */
  sent: Readonly<Record<string, unknown>>
  /** The same as the endpoint sees them, with defaults. */
  params: Readonly<Record<string, unknown>>
  /** null as long as it is not answered. */
  status: number | null
  code: string | null
  duration_ms: number | null
  /** The kind of fault that got in its way. */
  fault: string | null
  /** It is a poll that waits for events. */
  parked: boolean
  /** It was never answered, and never will be. */
  lost: boolean
  /** Only with --strict. */
  strict?: Finding[]
}

/** Why a call was refused, and where the journal was at that time. */
export interface Refused {
  readonly refusal: Refusal
  readonly position: number
}

const kept = 1000
/** Characters of their parameters. */
const mostCharacters = 8 * 1024 * 1024

export class Calls extends Recent<Call> {
  readonly recordings = new Recordings()
  readonly #clock: SteeredClock
  readonly #began = new WeakMap<Call, number>()
  readonly #answers = new WeakMap<Call, string>()
  readonly #refused = new WeakMap<Call, Refused>()
  readonly #revisions = new WeakMap<Call, number>()
  #revision = 0

  constructor(clock: SteeredClock, boundary: Boundary) {
    super(kept, boundary, mostCharacters)
    this.#clock = clock
  }

  begin(method: string, path: string, userAgent: string | undefined): Call {
    const call = this.add(id => ({
      id,
      time: this.#clock.now(),
      method,
      path: cutText(maskTokens(path), keptOfAnswer),
      endpoint: null,
      user: null,
      user_id: null,
      user_agent: userAgent === undefined ? null : cutText(userAgent, longestAgent),
      sent: {},
      params: {},
      status: null,
      code: null,
      duration_ms: null,
      fault: null,
      parked: false,
      lost: false,
    }))
    this.#began.set(call, monotonicMs())
    this.#change(call)
    return call
  }

  identify(call: Call, endpoint: KnownCall['endpoint'], actor: KnownCall['actor']): void {
    call.endpoint = endpoint.id
    call.user = actor?.email ?? null
    call.user_id = actor?.id ?? null
  }

  know(call: Call, { endpoint, actor, fields, sent, path }: KnownCall): void {
    this.identify(call, endpoint, actor)
    call.sent = presentSent(sent)
    this.recordings.know(call, sent)
    call.params = mask({ ...path, ...Object.fromEntries(fields) })
    this.resize(call, Math.min(keptOfCall, countCharacters(sent.values())))
    this.#change(call)
  }

  /** Of a call that no endpoint takes, or that was refused before anything but its head was read. */
  knowQuery(call: Call, query: string): void {
    if (query !== '') call.sent = presentSent(new URLSearchParams(query))
  }

  understand(call: Call, params: Readonly<Record<string, unknown>>): void {
    call.params = mask(params)
  }

  pollWaits(call: Call): void {
    call.parked = true
    this.tell(call)
  }

  refuse(call: Call, refusal: Refusal, position: number): void {
    this.#refused.set(call, { refusal, position })
  }

  answered(call: Call, status: number, body: string): void {
    call.status = status
    this.#answers.set(call, maskAnswer(body))
    if (status >= 400) call.code = codeIn(body)
    this.#end(call, body)
  }

  /** The connection is gone. */
  closed(call: Call): void {
    if (call.duration_ms !== null) return
    call.lost = true
    this.#end(call)
  }

  #end(call: Call, body?: string): void {
    call.parked = false
    // While time is frozen nothing takes any, and two runs of a script give the same log.
    const ms = this.#clock.frozen ? this.#clock.now() - call.time : monotonicMs() - this.#began.get(call)!
    call.duration_ms = Math.max(0, Math.round(ms * 1000) / 1000)
    this.recordings.end(call, body)
    this.#change(call)
    this.tell(call)
  }

  /** How the answer began, with secrets hidden; null as long as there is none. */
  answerOf(call: Call): string | null {
    return this.#answers.get(call) ?? null
  }

  /** undefined where it was answered, or not refused by the daemon itself. */
  refusalOf(call: Call): Refused | undefined {
    return this.#refused.get(call)
  }

  /** Grows with every call that arrives or changes. */
  get revision(): number {
    return this.#revision
  }

  /** The revision at which it arrived or last changed. */
  revisionOf(call: Call): number {
    return this.#revisions.get(call)!
  }

  /** Calls that arrived or changed after the revision, oldest first. */
  changedSince(revision: number): Call[] {
    return this.since().filter(call => this.#revisions.get(call)! > revision)
  }

  #change(call: Call): void {
    this.#revisions.set(call, ++this.#revision)
    this.onChange?.()
  }
}

function countCharacters(values: Iterable<string | Upload>): number {
  let count = 0
  for (const value of values) if (typeof value === 'string') count += value.length
  return count
}
