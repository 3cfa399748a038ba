// Clients of the cluster campaign: a writer at every daemon, and a reader that begins at every daemon and moves on when it
// is not answered. They note what they were answered; nothing here repeats a write.

import assert from 'node:assert/strict'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Endpoint } from '../../../daemon/api/define.ts'
import { events } from '../../../daemon/api/events.ts'
import { messages } from '../../../daemon/api/messages/messages.ts'
import { encode } from '../../../daemon/api/wire.ts'
import type { Caller } from '../../support/daemon.ts'
import { formOf, send } from '../../support/http.ts'

type Answer = { readonly result: string; readonly [field: string]: unknown } | undefined

/** What the daemon at the URL answers; undefined when it does not. */
export async function ask(
  url: string,
  owner: Caller,
  endpoint: Endpoint,
  params: Record<string, unknown>,
  ms = 15_000,
): Promise<Answer> {
  const { path, fields } = encode(endpoint, params)
  const { method } = endpoint
  try {
    const options = { method, auth: owner.auth, signal: AbortSignal.timeout(ms), ...formOf(method, fields) }
    return (await send(`${url}/api/v1${path}`, options)).body as Answer
  } catch {
    return undefined
  }
}

/** Milliseconds. A connection that was cut never answers. */
const writerTimeout = 5000

export class Writer {
  readonly answered: string[] = []
  /** Their outcome is unknown: no answer came. */
  unanswered = 0
  readonly #name: string
  readonly #url: string
  readonly #owner: Caller
  readonly #pause: number
  #running = true
  readonly #done: Promise<void>

  /** `pause`: milliseconds between two writes. */
  constructor(name: string, url: string, owner: Caller, pause: number) {
    this.#name = name
    this.#url = url
    this.#owner = owner
    this.#pause = pause
    this.#done = this.#write()
  }

  async stop(): Promise<void> {
    this.#running = false
    await this.#done
  }

  async #write(): Promise<void> {
    for (let i = 0; this.#running; i++) {
      const content = `${this.#name}.${i}`
      const params = { type: 'direct', to: [this.#owner.id], content }
      const answer = await ask(this.#url, this.#owner, messages.send, params, writerTimeout)
      if (answer?.result === 'success') this.answered.push(content)
      else this.unanswered++
      const pause = answer?.result === 'success' ? this.#pause : Math.max(this.#pause, 50)
      if (pause > 0) await sleep(pause)
    }
  }
}

export class Reader {
  readonly heard: string[] = []
  /** How often it had to go on at another daemon. */
  moves = 0
  readonly #urls: readonly string[]
  readonly #owner: Caller
  readonly #queue: string
  #last = -1
  #at: number

  constructor(urls: readonly string[], at: number, owner: Caller, queue: string) {
    this.#urls = urls
    this.#at = at
    this.#owner = owner
    this.#queue = queue
  }

  static async begin(urls: readonly string[], at: number, owner: Caller): Promise<Reader> {
    const answer = await ask(urls[at]!, owner, events.register, { event_types: ['message'] })
    assert.equal(answer?.result, 'success', JSON.stringify(answer))
    return new Reader(urls, at, owner, String(answer!.queue_id))
  }

  /** Until everything that is asked for was heard. */
  async hear(all: () => readonly string[], end: number): Promise<void> {
    while (!this.#has(all())) {
      assert.ok(performance.now() < end, `a reader did not hear ${this.#missing(all())}`)
      await this.poll(true)
    }
  }

  async poll(dontBlock = false): Promise<void> {
    const url = this.#urls[this.#at % this.#urls.length]!
    const params = { queue_id: this.#queue, last_event_id: this.#last, dont_block: dontBlock }
    const answer = await ask(url, this.#owner, events.get, params, 4000)
    if (answer?.result !== 'success') {
      assert.notEqual(answer?.code, 'BAD_EVENT_QUEUE_ID', 'the queue is lost')
      this.#at++
      this.moves++
      await sleep(50)
      return
    }
    for (const event of answer.events as { id: number; type: string; message?: { content: string } }[]) {
      assert.ok(event.id > this.#last, `event ${event.id} came after ${this.#last}`)
      this.#last = event.id
      if (event.type === 'message') this.heard.push(event.message!.content)
    }
    if (dontBlock) await sleep(20)
  }

  #has(all: readonly string[]): boolean {
    const heard = new Set(this.heard)
    return all.every(content => heard.has(content))
  }

  #missing(all: readonly string[]): string {
    const heard = new Set(this.heard)
    return all
      .filter(content => !heard.has(content))
      .slice(0, 5)
      .join(', ')
  }
}
