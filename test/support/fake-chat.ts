// A chat server that a test can hurt: it forgets queues, drops connections and loses its past on demand.

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { TestContext } from 'node:test'
import { accountAt, fakeServer, json } from './cli.ts'

export interface FakeEvent {
  readonly type: string
  readonly [field: string]: unknown
}

export class FakeChat {
  url = ''
  messages: Record<string, any>[] = []
  /** What was asked, in order: `GET /events`. */
  readonly asked: string[] = []
  readonly posted: Record<string, string>[] = []
  historyWorks = true
  /** What happens right after a queue was made. */
  onRegister = () => {}
  #queues = new Map<string, { events: FakeEvent[]; waiting: (() => void) | undefined; refused?: true }>()
  #registered = 0
  #dropping = 0
  #nextEvent = 0
  #nextMessage = 1
  #seconds = 0

  get env(): Record<string, string> {
    return accountAt(this.url)
  }

  /** A message that all queues hear of. */
  say(content: string, fields: Record<string, unknown> = {}): number {
    const message = {
      id: this.#nextMessage++,
      type: 'stream',
      stream_id: 5,
      display_recipient: 'general',
      subject: 'deploys',
      sender_id: 9,
      sender_email: 'bob@example.com',
      sender_full_name: 'Bob Brown',
      timestamp: 1_700_000_000 + ++this.#seconds,
      content,
      ...fields,
    }
    this.messages.push(message)
    this.tell({ type: 'message', message, flags: [] })
    return message.id
  }

  tell(event: FakeEvent): void {
    for (const queue of this.#queues.values()) {
      queue.events.push({ id: this.#nextEvent++, ...event })
      queue.waiting?.()
    }
  }

  /** As its author would, unheard. */
  delete(id: number): void {
    this.messages = this.messages.filter(message => message.id !== id)
  }

  /** Until something was asked so many times. */
  async heard(what: string, times: number): Promise<void> {
    while (this.asked.filter(asked => asked === what).length < times)
      await new Promise(resolve => setTimeout(resolve, 10))
  }

  expireQueues(): void {
    const gone = [...this.#queues.values()]
    this.#queues.clear()
    for (const queue of gone) queue.waiting?.()
  }

  /** Polls of the queues that there are get BAD_REQUEST from now on, as where another client has read them. */
  refuseQueues(): void {
    for (const queue of this.#queues.values()) {
      queue.refused = true
      queue.waiting?.()
    }
  }

  /** A server without a past takes its place. */
  beginAnew(): void {
    this.messages = []
    this.#nextMessage = 1
    this.expireQueues()
  }

  /** The next requests get no answer at all. */
  drop(count: number): void {
    this.#dropping = count
    for (const queue of this.#queues.values()) queue.waiting?.()
  }

  answer(request: IncomingMessage, response: ServerResponse, body: string): unknown {
    const url = new URL(request.url!, 'http://x')
    const path = url.pathname.replace('/api/v1', '')
    this.asked.push(`${request.method} ${path}`)
    if (this.#dropping > 0) {
      this.#dropping--
      return request.socket.destroy()
    }
    const success = (fields: object) => json(response, { result: 'success', msg: '', ...fields })
    const form = new URLSearchParams(request.method === 'GET' ? url.search : body)
    const at = `${request.method} ${path}`
    if (at === 'POST /register') {
      const id = `q${++this.#registered}`
      this.#queues.set(id, { events: [], waiting: undefined })
      success({ queue_id: id, last_event_id: -1, max_message_id: this.messages.at(-1)?.id ?? -1 })
      return this.onRegister()
    }
    if (at === 'GET /events') return this.#events(form, success, response, request)
    if (at === 'GET /messages' && this.historyWorks) return success(this.#past(form))
    if (at === 'POST /messages') {
      this.posted.push(Object.fromEntries(form))
      return success({ id: this.#nextMessage })
    }
    if (at === 'DELETE /events') return success({})
    if (at === 'GET /users/me') return success({ user_id: 8, email: 'amy@example.com', full_name: 'Amy Adams' })
    if (at === 'GET /streams') return success({ streams: [{ stream_id: 5, name: 'general' }] })
    if (at === 'GET /users')
      return success({
        members: [
          { user_id: 8, email: 'amy@example.com', full_name: 'Amy Adams' },
          { user_id: 9, email: 'bob@example.com', full_name: 'Bob Brown' },
        ],
      })
    return json(response, { result: 'error', code: 'BAD_REQUEST', msg: 'no such path' }, 404)
  }

  #events(
    form: URLSearchParams,
    success: (fields: object) => void,
    response: ServerResponse,
    request: IncomingMessage,
  ): unknown {
    const id = form.get('queue_id')!
    const queue = this.#queues.get(id)
    if (!queue) {
      const error = { result: 'error', code: 'BAD_EVENT_QUEUE_ID', msg: `Bad event queue ID: ${id}`, queue_id: id }
      return json(response, error, 400)
    }
    const seen = Number(form.get('last_event_id'))
    if (queue.refused) return json(response, { result: 'error', code: 'BAD_REQUEST', msg: `no event ${seen} yet` }, 400)
    queue.events = queue.events.filter(event => Number(event.id) > seen)
    if (queue.events.length > 0 || form.get('dont_block') === 'true')
      return success({ events: queue.events, queue_id: id })
    queue.waiting = () => {
      queue.waiting = undefined
      if (this.#dropping > 0) request.socket.destroy()
      else this.#events(form, success, response, request)
    }
  }

  #past(form: URLSearchParams): object {
    const anchor = form.get('anchor')
    const before = Number(form.get('num_before'))
    const at = anchor === 'newest' ? Number.POSITIVE_INFINITY : Number(anchor)
    const older = before > 0 ? this.messages.filter(message => message.id <= at).slice(-before) : []
    const newer = this.messages.filter(message => message.id > at).slice(0, Number(form.get('num_after')))
    const messages = [...older, ...newer].map(message => ({ ...message, flags: ['read'] }))
    return {
      messages,
      found_newest: newer.at(-1)?.id === this.messages.at(-1)?.id || newer.length === 0,
      found_oldest: true,
    }
  }
}

export async function fakeChat(t: TestContext): Promise<FakeChat> {
  const chat = new FakeChat()
  chat.url = await fakeServer(t, (request, response, body) => chat.answer(request, response, body))
  return chat
}
