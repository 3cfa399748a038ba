// The cost of writes, reads and memory as records grow, beside servers that keep records in a JSON file.

import type { Point } from '../../../docs/generate/measured.ts'
import { type Load, run } from '../load.ts'
import { channelName, contentOf } from '../messages-plan.ts'
import { database, jsonServer, startMockServer } from '../mock-servers.ts'
import { gather, type Picture, pointOf, repeat } from '../picture.ts'
import { referencePath, request, type Server, startServer } from '../processes.ts'
import { type Effort, once } from '../row.ts'
import { alone } from '../rows/messages.ts'
import { filled } from '../store.ts'

interface Size {
  readonly records: number
  readonly writesPerSecond: readonly number[]
  /** Milliseconds to read 100 records of the middle. */
  readonly readMs: readonly number[]
  readonly mebibytes: number
}

const connections = 64
const body = new URLSearchParams({
  type: 'channel',
  to: channelName,
  topic: 'lunch',
  content: contentOf(12),
}).toString()
const form = { 'Content-Type': 'application/x-www-form-urlencoded' }

const ours = once(async effort => {
  const sizes: Size[] = []
  // In the short form a store has at most 100,000 messages.
  for (const records of [1000, 10_000, 100_000, 1_000_000].slice(0, effort.rounds(4, 2))) {
    const { server, headers } = await filled(effort, { subscribers: 10, messages: records, topics: 100 })
    const { url } = server.ready
    const write = { url: `${url}/api/v1/messages`, method: 'POST', headers, body }
    const query = new URLSearchParams({ anchor: String(records / 2), num_before: '50', num_after: '49' })
    const read = () => request(`${url}/api/v1/messages?${query}`, headers)
    sizes.push({ records, ...(await alone(server, () => measure(server, write, read, effort))) })
    await server.stop()
  }
  return sizes
})

const lowdb = once(async effort => {
  const sizes: Size[] = []
  for (const records of [1000, 10_000, 100_000].slice(0, effort.rounds(3, 2))) {
    const path = referencePath('lowdb-form').replace(/\.cjs$/, '.mjs')
    const server = await startServer([path, database(records)])
    const write = { url: `${server.ready.url}/form`, method: 'POST', headers: form, body }
    sizes.push({ records, ...(await measure(server, write, async () => {}, effort)) })
    await server.stop()
  }
  return sizes
})

const others = once(async effort => {
  const sizes: Size[] = []
  for (const records of [1000, 10_000, 100_000].slice(0, effort.rounds(3, 2))) {
    const server = await startMockServer(jsonServer(records))
    const { url } = server.ready
    const write = { url: `${url}/messages`, method: 'POST', headers: form, body }
    const read = () => request(`${url}/messages?_start=${records / 2}&_limit=100`)
    sizes.push({ records, ...(await measure(server, write, read, effort)) })
    await server.stop()
  }
  return sizes
})

async function measure(
  server: Server,
  write: Omit<Load, 'connections' | 'seconds'>,
  read: () => Promise<void>,
  effort: Effort,
): Promise<Omit<Size, 'records'>> {
  await read()
  const mebibytes = (await server.residentSize()) / 1024
  const readMs = await repeat(effort.rounds(41, 9), async () => {
    const began = performance.now()
    await read()
    return performance.now() - began
  })
  const load = { ...write, connections, seconds: effort.rounds(2, 1) }
  // The first one warms up.
  await run(load)
  return {
    mebibytes,
    readMs: readMs.slice(readMs.length / 2),
    writesPerSecond: await repeat(effort.rounds(3, 1), async () => (await run(load)).perSecond),
  }
}

/** One line for each program: `read` takes the figure off a size. */
function lines(
  effort: Effort,
  read: (size: Size) => readonly number[],
  programs: readonly (readonly [string, (effort: Effort) => Promise<readonly Size[]>])[],
) {
  return gather(
    programs.map(
      ([name, sizes]) =>
        async (): Promise<Point[]> =>
          (await sizes(effort)).map(size => pointOf(name, size.records, read(size))),
    ),
  )
}

const records = { title: 'records stored', scale: 'log' } as const

export const growth: readonly Picture[] = [
  {
    name: 'writes',
    title: 'Writes per second as records grow',
    about:
      'A durable message with rendered Markdown on our side; a record in an array on the others, which write their whole file for every request. 64 connections.',
    kind: 'lines',
    x: records,
    y: { title: 'writes per second', scale: 'log' },
    measure: effort =>
      lines(effort, size => size.writesPerSecond, [
        ['natterd', ours],
        ['lowdb', lowdb],
        ['json-server', others],
      ]),
  },
  {
    name: 'reads',
    title: 'Reading 100 records of the middle',
    about:
      '`GET /messages` around the middle, whole messages with sender, topic, reactions and flags; and the same slice of a table of json-server, whose records have three short fields. One request at a time.',
    kind: 'lines',
    x: records,
    y: { title: 'milliseconds' },
    measure: effort =>
      lines(effort, size => size.readMs, [
        ['natterd', ours],
        ['json-server', others],
      ]),
  },
  {
    name: 'memory',
    title: 'Memory as records grow',
    about: 'Resident size after a start and one read.',
    kind: 'lines',
    x: records,
    y: { title: 'MiB' },
    measure: effort =>
      lines(effort, size => [size.mebibytes], [
        ['natterd', ours],
        ['lowdb', lowdb],
        ['json-server', others],
      ]),
  },
]

/** Milliseconds of one write of lowdb, by records. */
export async function lowdbWrites(effort: Effort): Promise<Point[]> {
  return (await lowdb(effort)).map(({ records, writesPerSecond }) =>
    pointOf(
      'lowdb',
      records,
      writesPerSecond.map(perSecond => 1000 / perSecond),
    ),
  )
}
