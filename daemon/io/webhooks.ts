// Outgoing webhooks leave through here: requests to the servers of bots, beside the traffic. What waits, was tried and
// came of it is in the journal, so a restart goes on where it was.

import { Alarm, type Clock } from '../clock.ts'
import { buildRequest, type WebhookRequest } from '../domain/bots/webhooks/request.ts'
import { type Attempt, settle } from '../domain/bots/webhooks/settle.ts'
import type { WebhookDelivery } from '../domain/model/rows/messages.ts'
import type { State } from '../domain/model/state.ts'
import type { Surroundings } from '../domain/resource.ts'
import type { Engine } from '../engine.ts'
import { GatheredBytes } from '../local/gathered-bytes.ts'
import { monotonicMs } from '../local/monotonic.ts'
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
/** Calls that are begun before requests get their turn. */
const perTurn = 8
const maxAnswer = 1024 * 1024
/** Looking through deliveries that wait takes at most this share of the time, however many they are. */
const lookingShare = 0.1

/** Calls for the deliveries of one state. A reset or restore replaces the state; then they are given up. */
class Calls {
  readonly state: State
  readonly underWay = new Set<WebhookDelivery>()
  readonly abort = new AbortController()

  constructor(state: State) {
    this.state = state
  }
}

export class Webhooks {
  readonly #parts: WebhooksParts
  #calls: Calls
  readonly #alarm: Alarm
  #reconsidering = false
  /** By `monotonicMs()`. */
  #lookAgain = 0
  #quiet: (() => void)[] = []
  #running = false
  #agent: Promise<import('undici').Agent> | undefined

  constructor(parts: WebhooksParts) {
    this.#parts = parts
    this.#calls = new Calls(parts.engine.state)
    this.#alarm = new Alarm(parts.clock, () => this.reconsider())
  }

  start(): void {
    this.#running = true
    this.reconsider()
  }

  /** What is under way is given up, and tried again after the next start. */
  async stop(): Promise<void> {
    this.#running = false
    this.#alarm.stop()
    this.#calls.abort.abort()
    for (const tell of this.#quiet.splice(0)) tell()
    await (await this.#agent)?.destroy()
  }

  /** Resolves when no server is being called; what has to wait for its time is not waited for. After `stop`, at once. */
  async quiet(): Promise<void> {
    if (this.#running && (this.#reconsidering || this.#calls.underWay.size > 0))
      await new Promise<void>(resolve => {
        this.#quiet.push(resolve)
      })
  }

  /** Facts were taken. Looked at once per turn, however many came, and after requests that have arrived meanwhile. */
  reconsider(): void {
    if (this.#reconsidering || !this.#running) return
    this.#reconsidering = true
    const { boundary } = this.#parts.engine
    const look = () => {
      this.#reconsidering = false
      this.#begin()
    }
    const rest = this.#lookAgain - monotonicMs()
    if (rest > 0) boundary.after(rest, look)
    else boundary.nextTurn(look)
  }

  #begin(): void {
    if (!this.#running) return
    const { engine, clock } = this.#parts
    if (this.#calls.state !== engine.state) {
      this.#calls.abort.abort()
      this.#calls = new Calls(engine.state)
    }
    const began = monotonicMs()
    const now = clock.now()
    let next = Number.POSITIVE_INFINITY
    const ready: WebhookDelivery[] = []
    for (const delivery of engine.state.webhookDeliveries.where('waiting', 1)) {
      if (this.#calls.underWay.has(delivery)) continue
      const start = Math.max(delivery.due!, now + this.#pause(delivery))
      if (start > now) next = Math.min(next, start)
      else ready.push(delivery)
    }
    const areMore = this.#deliverInTurn(ready)
    this.#tellQuiet()
    this.#alarm.set(next === Number.POSITIVE_INFINITY ? undefined : next)
    const took = monotonicMs() - began
    this.#lookAgain = took < 1 ? 0 : began + took / lookingShare
    if (areMore) this.reconsider()
  }

  /** Milliseconds until the account that caused the delivery may cause writes. Whole ones: a part of one would be due again at once. */
  #pause(delivery: WebhookDelivery): number {
    const { budget, state } = this.#parts.engine
    return budget ? Math.ceil(budget.secondsLeft(state, causeOf(state, delivery)) * 1000) : 0
  }

  /**
   * Those of owners with the fewest calls go first: the bots of one account, however many, must not keep others waiting. Returns whether
   * more of them can begin in the next turn.
   */
  #deliverInTurn(ready: readonly WebhookDelivery[]): boolean {
    const { engine } = this.#parts
    const { underWay } = this.#calls
    const ofBots = new Map<number, number>()
    const ofOwners = new Map<number | null, number>()
    /** The number of calls that the owner has before this one; undefined if the bot has as many as it may have. */
    const takeTurn = ({ botId }: WebhookDelivery): number | undefined => {
      const calls = ofBots.get(botId) ?? 0
      if (calls === perBot) return undefined
      ofBots.set(botId, calls + 1)
      const owner = engine.state.users.get(botId)?.bot?.ownerId ?? null
      const turn = ofOwners.get(owner) ?? 0
      ofOwners.set(owner, turn + 1)
      return turn
    }
    for (const delivery of underWay) takeTurn(delivery)
    const turns = ready.map(delivery => ({ delivery, turn: takeTurn(delivery) }))
    const allowed = turns.filter(({ turn }) => turn !== undefined).sort((a, b) => a.turn! - b.turn!)
    const free = atOnce - underWay.size
    for (const { delivery } of allowed.slice(0, Math.min(free, perTurn)))
      engine.boundary.run(() => this.#deliver(delivery))
    return Math.min(free, allowed.length) > perTurn
  }

  #tellQuiet(): void {
    if (this.#calls.underWay.size === 0) for (const tell of this.#quiet.splice(0)) tell()
  }

  async #deliver(delivery: WebhookDelivery): Promise<void> {
    const { engine, surroundings } = this.#parts
    const { state, underWay, abort } = this.#calls
    const isWanted = () => this.#running && engine.state === state
    underWay.add(delivery)
    try {
      // A message leaves the daemon only when it is on disk.
      await engine.settled()
      if (!isWanted()) return
      const attempt = await this.#attempt(delivery, buildRequest(surroundings(), delivery), abort.signal)
      if (!isWanted()) return
      this.#parts.onAttempt?.(attempt.kind)
      await engine.run('deliver-webhook', delivery.botId, () => ({
        facts: settle(surroundings(), delivery, attempt),
        causedBy: causeOf(state, delivery),
        reply: {},
      }))
    } finally {
      underWay.delete(delivery)
      this.reconsider()
    }
  }

  async #attempt(
    delivery: WebhookDelivery,
    request: ReturnType<typeof buildRequest>,
    givenUp: AbortSignal,
  ): Promise<Attempt> {
    if (request === null) return { kind: 'pointless' }
    if ('refused' in request) return { kind: 'impossible', reason: request.refused }
    // Only a file can bring one in.
    if (!URL.canParse(request.url)) return { kind: 'impossible', reason: 'The URL of the bot’s server is not valid' }
    const why = forbidden(new URL(request.url).hostname, this.#parts.permitted)
    if (why) return { kind: 'impossible', reason: why }
    this.#parts.onRequest?.(delivery, request)
    try {
      return await this.#post(request, givenUp)
    } catch (error) {
      return readFailure(error as Error & { code?: string }, this.#parts.timeout)
    }
  }

  async #post({ url, contentType, body }: WebhookRequest, givenUp: AbortSignal): Promise<Attempt> {
    const { timeout } = this.#parts
    // Loaded at the first call: most daemons never make one.
    const { request, Agent } = await import('undici')
    this.#agent ??= Promise.resolve(
      // Without a limit of connections to one server: bots of several owners may be there.
      new Agent({ connect: { timeout, lookup: checkedLookup(this.#parts.permitted) } }),
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
        signal: AbortSignal.any([givenUp, limit.signal]),
      })
      const answer = new GatheredBytes()
      for await (const part of response.body) {
        if (answer.size + part.length > maxAnswer) {
          response.body.destroy()
          return { kind: 'impossible', reason: 'The answer of the bot’s server is larger than 1 MiB' }
        }
        answer.add(part)
      }
      return { kind: 'answered', status: response.statusCode, body: answer.buffer().toString() }
    } finally {
      cancel()
    }
  }
}

/**
 * The account in whose limit on written bytes a reply counts: the owner of the bot must not pay for what others send it, nor the
 * sender for messages that the owner has delivered again.
 */
function causeOf({ messages }: State, { botId, messageId, again }: WebhookDelivery): number {
  return again || !messages.has(messageId) ? botId : messages.sender(messageId)
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
