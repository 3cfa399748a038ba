// Outgoing webhooks leave through here: requests to the servers of bots, beside the traffic. What waits, was tried and
// came of it is in the journal, so a restart goes on where it was.

import { Alarm, type Clock } from '../clock.ts'
import { buildRequest, type WebhookRequest } from '../domain/bots/webhooks/request.ts'
import { type Attempt, settle } from '../domain/bots/webhooks/settle.ts'
import type { WebhookDelivery } from '../domain/model/rows/messages.ts'
import type { Surroundings } from '../domain/resource.ts'
import type { Engine } from '../engine.ts'
import { version } from '../local/version.ts'
import { checkedLookup, Forbidden, forbidden, type Permitted } from './webhook-targets.ts'

interface WebhooksParts {
  readonly engine: Engine
  readonly clock: Clock
  readonly surroundings: () => Surroundings
  readonly permitted: Permitted
  /** Milliseconds a bot's server has for its whole answer. */
  readonly timeout: number
  /** Hears of every request before it is made. */
  readonly onRequest?: (delivery: WebhookDelivery, request: WebhookRequest) => void
  /** Hears what became of every attempt. */
  readonly onAttempt?: ((kind: Attempt['kind']) => void) | undefined
}

/** A slow bot may hold up itself, not the others. */
const perBot = 8
const atOnce = 64
const maxAnswer = 1024 * 1024

export class Webhooks {
  readonly #parts: WebhooksParts
  readonly #underWay = new Map<number, number>()
  readonly #abort = new AbortController()
  readonly #alarm: Alarm
  #reconsidering = false
  #quiet: (() => void)[] = []
  #running = false
  #agent: Promise<import('undici').Agent> | undefined

  constructor(parts: WebhooksParts) {
    this.#parts = parts
    this.#alarm = new Alarm(parts.clock, () => this.#begin())
  }

  start(): void {
    this.#running = true
    this.reconsider()
  }

  /** What is under way is given up, and tried again after the next start. */
  async stop(): Promise<void> {
    this.#running = false
    this.#alarm.stop()
    this.#abort.abort()
    for (const tell of this.#quiet.splice(0)) tell()
    await (await this.#agent)?.destroy()
  }

  /** Resolves when no server is being called; what has to wait for its time is not waited for. */
  async quiet(): Promise<void> {
    if (this.#reconsidering || this.#underWay.size > 0)
      await new Promise<void>(resolve => {
        this.#quiet.push(resolve)
      })
  }

  /** Facts were taken. Looked at once per turn, however many came. */
  reconsider(): void {
    if (this.#reconsidering || !this.#running) return
    this.#reconsidering = true
    this.#parts.engine.boundary.soon(() => {
      this.#reconsidering = false
      this.#begin()
    })
  }

  #begin(): void {
    if (!this.#running) return
    const { engine, clock } = this.#parts
    let next = Number.POSITIVE_INFINITY
    for (const delivery of engine.state.webhookDeliveries.where('waiting', 1)) {
      if (this.#underWay.has(delivery.id) || this.#underWay.size >= atOnce) continue
      if (delivery.due! > clock.now()) next = Math.min(next, delivery.due!)
      else if (this.#countCalls(delivery.botId) < perBot) engine.boundary.run(() => this.#deliver(delivery))
    }
    this.#tellQuiet()
    this.#alarm.set(next === Number.POSITIVE_INFINITY ? undefined : next)
  }

  #tellQuiet(): void {
    if (this.#underWay.size === 0) for (const tell of this.#quiet.splice(0)) tell()
  }

  #countCalls(botId: number): number {
    let calls = 0
    for (const bot of this.#underWay.values()) if (bot === botId) calls++
    return calls
  }

  async #deliver(delivery: WebhookDelivery): Promise<void> {
    const { engine, surroundings } = this.#parts
    this.#underWay.set(delivery.id, delivery.botId)
    try {
      // A message leaves the daemon only when it is on disk.
      await engine.settled()
      const request = buildRequest(surroundings(), delivery)
      const attempt = await this.#attempt(delivery, request)
      this.#parts.onAttempt?.(attempt.kind)
      if (this.#running)
        await engine.run('deliver-webhook', delivery.botId, () => ({
          facts: settle(surroundings(), delivery, attempt),
          reply: {},
        }))
    } finally {
      this.#underWay.delete(delivery.id)
      this.reconsider()
    }
  }

  async #attempt(delivery: WebhookDelivery, request: ReturnType<typeof buildRequest>): Promise<Attempt> {
    if (request === null) return { kind: 'pointless' }
    if ('refused' in request) return { kind: 'impossible', reason: request.refused }
    const why = forbidden(new URL(request.url).hostname, this.#parts.permitted)
    if (why) return { kind: 'impossible', reason: why }
    this.#parts.onRequest?.(delivery, request)
    try {
      return await this.#post(request)
    } catch (error) {
      return readFailure(error as Error & { code?: string }, this.#parts.timeout)
    }
  }

  async #post({ url, contentType, body }: WebhookRequest): Promise<Attempt> {
    const { timeout } = this.#parts
    // Loaded at the first call: most daemons never make one.
    const { request, Agent } = await import('undici')
    this.#agent ??= Promise.resolve(
      new Agent({ connect: { timeout, lookup: checkedLookup(this.#parts.permitted) }, connections: perBot }),
    )
    const limit = new AbortController()
    // AbortSignal.timeout would not do: what AbortSignal.any made of it never fires once garbage was collected.
    const cancel = this.#parts.engine.boundary.after(timeout, () =>
      limit.abort(new DOMException('too slow', 'TimeoutError')),
    )
    try {
      const response = await request(url, {
        method: 'POST',
        headers: { 'content-type': contentType, 'user-agent': `NatterOutgoingWebhook/${version()}` },
        body,
        dispatcher: await this.#agent,
        signal: AbortSignal.any([this.#abort.signal, limit.signal]),
      })
      const parts: Buffer[] = []
      let size = 0
      for await (const part of response.body) {
        size += part.length
        if (size > maxAnswer) {
          response.body.destroy()
          return { kind: 'impossible', reason: 'The answer of the bot’s server is larger than 1 MiB' }
        }
        parts.push(part)
      }
      return { kind: 'answered', status: response.statusCode, body: Buffer.concat(parts).toString() }
    } finally {
      cancel()
    }
  }
}

/** What may go better the next time, and what will not. */
const passing = new Set([
  'ECONNREFUSED',
  'ECONNRESET',
  'ETIMEDOUT',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EPIPE',
  'EAI_AGAIN',
])

function readFailure(error: Error & { code?: string }, timeout: number): Attempt {
  const first: Error & { code?: string } = error instanceof AggregateError ? error.errors[0] : error
  const code = first.code ?? ''
  if (first instanceof Forbidden) return { kind: 'impossible', reason: first.message }
  if (error.name === 'TimeoutError' || code === 'UND_ERR_CONNECT_TIMEOUT')
    return { kind: 'unreachable', reason: `The bot’s server did not answer within ${timeout / 1000} seconds` }
  if (passing.has(code) || code === 'UND_ERR_SOCKET')
    return { kind: 'unreachable', reason: `The bot’s server cannot be reached: ${first.message || code}` }
  return { kind: 'impossible', reason: `The request failed: ${first.message || code || first.name}` }
}
