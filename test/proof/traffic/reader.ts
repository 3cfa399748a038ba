// One queue with a poll that waits, and what it must have heard: every event of its accounts once, in order.

import assert from 'node:assert/strict'
import { Client } from 'undici'
import { events } from '../../../daemon/api/events.ts'
import type { Account, Source } from './account.ts'

/** The types whose events are counted. */
export const countedTypes = ['saved_snippets', 'message', 'update_message', 'delete_message', 'reaction']

export class Reader {
  readonly #own: Account
  /** The accounts whose messages it hears, its own included. */
  readonly #audience: readonly Account[]
  readonly #queue: string
  readonly #heard = new Map<Source, number>()
  readonly #living = new Set<number>()
  /** One for each queue: a pool of thousands of connections is searched for each request. */
  readonly #client: Client
  #last = -1
  #isOver = false

  private constructor(own: Account, audience: readonly Account[], queue: string) {
    this.#own = own
    this.#audience = audience
    this.#queue = queue
    // A poll waits for as long as the daemon lets it.
    this.#client = new Client(own.caller.url, { headersTimeout: 0, bodyTimeout: 0 })
  }

  /** `event_types` of undefined asks for all. */
  static async register(own: Account, audience: readonly Account[], event_types?: readonly string[]): Promise<Reader> {
    const { queue_id } = await own.caller.call(events.register, {
      fetch_event_types: [],
      ...(event_types && { event_types: [...event_types] }),
    })
    return new Reader(own, audience, queue_id)
  }

  /** Polls until `stop`; a wrong event ends it with an error. */
  async work(): Promise<void> {
    const headers = { authorization: `Basic ${btoa(this.#own.caller.auth!)}` }
    while (!this.#isOver) {
      const path = `/api/v1/events?queue_id=${encodeURIComponent(this.#queue)}&last_event_id=${this.#last}`
      const text = await this.#client
        .request({ method: 'GET', path, headers })
        .then(({ body }) => body.text())
        .catch(error => {
          if (!this.#isOver) throw error
        })
      if (text === undefined) return
      const reply = JSON.parse(text)
      assert.equal(reply.result, 'success', text)
      for (const event of reply.events) this.#hear(event)
    }
  }

  /** Hangs up. */
  stop(): void {
    this.#isOver = true
    void this.#client.destroy()
  }

  get count(): number {
    return [...this.#heard.values()].reduce((sum, number) => sum + number, 0)
  }

  /** What it has not heard yet, or heard too often; undefined when it is up to date. */
  get difference(): string | undefined {
    for (const account of this.#audience) {
      for (const [source, number] of account.spoken) {
        const isOurs = account === this.#own || !source.startsWith('snippet')
        const heard = this.#heard.get(source) ?? 0
        if (isOurs && heard !== number) return `${heard} of ${number} events of ${source}`
      }
      for (const id of account.living) if (!this.#living.has(id)) return `nothing of message ${id}`
    }
    const living = this.#audience.reduce((sum, account) => sum + account.living.size, 0)
    if (this.#living.size !== living)
      return `${this.#living.size} messages that are not deleted, and there are ${living}`
    return undefined
  }

  get name(): string {
    return `queue ${this.#queue} of user ${this.#own.id}`
  }

  #hear(event: Readonly<Record<string, any>>): void {
    assert.ok(event.id > this.#last, `${this.name}: event ${event.id} after ${this.#last}`)
    this.#last = event.id
    switch (event.type) {
      case 'saved_snippets':
        if (event.op === 'update') this.#take(`snippet ${this.#own.id}`, event.saved_snippet.title)
        break
      case 'message':
        this.#take(`message ${event.message.sender_id}`, event.message.content)
        this.#living.add(event.message.id)
        break
      case 'update_message':
        this.#take(`edit ${event.user_id}`, event.content)
        break
      case 'reaction':
        this.#take(`reaction ${event.user_id}`)
        break
      case 'delete_message':
        for (const id of event.message_ids ?? [event.message_id])
          assert.ok(this.#living.delete(id), `${this.name}: message ${id} is deleted, and was never there`)
    }
  }

  /** The text begins with the number of the event, where it has one. */
  #take(source: Source, text?: string): void {
    const number = (this.#heard.get(source) ?? 0) + 1
    if (text !== undefined) assert.equal(Number.parseInt(text, 10), number, `${this.name}: ${source} out of order`)
    this.#heard.set(source, number)
  }
}
