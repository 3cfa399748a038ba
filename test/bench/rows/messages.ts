// The cost of messages, which must not grow with the number of listeners or of messages.

import { type Load, type LoadResult, run } from '../load.ts'
import { channelName, contentOf } from '../messages-plan.ts'
import { referencePath, type Server, startServer } from '../processes.ts'
import { alternate, type Effort, once, type Row, type Sample } from '../row.ts'
import { filled, type Store } from '../store.ts'

const connections = 64
export const many = 1_000_000
const few = 1000
export const small = once(effort => filled(effort, { subscribers: 10, messages: few, topics: 10 }))
export const large = once(effort => filled(effort, { subscribers: 10_000, messages: many, topics: 1000 }))
const crowd = once(effort => filled(effort, { subscribers: 10_000, messages: few, topics: 10 }))
const unreadFew = once(effort => filled(effort, { subscribers: 1, messages: 1000, topics: 10 }))
const unread = once(effort => filled(effort, { subscribers: 1, messages: 100_000, topics: 1000 }))

export const messages: readonly Row[] = [
  {
    name: `durable message POST to a channel, ${connections} connections`,
    reference: 'bare fastify form POST, nothing stored',
    goal: { atLeast: 0.6 },
    unit: 'requests/s',
    measure: sending,
  },
  {
    name: 'message POST at 1,000,000 messages and 10,000 subscribers',
    reference: 'at 1,000 and 10',
    goal: { atMost: 1.1 },
    unit: 'ms per request',
    measure: growing,
  },
  {
    name: 'GET /messages, 100 of the middle of 1,000,000',
    reference: 'of 1,000',
    goal: { atMost: 1.1 },
    unit: 'ms',
    measure: async effort => compare(effort, await large(effort), await small(effort), middle),
  },
  {
    name: 'search for a rare word in 1,000,000 messages',
    reference: 'GET /messages/{message_id}',
    goal: { atMost: 5 },
    unit: 'ms',
    measure: searching,
  },
  {
    name: 'marking 100,000 messages read by a list of them',
    reference: 'marking 1,000',
    goal: { atMost: 15 },
    unit: 'ms',
    measure: marking,
  },
  {
    name: 'marking 100,000 messages read, without a list of them',
    reference: 'marking 1,000',
    goal: { atMost: 10 },
    unit: 'ms',
    measure: markingAll,
  },
  {
    name: 'memory per message at 1,000,000',
    reference: '700 bytes',
    goal: { atMost: 0.6 },
    unit: 'bytes',
    fullOnly: 'fewer messages weigh less than the process around them',
    measure: remembering,
  },
]

// --- sending ----------------------------------------------------------------------------------------------------

export function load({ server, headers }: Store, effort: Effort): Load {
  const body = new URLSearchParams({ type: 'channel', to: channelName, topic: 'lunch', content: contentOf(12) })
  const url = `${server.ready.url}/api/v1/messages`
  return { url, method: 'POST', headers, body: body.toString(), connections, seconds: effort.rounds(2, 1) }
}

async function sending(effort: Effort): Promise<Sample[]> {
  const ours = await small(effort)
  const theirs = await startServer([referencePath('fastify-form')])
  theirs.pause()
  const sent = load(ours, effort)
  const asked = { ...sent, url: `${theirs.ready.url}/form`, body: `title=Greeting&${sent.body}` }
  const samples = await loaded(effort, [ours.server, sent], [theirs, asked])
  await theirs.stop()
  return samples.map(({ ours, reference }) => ({ ours: ours.perSecond, reference: reference.perSecond }))
}

async function growing(effort: Effort): Promise<Sample[]> {
  const [big, little] = [await large(effort), await small(effort)]
  const samples = await loaded(effort, [big.server, load(big, effort)], [little.server, load(little, effort)])
  return samples.map(({ ours, reference }) => ({ ours: 1000 / ours.perSecond, reference: 1000 / reference.perSecond }))
}

/** Code that runs hot is what is compared: the first rounds only warm up. */
async function loaded(effort: Effort, ours: [Server, Load], reference: [Server, Load]) {
  const ask = ([server, asked]: [Server, Load]) => alone(server, () => run(asked))
  for (let i = 0; i < effort.rounds(3, 2); i++) {
    await ask(reference)
    await ask(ours)
  }
  return alternate<LoadResult>(
    effort.rounds(7, 3),
    () => ask(ours),
    () => ask(reference),
  )
}

/** Lets nothing but this server run: work the other has left over must not be paid for here. */
export async function alone<T>(server: Server, work: () => Promise<T>): Promise<T> {
  server.resume()
  try {
    return await work()
  } finally {
    server.pause()
  }
}

// --- one request at a time --------------------------------------------------------------------------------------

type Ask = (store: Store) => Promise<void>

async function compare(effort: Effort, ours: Store, reference: Store, ask: Ask, other = ask): Promise<Sample[]> {
  const timed = (store: Store, work: Ask) => () =>
    alone(store.server, async () => {
      const began = performance.now()
      for (let i = 0; i < 5; i++) await work(store)
      return (performance.now() - began) / 5
    })
  return compareWarm(effort, timed(ours, ask), timed(reference, other))
}

async function compareWarm(effort: Effort, ours: () => Promise<number>, reference: () => Promise<number>) {
  await alternate(effort.rounds(15, 3), ours, reference)
  return alternate(effort.rounds(21, 5), ours, reference)
}

async function call(store: Store, method: string, path: string, params: Record<string, string>): Promise<void> {
  await send(store, method, path, new URLSearchParams(params).toString())
}

async function send(store: Store, method: string, path: string, form: string): Promise<void> {
  const { headers } = store
  const url = `${store.server.ready.url}/api/v1${path}${method === 'GET' ? `?${form}` : ''}`
  const answer = await fetch(url, { method, headers, ...(method !== 'GET' && { body: form }) })
  const text = await answer.text()
  if (!answer.ok) throw new Error(`${path} answered ${text.slice(0, 200)}`)
}

function middle(store: Store): Promise<void> {
  const anchor = String(Math.floor(store.messages / 2))
  const narrow = JSON.stringify([['channel', channelName]])
  return call(store, 'GET', '/messages', { anchor, num_before: '50', num_after: '49', narrow })
}

/** Every word but the number is in all of them, so it is the number that is looked for. */
async function searching(effort: Effort): Promise<Sample[]> {
  const store = await large(effort)
  const n = Math.floor(store.messages / 3) + 7
  const narrow = JSON.stringify([
    ['channel', channelName],
    ['search', String(n)],
  ])
  const search = () => call(store, 'GET', '/messages', { anchor: 'newest', num_before: '1', num_after: '0', narrow })
  const point = () => call(store, 'GET', `/messages/${n}`, {})
  return compare(effort, store, store, search, point)
}

async function marking(effort: Effort): Promise<Sample[]> {
  const store = await unread(effort)
  const mark = (count: number) => {
    const add = flagForm(count, 'add')
    return timedMark(store, count, () => send(store, 'POST', '/messages/flags', add))
  }
  return compareWarm(effort, mark(100_000), mark(1000))
}

async function markingAll(effort: Effort): Promise<Sample[]> {
  const mark = (store: Store) => timedMark(store, store.messages, () => send(store, 'POST', '/mark_all_as_read', ''))
  return compareWarm(effort, mark(await unread(effort)), mark(await unreadFew(effort)))
}

/** Unmarked before, untimed, so that every round finds the same. */
function timedMark(store: Store, count: number, mark: () => Promise<void>): () => Promise<number> {
  const remove = flagForm(count, 'remove')
  return () =>
    alone(store.server, async () => {
      await send(store, 'POST', '/messages/flags', remove)
      const began = performance.now()
      await mark()
      return performance.now() - began
    })
}

/** Of the first messages. Made in advance: writing the numbers into a form is work of the client. */
function flagForm(count: number, op: 'add' | 'remove'): string {
  const messages = JSON.stringify(Array.from({ length: count }, (_, i) => i + 1))
  return new URLSearchParams({ messages, op, flag: 'read' }).toString()
}

// --- memory -----------------------------------------------------------------------------------------------------

async function remembering(effort: Effort): Promise<Sample[]> {
  const [big, little] = [await large(effort), await crowd(effort)]
  const bytes = ((await big.server.residentSize()) - (await little.server.residentSize())) * 1024
  return [{ ours: bytes / (big.messages - little.messages), reference: 700 }]
}
