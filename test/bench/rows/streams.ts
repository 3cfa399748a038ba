// Long streams through the command line: following a queue, held against curl, and a batch, held against autocannon.

import { execFile, spawn } from 'node:child_process'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { authorization, fairEnvironment, freshFolder, root, type Server, startDaemon } from '../processes.ts'
import { alternate, type Effort, type Row, type Sample } from '../row.ts'

const natter = join(root, 'bin/natter')
const autocannon = join(root, 'node_modules/autocannon/autocannon.js')
const many = 10_000
const connections = 64
const run = promisify(execFile)

export const streams: readonly Row[] = [
  {
    name: `tail --json, running, catches up on ${many} events`,
    reference: 'curl, the same queue',
    goal: { atLeast: 0.35 },
    unit: 'events/s',
    measure: effort => catchUp(effort, ['--json']),
  },
  {
    name: `tail, running, catches up on ${many} events`,
    reference: 'curl, the same queue',
    goal: { atLeast: 0.35 },
    unit: 'events/s',
    measure: effort => catchUp(effort, []),
  },
  {
    // node alone takes longer to start than curl to read all of it.
    name: `tail from its start, ${many} events waiting`,
    reference: 'curl, the same queue',
    goal: { atLeast: 0.15 },
    unit: 'events/s',
    measure: fromStart,
  },
  {
    name: `tail --jq, a general expression, from its start, ${many} events waiting`,
    reference: 'tail --json, the same queue',
    goal: { atLeast: 0.2 },
    unit: 'events/s',
    measure: throughJq,
  },
  {
    name: `send --batch of ${many}, ${connections} connections`,
    reference: 'autocannon, the same endpoint',
    goal: { atLeast: 0.5 },
    unit: 'messages/s',
    measure: batch,
  },
]

/** One process, stopped while events gather: what it takes from then on is neither start nor warming up. */
async function catchUp(effort: Effort, flags: readonly string[]): Promise<Sample[]> {
  const place = await openPlace()
  const child = spawn(process.execPath, [natter, 'tail', ...flags], {
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...fairEnvironment, ...place.env },
  })
  let lines = 0
  let look = () => {}
  child.stdout.on('data', (chunk: Buffer) => {
    for (let at = chunk.indexOf(10); at >= 0; at = chunk.indexOf(10, at + 1)) lines++
    look()
  })
  await new Promise(resolve => child.stderr.once('data', resolve))
  const until = (count: number) =>
    new Promise<void>(resolve => {
      look = () => lines >= count && resolve()
      look()
    })
  const samples: Sample[] = []
  let total = 0
  for (let round = effort.rounds(-2, -1); round < effort.rounds(7, 2); round++) {
    const queue = await place.newQueue()
    child.kill('SIGSTOP')
    await place.fill(many)
    total += many
    const reference = await place.curl(queue)
    const began = performance.now()
    child.kill('SIGCONT')
    await until(total)
    const ours = perSecond(many, performance.now() - began)
    if (round >= 0) samples.push({ ours, reference })
  }
  child.kill('SIGKILL')
  await place.server.stop()
  return samples
}

async function fromStart(effort: Effort): Promise<Sample[]> {
  const place = await openPlace()
  const queue = await place.newQueue()
  await place.fill(many)
  const start = starterOf(place, queue)
  await start()
  const samples = await alternate(effort.rounds(9, 3), start, () => place.curl(queue))
  await place.server.stop()
  return samples
}

async function throughJq(effort: Effort): Promise<Sample[]> {
  const place = await openPlace()
  const queue = await place.newQueue()
  await place.fill(many)
  const jq = starterOf(place, queue, ['--jq', '.message | select(.content | length > 3) | {id, content}'])
  const json = starterOf(place, queue, ['--json'])
  await jq()
  await json()
  const samples = await alternate(effort.rounds(9, 2), jq, json)
  await place.server.stop()
  return samples
}

/** A tail that reads the whole queue from its start. */
function starterOf(place: Place, queue: string, flags: readonly string[] = []): () => Promise<number> {
  const cursor = join(freshFolder(), 'cursor')
  return async () => {
    const { url: site, owner } = place.server.ready
    const wants = JSON.stringify([['message'], [], false])
    const from = { queue_id: queue, last_event_id: -1, last_message_id: 0 }
    writeFileSync(cursor, JSON.stringify({ site, email: owner.email, wants, ...from }))
    const began = performance.now()
    await run(process.execPath, [natter, 'tail', '--cursor', cursor, '--count', String(many), ...flags], {
      env: { ...fairEnvironment, ...place.env },
      maxBuffer: 1e9,
    })
    return perSecond(many, performance.now() - began)
  }
}

async function batch(effort: Effort): Promise<Sample[]> {
  const place = await openPlace()
  const send = async () => {
    const began = performance.now()
    await place.fill(many)
    return perSecond(many, performance.now() - began)
  }
  const load = async () => {
    const { stdout } = await run(process.execPath, [
      ...[autocannon, '-j', '-m', 'POST', '-c', String(connections), '-a', String(many)],
      // It looks whether it is done as often as it takes samples, by default once a second.
      ...['-L', '10'],
      ...['-H', `Authorization=${authorization(place.server.ready)}`],
      ...['-H', 'Content-Type=application/x-www-form-urlencoded'],
      ...['-b', new URLSearchParams({ type: 'channel', to: '"busy"', topic: 'load', content }).toString()],
      `${place.server.ready.url}/api/v1/messages`,
    ])
    const { start, finish } = JSON.parse(stdout)
    return perSecond(many, Date.parse(finish) - Date.parse(start))
  }
  await send()
  await load()
  const samples = await alternate(effort.rounds(7, 2), send, load)
  await place.server.stop()
  return samples
}

const content = 'A message of usual length, with a little text to read in it.'

interface Place {
  readonly server: Server
  readonly env: Readonly<Record<string, string>>
  newQueue(): Promise<string>
  /** Sends messages. */
  fill(count: number): Promise<void>
  /** Events a second of a queue that holds the usual number of them. */
  curl(queue: string): Promise<number>
}

async function openPlace(): Promise<Place> {
  const folder = freshFolder()
  const env = { NATTER_CONFIG_DIR: folder }
  const server = await startDaemon(['--data', freshFolder()], env)
  const call = async (...words: string[]) =>
    (await run(process.execPath, [natter, ...words], { env: { ...fairEnvironment, ...env } })).stdout.trim()
  await call('subscribe', 'busy')
  const lines = join(folder, 'lines')
  return {
    server,
    env,
    newQueue: () => call('queues', 'register', '--event-types', 'message', '--jq', '.queue_id'),
    async fill(count) {
      writeFileSync(lines, `${JSON.stringify({ content })}\n`.repeat(count))
      const words = ['send', '--channel', 'busy', '--topic', 'load', '--batch', lines, '--parallel', `${connections}`]
      await run(process.execPath, [natter, ...words], { env: { ...fairEnvironment, ...env }, maxBuffer: 1e9 })
    },
    async curl(queue) {
      const { email, api_key } = server.ready.owner
      const url = `${server.ready.url}/api/v1/events?queue_id=${queue}&last_event_id=-1`
      const began = performance.now()
      const { stdout } = await run('curl', ['-sS', '-u', `${email}:${api_key}`, url], { maxBuffer: 1e9 })
      const took = performance.now() - began
      const { length } = JSON.parse(stdout).events
      if (length !== many) throw new Error(`curl got ${length} events`)
      return perSecond(many, took)
    },
  }
}

function perSecond(count: number, ms: number): number {
  return count / (ms / 1000)
}
