// A day in the life of a store, short: founded, written to in every way, compacted, stopped. It remembers what was answered, and
// checks afterwards that the store still has it.

import assert from 'node:assert/strict'
import type { Endpoint } from '../../../daemon/api/define.ts'
import { events } from '../../../daemon/api/events.ts'
import { messages } from '../../../daemon/api/messages/messages.ts'
import { savedSnippets } from '../../../daemon/api/messages/saved-snippets.ts'
import { scheduledMessages } from '../../../daemon/api/messages/scheduled-messages.ts'
import { encode } from '../../../daemon/api/wire.ts'
import { type Daemon, startDaemon } from '../../../daemon/daemon.ts'
import { readConfig } from '../../../daemon/start/config.ts'
import { Caller } from '../../support/daemon.ts'
import { cutOff, formOf, type HttpReply, multipart } from '../../support/http.ts'

/** How a run ended: all went well; a call was refused; the daemon stopped itself; it did not start. */
export type End = 'success' | 'refusal' | 'stop' | 'no start'

/** What a caller may be told when the disk does not take it. */
const honest = ['SERVER_NOT_READY', 'STORAGE_FULL']

const rounds = 3
/** Bytes of a file that goes to the disk piece by piece. */
const streamed = 1_100_000

export class Scenario {
  readonly #data: string
  readonly #random: () => number
  /** By ID: the texts that it may have. More than one when the last edit got no answer. */
  readonly #snippets = new Map<number, readonly string[]>()
  readonly #messages = new Map<number, string>()
  readonly #scheduled = new Set<number>()
  readonly #files = new Map<string, string>()
  #queue: string | undefined
  #acknowledged = -1
  /** Titles of snippets whose making or change was answered after the queue was there. */
  readonly #due = new Set<string>()
  readonly #heard = new Set<string>()
  #refused = false
  #failure: Error | undefined

  constructor(data: string, random: () => number) {
    this.#data = data
    this.#random = random
  }

  /** On a disk that may fail at any call. */
  async live(): Promise<End> {
    let daemon: Daemon
    try {
      daemon = await this.#start(this.#data)
    } catch (error) {
      assertPlain(error)
      return 'no start'
    }
    try {
      const owner = callerOf(daemon)
      for (let round = 1; round <= rounds && !this.#failure; round++) {
        const size = round === 2 ? streamed : 5000
        await Promise.all([
          this.#keepSnippets(owner),
          this.#talk(owner),
          this.#upload(owner, size),
          this.#listen(owner),
        ])
        // It says why it failed, and the daemon goes on.
        if (round < rounds) await daemon.world.engine.compact().catch(assertPlain)
      }
    } finally {
      await daemon.stop().catch(assertPlain)
    }
    return this.#failure ? 'stop' : this.#refused ? 'refusal' : 'success'
  }

  /** On a disk that works: the store can be opened, and holds everything that was answered. Returns how much that is. */
  async check(data = this.#data): Promise<number> {
    this.#failure = undefined
    const daemon = await this.#start(data)
    try {
      const owner = callerOf(daemon)
      const kept = (await owner.call(savedSnippets.list, {})).saved_snippets
      const texts = new Map(kept.map(({ id, title, content }) => [id, `${title}|${content}`]))
      for (const [id, may] of this.#snippets) assert.ok(may.includes(texts.get(id)!), `snippet ${id}: ${texts.get(id)}`)
      const message_ids = [...this.#messages.keys()]
      const { messages: found } = await owner.call(messages.list, { message_ids, apply_markdown: false })
      assert.deepEqual(new Map(found.map(({ id, content }) => [id, content])), this.#messages)
      const { scheduled_messages } = await owner.call(scheduledMessages.list, {})
      const planned = new Set(scheduled_messages.map(({ scheduled_message_id }) => scheduled_message_id))
      for (const id of this.#scheduled) assert.ok(planned.has(id), `scheduled message ${id} is gone`)
      for (const [path, bytes] of this.#files) assert.equal((await owner.raw('GET', path)).text, bytes)
      await this.#checkQueue(owner)
      await owner.call(savedSnippets.create, { title: 'afterwards', content: 'it goes on' })
      assert.equal(this.#failure, undefined)
    } finally {
      await daemon.stop()
    }
    return this.#snippets.size + this.#messages.size + this.#scheduled.size + this.#files.size
  }

  #start(data: string): Promise<Daemon> {
    const quiet = ['--port', '0', '--log-level', 'silent', '--no-rate-limit']
    const config = readConfig(['--data', data, '--clock', 'frozen@2030-01-01T00:00:00Z', ...quiet], {})
    return startDaemon(config, error => (this.#failure ??= error))
  }

  async #keepSnippets(owner: Caller): Promise<void> {
    for (let n = 0; n < 2; n++) {
      const title = `snippet ${this.#random()}`
      const content = 'x'.repeat(Math.floor(this.#random() * 3000) + 1)
      const [old] = this.#random() < 0.5 ? [...this.#snippets.keys()] : []
      const isHeard = this.#queue !== undefined
      if (old === undefined) {
        const made = await this.#taken(ask(owner, savedSnippets.create, { title, content }))
        if (!made) continue
        this.#snippets.set(made.saved_snippet_id, [`${title}|${content}`])
      } else {
        const may = this.#snippets.get(old)!
        this.#snippets.set(old, [...may, `${title}|${content}`])
        const edited = await this.#taken(ask(owner, savedSnippets.edit, { saved_snippet_id: old, title, content }))
        if (!edited) continue
        this.#snippets.set(old, [`${title}|${content}`])
      }
      if (isHeard) this.#due.add(title)
    }
  }

  async #talk(owner: Caller): Promise<void> {
    const content = `said ${this.#random()}`
    const sent = await this.#taken(ask(owner, messages.send, { type: 'direct', to: [owner.id], content }))
    if (sent) this.#messages.set(sent.id, content)
    const later = { type: 'direct', to: [owner.id], content, scheduled_delivery_timestamp: 1_900_000_000 }
    const planned = await this.#taken(ask(owner, scheduledMessages.create, later))
    if (planned) this.#scheduled.add(planned.scheduled_message_id)
  }

  async #upload(owner: Caller, size: number): Promise<void> {
    const text = `file ${this.#random()}`.padEnd(size, '.')
    const file = { filename: 'a.txt', contentType: 'text/plain', bytes: Buffer.from(text) }
    const kept = await this.#taken(owner.raw('POST', '/api/v1/user_uploads', multipart(new Map([['file', file]]))))
    if (kept) this.#files.set(kept.url, text)
  }

  async #listen(owner: Caller): Promise<void> {
    if (this.#queue === undefined) {
      const types = { event_types: ['saved_snippets'], fetch_event_types: [] }
      this.#queue = (await this.#taken(ask(owner, events.register, types)))?.queue_id
    } else {
      const reply = await this.#taken(ask(owner, events.get, this.#poll(this.#queue)))
      if (reply) this.#hear(reply.events)
    }
  }

  /** The queue goes on, and every change that was answered is told. */
  async #checkQueue(owner: Caller): Promise<void> {
    if (this.#queue === undefined) return
    this.#hear((await owner.call(events.get, this.#poll(this.#queue))).events)
    for (const title of this.#due) assert.ok(this.#heard.has(title), `no event about ${title}`)
  }

  #poll(queue_id: string) {
    return { queue_id, last_event_id: this.#acknowledged, dont_block: true }
  }

  /** The next poll acknowledges them. */
  #hear(list: readonly Record<string, any>[]): void {
    for (const { id, saved_snippet } of list) {
      assert.ok(id > this.#acknowledged, `event ${id} comes again after ${this.#acknowledged}`)
      this.#acknowledged = id
      if (saved_snippet) this.#heard.add(saved_snippet.title)
    }
  }

  /** The body, if it was a success; anything else must be honest. */
  async #taken(asked: Promise<HttpReply>): Promise<any> {
    const reply = await asked.catch(cutOff)
    if (reply?.body.result === 'success') return reply.body
    this.#refused = true
    if (reply) assert.ok(honest.includes(reply.body.code), `a caller got ${reply.status} ${reply.text}`)
    return undefined
  }
}

/** Without the check that no answer is a 500: a daemon whose disk failed answers so, with a code that says why. */
function ask(caller: Caller, endpoint: Endpoint, params: Record<string, unknown>): Promise<HttpReply> {
  const { path, fields } = encode(endpoint, params)
  return caller.raw(endpoint.method, `/api/v1${path}`, formOf(endpoint.method, fields))
}

function callerOf({ ready, localUrl }: Daemon): Caller {
  const { email, api_key, user_id } = ready.owner
  return new Caller(localUrl, email, api_key, user_id)
}

/** A sentence that a person can use. */
function assertPlain(error: unknown): void {
  const { message } = error as Error
  assert.ok(message.length > 10 && !/\n {4}at |undefined|\[object/.test(message), `not a sentence: ${message}`)
  if (error instanceof TypeError || error instanceof ReferenceError || error instanceof RangeError) throw error
}
