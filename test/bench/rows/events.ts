// Telling many who wait: fan-out to parked polls, what each of them costs, and the state that `register` gathers.

import { spawn } from 'node:child_process'
import { request } from 'node:http'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { authorization, freshFolder, referencePath, type Server, startDaemon, startServer } from '../processes.ts'
import { alternate, type Effort, once, quantile, type Row, type Sample } from '../row.ts'

const sizes = [100, 1000, 10_000] as const
type Size = (typeof sizes)[number]

interface FanOut {
  /** Events that arrive per second. */
  readonly perSecond: number
  /** KiB that one parked poll adds. */
  readonly perQueue: number
}

const measured = new Map(sizes.map(size => [size, once(effort => fanOut(size, effort))]))
/** Measured once for all rows that ask. */
export const told = (size: Size) => measured.get(size)!

const fullOnly = 'parking 10,000 polls takes long'
const reference = 'bare node:http answering parked requests with the same bytes'

export const events: readonly Row[] = [
  ...sizes.map(
    (size): Row => ({
      name: `one message to ${size} parked queues`,
      reference,
      goal: { atLeast: 1 },
      unit: 'events/s',
      ...(size === 10_000 && { fullOnly }),
      measure: read(size, 'perSecond'),
    }),
  ),
  {
    name: 'memory of a parked queue',
    reference: 'memory of a request parked in a bare node:http',
    goal: { atMost: 1 },
    unit: 'KiB',
    fullOnly,
    measure: read(10_000, 'perQueue'),
  },
  {
    name: 'p99 from the answer of a send to its event, 1,000 queues, 100 sends a second',
    reference: 'bare node:http with queues in memory',
    goal: { atMost: 3 },
    unit: 'ms',
    measure: latency,
  },
  {
    name: 'register with 100,000 unread messages in 1,000 topics',
    reference: 'register of an account without messages',
    goal: { atMost: 5 },
    unit: 'ms',
    measure: register,
  },
]

function read(size: Size, what: keyof FanOut) {
  return async (effort: Effort): Promise<Sample[]> =>
    (await told(size)(effort)).map(({ ours, reference }) => ({ ours: ours[what], reference: reference[what] }))
}

/** Our daemon and the bare server, by turns. */
export async function fanOut(size: number, effort: Effort) {
  const rounds = effort.rounds(8, 4)
  let answer = '{}'
  const askOurs = async (): Promise<FanOut> => {
    const server = await startDaemon(['--data', freshFolder(), '--no-profile', '--max-queues', String(size)])
    const headers = { Authorization: authorization(server.ready) }
    // Before there is a queue: its own memory counts too.
    const empty = await server.residentSize()
    const polls: string[] = []
    for (let i = 0; i < size; i += 50)
      polls.push(...(await Promise.all(Array.from({ length: Math.min(50, size - i) }, () => newQueue(server)))))
    const to = JSON.stringify([server.ready.owner.user_id])
    const body = new URLSearchParams({ type: 'direct', to, content: 'Hello, everyone who waits' }).toString()
    const result = await park(server, empty, { polls, headers, rounds, trigger: { path: '/api/v1/messages', body } })
    answer = result.sample
    return result
  }
  const askTheirs = async (): Promise<FanOut> => {
    const server = await startServer([referencePath('parked-polls'), answer])
    const polls = Array.from({ length: size }, (_, i) => `/events?queue_id=${i}&last_event_id=LAST`)
    const empty = await server.residentSize()
    return park(server, empty, {
      polls,
      headers: { Authorization: 'Basic x' },
      rounds,
      trigger: { path: '/send', body: '' },
    })
  }
  // The reference needs the bytes to answer with.
  await askOurs()
  // Parking 10,000 polls takes long, and more of them scatter less.
  return alternate(effort.rounds(size < 10_000 ? 5 : 3, 2), askOurs, askTheirs)
}

async function newQueue(server: Server): Promise<string> {
  const params = { event_types: '["message"]', fetch_event_types: '[]' }
  const { queue_id } = await call(server, 'POST', '/register', params)
  return `/api/v1/events?queue_id=${queue_id}&last_event_id=LAST`
}

interface Parking {
  readonly polls: readonly string[]
  readonly headers: Readonly<Record<string, string>>
  readonly rounds: number
  readonly trigger: { readonly path: string; readonly body: string }
}

async function park(server: Server, empty: number, parking: Parking): Promise<FanOut & { sample: string }> {
  const { polls } = parking
  const task = JSON.stringify({ url: server.ready.url, ...parking })
  const child = spawn(process.execPath, [join(import.meta.dirname, '../fan-out-client.cjs'), '-'], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  child.stdin.write(`${task}\n`)
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  await lines.next()
  const full = await server.residentSize()
  child.stdin.write('go\n')
  const { value } = await lines.next()
  await server.stop()
  const { times, sample } = JSON.parse(value)
  return { perSecond: polls.length / (quantile(times, 0.5) / 1000), perQueue: (full - empty) / polls.length, sample }
}

/** All queues hear of every send: more than either side can tell one by one, so polls come to bring several events. */
async function latency(effort: Effort): Promise<Sample[]> {
  const count = 1000
  const sends = effort.rounds(1000, 300)
  const pace = { sends, perSecond: 100 }
  const askOurs = async () => {
    const server = await startDaemon(['--data', freshFolder(), '--no-profile', '--max-queues', String(count)])
    const headers = { Authorization: authorization(server.ready) }
    await call(server, 'POST', '/users/me/subscriptions', { subscriptions: JSON.stringify([{ name: 'busy' }]) })
    const polls: string[] = []
    for (let i = 0; i < count; i++) polls.push(await newQueue(server))
    const post = {
      path: '/api/v1/messages',
      body: 'type=channel&to=%22busy%22&topic=news&content=send%20TAG%21',
    }
    return waits(server, { polls, headers, post, ...pace })
  }
  const askTheirs = async () => {
    const server = await startServer([referencePath('polled-queues'), '"type":"message","content":"', `${filler}"}`])
    const polls = Array.from({ length: count }, (_, i) => `/events?queue_id=${i}&last_event_id=LAST`)
    const headers = { Authorization: 'Basic x' }
    return waits(server, { polls, headers, post: { path: '/send', body: 'tag=TAG' }, ...pace })
  }
  return alternate(effort.rounds(2, 1), askOurs, askTheirs)
}

/** As long as the rest of a message event. */
const filler = 'x'.repeat(800)

async function waits(server: Server, task: object): Promise<number> {
  const child = spawn(process.execPath, [join(import.meta.dirname, '../latency-client.cjs')], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  child.stdin.write(`${JSON.stringify({ url: server.ready.url, ...task })}\n`)
  const { value } = await createInterface({ input: child.stdout })[Symbol.asyncIterator]().next()
  await server.stop()
  if (value === undefined) throw new Error('not every event came')
  return quantile(JSON.parse(value).waits, 0.99)
}

async function register(effort: Effort): Promise<Sample[]> {
  const server = await startDaemon(['--data', freshFolder(), '--no-profile', '--durability', 'os'])
  const password = 'a long password of somebody'
  const person = async (name: string) => {
    const email = `${name}@example.com`
    await call(server, 'POST', '/users', { email, password, full_name: name })
    const { api_key } = await call(server, 'POST', '/fetch_api_key', { username: email, password })
    return `Basic ${Buffer.from(`${email}:${api_key}`).toString('base64')}`
  }
  const reader = await person('reader')
  const idle = await person('idle')
  const subscriptions = JSON.stringify([{ name: 'busy' }])
  await call(server, 'POST', '/users/me/subscriptions', { subscriptions })
  await call(server, 'POST', '/users/me/subscriptions', { subscriptions }, reader)
  let sent = 0
  const total = effort.rounds(100_000, 20_000)
  const topics = effort.rounds(1000, 200)
  const writer = async () => {
    while (sent < total) {
      const topic = `topic ${sent++ % topics}`
      await call(server, 'POST', '/messages', { type: 'channel', to: '"busy"', topic, content: 'Something to read' })
    }
  }
  await Promise.all(Array.from({ length: 64 }, writer))
  const time = (authorization: string) => async () => {
    const began = performance.now()
    await call(server, 'POST', '/register', {}, authorization)
    return performance.now() - began
  }
  await time(reader)()
  await time(idle)()
  const samples = await alternate(effort.rounds(15, 5), time(reader), time(idle))
  await server.stop()
  return samples
}

function call(
  server: Server,
  method: string,
  path: string,
  params: Record<string, string>,
  auth = authorization(server.ready),
): Promise<any> {
  return new Promise((resolve, reject) => {
    const headers = { Authorization: auth, 'Content-Type': 'application/x-www-form-urlencoded' }
    const asking = request(`${server.ready.url}/api/v1${path}`, { method, headers }, answer => {
      let text = ''
      answer.setEncoding('utf8').on('data', chunk => {
        text += chunk
      })
      answer.on('end', () => {
        const body = JSON.parse(text)
        if (body.result === 'success') resolve(body)
        else reject(new Error(`${method} ${path}: ${text}`))
      })
    })
    asking.on('error', reject)
    asking.end(new URLSearchParams(params).toString())
  })
}
