// Deliveries of outgoing webhooks, of all bots: as the state remembers them, with the newest request that was made.

import type { WebhookRequest } from '../domain/bots/webhooks/request.ts'
import type { Fact } from '../domain/facts.ts'
import type { WebhookDelivery } from '../domain/model/rows/messages.ts'
import type { State } from '../domain/model/state.ts'
import type { Keys } from '../domain/resource.ts'
import type { Engine } from '../engine.ts'
import { NumberedLog } from './recent.ts'

export interface Delivery {
  readonly id: number
  /** Milliseconds, by the daemon's clock: when the message called the bot. */
  readonly time: number
  /** Address of the bot. */
  readonly bot: string | null
  readonly bot_id: number
  readonly message_id: number
  readonly trigger: 'mention' | 'direct_message'
  readonly status: 'waiting' | 'delivered' | 'failed'
  readonly attempts: number
  /** Milliseconds; null when there will be no other attempt. */
  readonly next_attempt: number | null
  readonly http_status: number | null
  readonly error: string | null
  /** How the answer began. */
  readonly response: string | null
  /** What was sent last, the token hidden; null before the first attempt, after a restart of the daemon, and when it is no longer kept. */
  readonly request: { readonly url: string; readonly content_type: string; readonly body: unknown } | null
}

type Request = NonNullable<Delivery['request']>

/** Requests that are kept, the newest. */
const most = 1000
/** Characters of their bodies. */
const mostCharacters = 4 * 1024 * 1024
const hidden = '***'
/** Deliveries that are listed, the newest. Any number of owners can each have some that wait. */
const mostListed = 10_000

export class Deliveries extends NumberedLog<Delivery> {
  readonly #engine: Engine
  readonly #keys: Keys
  /** By the state that holds the deliveries: after a reset or restore, another one can have the same ID. */
  readonly #requests = new WeakMap<State, Requests>()
  /** IDs of deliveries that the present entry has changed. */
  readonly #changed = new Set<number>()

  constructor(engine: Engine, keys: Keys) {
    super(engine.boundary)
    this.#engine = engine
    this.#keys = keys
  }

  get lastId(): number {
    return this.#engine.state.webhookDeliveries.nextId - 1
  }

  since(id = 0): Delivery[] {
    return this.#show([...this.#engine.state.webhookDeliveries.values()].filter(row => row.id > id))
  }

  /** Those by which a message has called a bot, oldest first. */
  ofMessage(messageId: number, botId: number): Delivery[] {
    return this.#show(
      this.#engine.state.webhookDeliveries.where('bot', botId).filter(row => row.messageId === messageId),
    )
  }

  /** A request is about to be made. */
  sending({ id, botId }: WebhookDelivery, { url, contentType, body }: WebhookRequest): void {
    const bot = this.#engine.state.users.get(botId)
    const text = bot ? body.replaceAll(this.#keys.deriveToken(bot), hidden) : body
    const requests = this.#requests.get(this.#engine.state) ?? new Requests()
    this.#requests.set(this.#engine.state, requests)
    const shown = contentType === 'application/json' ? JSON.parse(text) : text
    requests.keep(id, { url, content_type: contentType, body: shown }, text.length)
  }

  /** A fact was taken: notes the deliveries that it changes. */
  take(fact: Fact): void {
    if (!this.awaited) return
    if (fact.type === 'message.sent') for (const { id } of fact.calls ?? []) this.#changed.add(id)
    else if (fact.type === 'webhook.asked' || fact.type === 'webhook.attempted') this.#changed.add(fact.delivery.id)
  }

  /** All facts of an entry were taken: a wait may be for one of them. */
  reconsider(): void {
    for (const id of this.#changed) {
      const row = this.#engine.state.webhookDeliveries.get(id)
      if (row) this.tell(this.#shown(row))
    }
    this.#changed.clear()
  }

  #show(rows: WebhookDelivery[]): Delivery[] {
    const newest = rows.sort((a, b) => a.id - b.id).slice(-mostListed)
    return newest.map(row => this.#shown(row))
  }

  #shown(row: WebhookDelivery): Delivery {
    return {
      id: row.id,
      time: row.queued,
      bot: this.#engine.state.users.get(row.botId)?.email ?? null,
      bot_id: row.botId,
      message_id: row.messageId,
      trigger: row.trigger,
      status: row.status,
      attempts: row.attempts,
      next_attempt: row.due,
      http_status: row.httpStatus ?? null,
      error: row.error ?? null,
      response: row.response ?? null,
      request: this.#requests.get(this.#engine.state)?.get(row.id) ?? null,
    }
  }
}

class Requests {
  readonly #kept = new Map<number, { readonly request: Request; readonly size: number }>()
  #characters = 0

  get(id: number): Request | undefined {
    return this.#kept.get(id)?.request
  }

  keep(id: number, request: Request, size: number): void {
    this.#forget(id)
    this.#kept.set(id, { request, size })
    this.#characters += size
    for (const oldest of this.#kept.keys()) {
      if (this.#kept.size <= most && this.#characters <= mostCharacters) return
      this.#forget(oldest)
    }
  }

  #forget(id: number): void {
    this.#characters -= this.#kept.get(id)?.size ?? 0
    this.#kept.delete(id)
  }
}
