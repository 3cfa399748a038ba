// The cost of following channels: many people at once, and with many channels around.

import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { authorization, freshFolder, root, type Server, startDaemon } from '../processes.ts'
import { alternate, type Effort, type Row, type Sample } from '../row.ts'

const people = 10_000

export const channels: readonly Row[] = [
  {
    name: 'subscribing 10,000 users to a channel in one request',
    reference: 'saving drafts of as many bytes in one request',
    goal: { atMost: 5 },
    unit: 'ms',
    measure: crowding,
  },
  {
    name: 'subscribing with 10,000 channels there',
    reference: 'with 10',
    goal: { atMost: 1.15 },
    unit: 'ms per request',
    measure: joining,
  },
]

class Caller {
  readonly #server: Server
  readonly #headers: Record<string, string>

  constructor(server: Server) {
    this.#server = server
    this.#headers = {
      Authorization: authorization(server.ready),
      'Content-Type': 'application/x-www-form-urlencoded',
    }
  }

  async call(method: string, path: string, body?: string): Promise<Record<string, any>> {
    return JSON.parse(await this.#answer(method, path, body))
  }

  async #answer(method: string, path: string, body?: string): Promise<string> {
    const url = `${this.#server.ready.url}/api/v1${path}`
    const answer = await fetch(url, { method, headers: this.#headers, ...(body !== undefined && { body }) })
    const text = await answer.text()
    if (!answer.ok) throw new Error(`${path} answered ${text.slice(0, 200)}`)
    return text
  }

  /** Until the answer is there; what the caller makes of it is not counted. */
  async timed(path: string, bodies: readonly string[]): Promise<number> {
    const began = performance.now()
    for (const body of bodies) await this.#answer('POST', path, body)
    return (performance.now() - began) / bodies.length
  }
}

function form(params: Record<string, unknown>): string {
  const texts = Object.entries(params).map(([name, value]): [string, string] => [
    name,
    typeof value === 'string' ? value : JSON.stringify(value),
  ])
  return new URLSearchParams(texts).toString()
}

async function daemonWith(subscribers: number): Promise<Caller> {
  const folder = freshFolder()
  const flags = ['--data', folder, '--no-profile']
  await (await startDaemon(flags)).stop()
  const builder = join(import.meta.dirname, '../messages-builder.ts')
  const plan = JSON.stringify({ folder, subscribers, messages: 0, topics: 1 })
  const { status } = spawnSync(process.execPath, ['--import', 'tsx', builder, plan], {
    cwd: root,
    stdio: ['ignore', 2, 2],
  })
  if (status !== 0) throw new Error('the store could not be filled')
  return new Caller(await startDaemon(flags))
}

/** Every round has a channel of its own, which is there before. */
async function crowding(effort: Effort): Promise<Sample[]> {
  const caller = await daemonWith(people)
  const { members } = await caller.call('GET', '/users')
  const principals: number[] = members.map((user: { user_id: number }) => user.user_id).slice(-people)
  const warm = effort.rounds(15, 5)
  const rounds = effort.rounds(21, 7)
  const bodies: string[] = []
  for (let i = 0; i < warm + rounds; i++) {
    const name = `channel ${i}`
    await caller.call('POST', '/channels/create', form({ name, subscribers: [] }))
    bodies.push(form({ subscriptions: [{ name }], principals }))
  }
  const bytes = JSON.stringify(principals).length
  const content = 'x'.repeat(9900)
  const drafts = Array.from({ length: Math.ceil(bytes / content.length) }, (_, i) => ({
    type: 'private',
    to: [],
    topic: '',
    content: content.slice(0, bytes - i * content.length),
  }))
  const saved = form({ drafts })
  const subscribe = () => caller.timed('/users/me/subscriptions', [bodies.pop()!])
  const save = () => caller.timed('/drafts', [saved])
  for (let i = 0; i < warm; i++) {
    await subscribe()
    await save()
  }
  return alternate(rounds, subscribe, save)
}

/** One person joins channels, fresh ones every time. */
async function joining(effort: Effort): Promise<Sample[]> {
  const together = 20
  const rounds = effort.rounds(21, 7)
  const warm = 5
  const callers = await Promise.all([channelsThere(effort.quick ? 2000 : 10_000), channelsThere(10)])
  const next = callers.map(() => 0)
  const join = (which: number) => async () => {
    const bodies = Array.from({ length: together }, () => form({ subscriptions: [{ name: `new ${next[which]!++}` }] }))
    return callers[which]!.timed('/users/me/subscriptions', bodies)
  }
  for (let i = 0; i < warm; i++) for (const which of [0, 1]) await join(which)()
  return alternate(rounds, join(0), join(1))
}

/** As many channels, none of which the caller follows. */
async function channelsThere(count: number): Promise<Caller> {
  const caller = await daemonWith(1)
  const { members } = await caller.call('GET', '/users')
  const somebody = members.at(-1).user_id
  for (let i = 0; i < count; i += 500) {
    const subscriptions = Array.from({ length: Math.min(500, count - i) }, (_, n) => ({ name: `channel ${i + n}` }))
    const body = form({ subscriptions, principals: [somebody], send_new_subscription_messages: false })
    await caller.call('POST', '/users/me/subscriptions', body)
  }
  return caller
}
