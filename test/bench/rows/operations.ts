// The cost of running a daemon for years: the single executable, metrics and logs, and backups beside the traffic.

import { spawn } from 'node:child_process'
import { existsSync, openSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { compareCalls, freshStore } from '../call-cost.ts'
import { type LoadResult, run } from '../load.ts'
import {
  authorization,
  daemonFlags,
  fairEnvironment,
  freshFolder,
  natterd,
  request,
  root,
  startDaemon,
  startServer,
} from '../processes.ts'
import { alternate, type Effort, NotInstalled, once, type Row, type Sample } from '../row.ts'
import { filled } from '../store.ts'

const natter = join(root, 'bin/natter')
const single = join(root, 'binary/natter')

const backups = once(measureBackups)
const fullOnly = 'with fewer messages it is the start of node that is measured'

export const operations: readonly Row[] = [
  {
    name: 'single executable, natter --help',
    reference: 'node bin/natter --help',
    goal: { atMost: 1.15 },
    unit: 'ms',
    measure(effort) {
      demandExecutable()
      return alternate(
        effort.rounds(15, 5),
        () => timeProgram(single, ['--help']),
        () => timeProgram(process.execPath, [natter, '--help']),
      )
    },
  },
  {
    name: 'single executable, natterd start, --memory',
    reference: 'node bin/natterd',
    goal: { atMost: 1.15 },
    unit: 'ms',
    measure(effort) {
      demandExecutable()
      return alternate(
        effort.rounds(15, 5),
        () => timeStart(single, ['daemon', 'run']),
        () => timeStart(process.execPath, [natterd]),
      )
    },
  },
  {
    name: 'a call with --metrics and --log-level info, 64 connections',
    reference: 'the same without',
    goal: { atMost: 1.2 },
    unit: 'ms of a request',
    measure: measureObserved,
  },
  {
    name: 'natter backup, 1,000,000 messages',
    // A backup lets others go first, so the copy does too.
    reference: 'nice cp of its files, and a sync',
    goal: { atMost: 2.5 },
    unit: 'ms',
    fullOnly,
    measure: async effort => (await backups(effort)).times,
  },
  {
    name: 'sends during a backup, p99',
    reference: 'sends without one',
    goal: { atMost: 1.4 },
    unit: 'ms',
    fullOnly,
    measure: async effort => (await backups(effort)).sends,
  },
]

function demandExecutable(): void {
  if (!existsSync(single)) throw new NotInstalled('run `npm run build && npx tsx binary.ts` first')
}

async function timeStart(program: string, args: readonly string[]): Promise<number> {
  const began = performance.now()
  const server = await startServer([...args, ...daemonFlags, '--memory', '--no-profile'], {}, { program })
  await request(`${server.ready.url}/api/v1/users/me`, { Authorization: authorization(server.ready) })
  const took = performance.now() - began
  await server.stop()
  return took
}

function measureObserved(effort: Effort): Promise<Sample[]> {
  const flags = ['--metrics', '--log-level', 'info']
  return compareCalls(
    effort,
    () => startDaemon([...freshStore(), ...flags], {}, { stderr: openSync(join(freshFolder(), 'log'), 'a') }),
    () => startDaemon(freshStore()),
    'time',
  )
}

async function measureBackups(effort: Effort): Promise<{ times: Sample[]; sends: Sample[] }> {
  const plan = { subscribers: 10, messages: 1_000_000, topics: 1000 }
  const { server, headers, folder } = await filled(effort, plan)
  const targets = new Targets()
  const backup = () => {
    const words = ['backup', targets.next(), '--data', folder, '--quiet']
    return timeProgram(process.execPath, [natter, ...words], fairEnvironment)
  }
  const copy = () => timeProgram('nice', ['sh', '-c', 'cp -r "$0" "$1" && sync -f "$1"', folder, targets.next()])
  const cleanly = (work: () => Promise<number>) => async () => {
    const took = await work()
    await targets.clear()
    return took
  }
  const times = await alternate(5, cleanly(backup), cleanly(copy))
  server.resume()
  const body = new URLSearchParams({
    type: 'direct',
    to: `[${server.ready.owner.user_id}]`,
    content: 'Hello',
  }).toString()
  // Steady traffic: a daemon and a client that take all they can get leave no room on two cores for anything beside them.
  // As long as most of a backup beside it, so that its start counts for no more than it does in practice.
  const load = { method: 'POST', headers, body, connections: 4, rest: 2, seconds: 8 }
  const send = () => run({ ...load, url: `${server.ready.url}/api/v1/messages` })
  await send()
  const during = async (): Promise<LoadResult> => {
    let sending = true
    const backingUp = (async () => {
      while (sending) await backup()
    })()
    const result = await send()
    sending = false
    await backingUp
    await targets.clear()
    return result
  }
  const results = await alternate(4, during, send)
  const sends = results.map(({ ours, reference }) => ({ ours: ours.p99, reference: reference.p99 }))
  await server.stop()
  return { times, sends }
}

/**
 * Where backups and copies go. They are deleted between the measurements, not within them: a file system that tells its disk what is free
 * (`discard`) makes every sync after a large deletion wait, which is not what a backup costs.
 */
class Targets {
  readonly #folder = freshFolder()
  #count = 0

  next(): string {
    return join(this.#folder, `copy-${this.#count++}`)
  }

  async clear(): Promise<void> {
    for (const name of readdirSync(this.#folder)) rmSync(join(this.#folder, name), { recursive: true, force: true })
    await timeProgram('sync', ['-f', this.#folder])
  }
}

/** Milliseconds from spawn to exit of a program that must succeed. */
function timeProgram(program: string, args: readonly string[], env = process.env): Promise<number> {
  return new Promise((resolve, reject) => {
    const began = performance.now()
    const child = spawn(program, args, { stdio: 'ignore', env })
    child.once('error', reject)
    child.once('exit', code => {
      if (code === 0) resolve(performance.now() - began)
      else reject(new Error(`${program} ${args.join(' ')} ended with ${code}`))
    })
  })
}
