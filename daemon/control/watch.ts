// Watches every call for the log and lets it meet its faults.

import { setTimeout as sleep } from 'node:timers/promises'
import { Refusal, rateLimited } from '../domain/refusal.ts'
import type { Engine } from '../engine.ts'
import { headersFor } from '../http/answer.ts'
import type { Answering, ArrivingCall, KnownCall, Watch, WatchedCall } from '../http/exchange.ts'
import type { Call, Calls } from './calls.ts'
import { type Fault, type Faults, pollerOf } from './faults.ts'
import { type Findings, findingsIn } from './strict.ts'

/** Where a call is logged and what it meets. */
interface Watching {
  readonly engine: Engine
  readonly calls: Calls
  readonly faults: Faults
  /** With --strict. */
  readonly findings: Findings | undefined
}

export function watchCalls(watching: Watching): Watch {
  return { arrive: request => new Watched(watching, request) }
}

class Watched implements WatchedCall {
  readonly #engine: Engine
  readonly #calls: Calls
  readonly #faults: Faults
  readonly #findings: Findings | undefined
  readonly #call: Call
  readonly #request: ArrivingCall
  #isKnown = false
  /** Of the call no more: a poll that waits would keep its parameters. */
  #poller: string | undefined
  #met: readonly Fault[] = []

  constructor({ engine, calls, faults, findings }: Watching, request: ArrivingCall) {
    this.#engine = engine
    this.#calls = calls
    this.#faults = faults
    this.#findings = findings
    this.#request = request
    this.#call = calls.begin(request.method, request.path, request.headers['user-agent'])
  }

  identified(endpoint: KnownCall['endpoint'], actor: KnownCall['actor']): void {
    this.#calls.identify(this.#call, endpoint, actor)
  }

  async admit(known: KnownCall): Promise<boolean> {
    this.#isKnown = true
    this.#poller = pollerOf(known)
    this.#calls.know(this.#call, known)
    if (this.#findings) {
      this.#call.strict = findingsIn(this.#request, known)
      this.#findings.add(this.#call, this.#call.strict)
    }
    known.answering.raw.once(
      'close',
      this.#engine.boundary.guard(() => this.#calls.closed(this.#call)),
    )
    this.#met = this.#faults.meet(known)
    if (this.#met.length > 0) this.#call.fault = this.#met.map(({ kind }) => kind).join(', ')
    for (const fault of this.#met) if (!(await this.#before(fault, known))) return false
    return true
  }

  understood(params: Readonly<Record<string, unknown>>): void {
    this.#calls.understand(this.#call, params)
  }

  pollWaits(): void {
    this.#calls.pollWaits(this.#call)
  }

  refused(refusal: Refusal): void {
    this.#calls.refuse(this.#call, refusal, this.#engine.position)
  }

  answer(to: Answering, status: number, body: string): boolean {
    for (const { kind } of this.#met) {
      if (kind === 'drop-after-write') return hangUp(to)
      if (kind === 'reset-mid-body') return this.#breakOff(to, status, body)
    }
    // Refused before its body was read, so only the query is known.
    if (!this.#isKnown) this.#calls.knowQuery(this.#call, this.#request.query)
    this.#calls.answered(this.#call, status, body)
    if (status !== 200) return false
    const { changed, wait } = this.#spoil(body)
    if (this.#poller !== undefined && this.#faults.repeats() && eventsIn(body).length > 0)
      this.#faults.remember(this.#poller, body)
    if (wait > 0)
      this.#engine.boundary.after(wait, () => to.raw.destroyed || write(to, status, 'application/json', changed))
    else if (changed !== body) write(to, status, 'application/json', changed)
    return wait > 0 || changed !== body
  }

  /** Promises the whole and sends half. */
  #breakOff(to: Answering, status: number, body: string): true {
    const { raw } = to
    const { boundary } = this.#engine
    const length = Buffer.byteLength(body)
    raw.writeHead(status, headersFor(to, length))
    // Only once the half is on its way: a reset throws away what has not been sent.
    const reset = () => boundary.after(20, () => raw.socket?.resetAndDestroy())
    raw.write(Buffer.from(body).subarray(0, Math.floor(length / 2)), boundary.guard(reset))
    return true
  }

  /** The answer to a poll as its faults leave it, and how long it is held back. Several of a kind are as one: they would multiply. */
  #spoil(body: string): { changed: string; wait: number } {
    const kinds = new Set(this.#met.map(({ kind }) => kind))
    let [changed, wait] = [body, 0]
    if (kinds.has('duplicate-event')) changed = withEvents(changed, list => list.flatMap(event => [event, event]))
    if (kinds.has('reorder')) changed = withEvents(changed, list => list.toReversed())
    if (kinds.has('slow-heartbeat') && isHeartbeat(body))
      wait = Math.max(...this.#met.map(({ kind, ms = 60_000 }) => (kind === 'slow-heartbeat' ? ms : 0)))
    return { changed, wait }
  }

  /** What happens before the call is carried out; false when it is not carried out at all. */
  async #before(fault: Fault, known: KnownCall): Promise<boolean> {
    const { answering, fields } = known
    switch (fault.kind) {
      case 'rate-limit':
        throw rateLimited(fault.seconds ?? 1)
      case 'status':
        throw new Refusal('Internal error (injected by a fault)', {
          code: 'INTERNAL_ERROR',
          status: fault.status ?? 500,
        })
      case 'html-502': {
        const page = '<html><head><title>502 Bad Gateway</title></head><body><h1>502 Bad Gateway</h1></body></html>\n'
        write(answering, 502, 'text/html', page)
        this.#calls.answered(this.#call, 502, page)
        return false
      }
      case 'latency':
        await sleep(fault.ms ?? 1000, undefined, { ref: false })
        return true
      case 'hang-poll':
        return false
      case 'stale-queue': {
        const previous = this.#faults.previousAnswer(known)
        if (previous === undefined) return true
        write(answering, 200, 'application/json', previous)
        this.#calls.answered(this.#call, 200, previous)
        return false
      }
      case 'expire-queue': {
        const queueId = fields.get('queue_id')
        if (typeof queueId === 'string' && this.#engine.queues.get(queueId))
          await this.#engine.record('expire-queues', null, [{ type: 'queue.removed', queueId, reason: 'expired' }])
        return true
      }
      default:
        return true
    }
  }
}

function write(to: Answering, status: number, type: string, body: string): void {
  to.raw.writeHead(status, headersFor(to, Buffer.byteLength(body), type))
  to.raw.end(body)
}

function hangUp({ raw }: Answering): true {
  raw.destroy()
  return true
}

type Events = readonly { readonly type?: unknown }[]

function eventsIn(body: string): Events {
  const { events } = JSON.parse(body)
  return Array.isArray(events) ? events : []
}

function withEvents(body: string, change: (events: Events) => Events): string {
  const events = eventsIn(body)
  return events.length === 0 ? body : JSON.stringify({ ...JSON.parse(body), events: change(events) })
}

function isHeartbeat(body: string): boolean {
  const events = eventsIn(body)
  return events.length > 0 && events.every(({ type }) => type === 'heartbeat')
}
