// An organization at its limits: with as much of everything as members and the owner can make, no call keeps the process busy for long,
// no answer is very large, and the memory does not grow with the calls.

import { existsSync } from 'node:fs'
import { events } from '../../daemon/api/events.ts'
import { BotServer, json } from '../support/bot-server.ts'
import { busyMilliseconds, busyTimeFile } from '../support/busy-time.ts'
import type { Caller } from '../support/daemon.ts'
import { prepareRest } from '../support/event-story/rest.ts'
import { people } from '../support/event-story/row.ts'
import { setStage } from '../support/event-story/stage.ts'
import { megabytesKept } from '../support/heap.ts'
import { blaming, type Campaign, type Result, type RunOptions } from './campaign.ts'
import { readings, type Step, writings } from './limits/calls.ts'
import { fill } from './limits/fill.ts'
import { type Crowd, withCrowd } from './traffic/crowd.ts'
import { allAtOnce } from './traffic/pace.ts'

/** Accounts, of which each has an open queue, at full size. */
const accounts = 1000
/** Milliseconds of the processor, and more for a large answer. */
const mostBusy = 2000
const mostBusyPerMebibyte = 60
const mebibyte = 1024 * 1024
/** Bytes. */
const largestAnswer = 64 * mebibyte
/** Megabytes that all calls together may leave behind, most of them in queues that are not read. */
const mayKeepMore = 256

export const campaign: Campaign = {
  about:
    'every endpoint, called in an organization that is filled to its limits: processor time, size of the answer, memory',
  unit: 'percent of the limits',
  long: 100,
  short: 1,
  unavailable: existsSync(busyTimeFile(process.pid)) ? undefined : 'the time of a process is read from /proc',
  run: options => blaming(options.seed, options.count, run(options)),
}

interface Taken {
  readonly what: string
  readonly busy: number
  readonly bytes: number
  readonly isRefused: boolean
}

function run({ count, note = () => {}, progress = () => {} }: RunOptions): Promise<Result> {
  const part = Math.min(1, count / 100)
  return withCrowd(Math.max(20, Math.floor(accounts * part)), async crowd => {
    const { daemon, callers, heapFile } = crowd
    await setStage(daemon)
    const filled = await fill({ owner: people.o, member: people.a, others: callers, part, note })
    await openQueues(crowd)
    const before = await megabytesKept(daemon, heapFile)
    note(`filled; ${before.toFixed(0)} MB in use`)
    const server = new BotServer()
    server.answer = json({}, 400)
    await server.listen()
    const taken: Taken[] = []
    const take = async (step: Step) => {
      taken.push(await measure(step, daemon.process.pid!, callers[0]!))
      progress(count * (taken.length / 350))
    }
    try {
      for (const step of await readings(filled)) await take(step)
      for await (const step of writings(() => prepareRest(daemon, server.url))) await take(step)
    } finally {
      await server.close()
    }
    for (const { what } of taken.filter(one => one.isRefused)) note(`refused: ${what}`)
    for (const { what, busy, bytes } of [...taken].sort((a, b) => b.busy - a.busy).slice(0, 20))
      note(`${busy.toFixed(0)} ms, ${bytes} bytes: ${what}`)
    const after = await megabytesKept(daemon, heapFile)
    // Not stopped: the check of its journal then holds the whole state in one text, which is too long.
    await daemon.kill()
    return { done: count, summary: judge(taken, before, after) }
  })
}

/** Queues for everything, in which events gather. Several of one account, and one of each other. */
async function openQueues({ callers }: Crowd): Promise<void> {
  const several = Array.from({ length: 10 }, () => people.a)
  await allAtOnce([...several, people.o, people.b, ...callers], caller =>
    caller.call(events.register, { fetch_event_types: [] }),
  )
}

/** The time includes that of telling everyone, which is over before the next call is answered. */
async function measure({ by, endpoint, params, remember }: Step, pid: number, next: Caller): Promise<Taken> {
  const caller = by()
  const begin = busyMilliseconds(pid)
  const { text, body } = await caller.try(endpoint, params() as Record<string, unknown>)
  await next.raw('GET', '/api/v1/server_settings')
  const busy = busyMilliseconds(pid) - begin
  const isRefused = body.result !== 'success'
  if (!isRefused) remember?.(body)
  const msg = isRefused ? `: ${body.msg}` : ''
  return { what: `${endpoint.id} of ${caller.email}${msg}`, busy, bytes: text.length, isRefused }
}

function judge(taken: readonly Taken[], before: number, after: number): string {
  const slow = taken.filter(({ busy, bytes }) => busy > mostBusy + (mostBusyPerMebibyte * bytes) / mebibyte)
  const large = taken.filter(({ bytes }) => bytes > largestAnswer)
  const refused = taken.filter(({ isRefused }) => isRefused)
  const problems = [
    ...slow.map(({ what, busy }) => `${what} took ${busy.toFixed(0)} ms of the processor`),
    ...large.map(({ what, bytes }) => `${what} was answered with ${bytes} bytes`),
    ...(after > before + mayKeepMore ? [`the calls left ${(after - before).toFixed(0)} MB behind`] : []),
    // Then the calls do not fit the organization, and show little.
    ...(refused.length > taken.length / 10 ? refused.map(({ what }) => what) : []),
  ]
  if (problems.length > 0) throw new Error(problems.join('\n'))
  const most = (figure: 'busy' | 'bytes') => taken.reduce((top, one) => (one[figure] > top[figure] ? one : top))
  const [slowest, largest] = [most('busy'), most('bytes')]
  return [
    `${taken.length} calls, ${refused.length} refused`,
    `at most ${slowest.busy.toFixed(0)} ms (${slowest.what})`,
    `and ${(largest.bytes / mebibyte).toFixed(1)} MiB (${largest.what})`,
    `memory ${before.toFixed(0)} to ${after.toFixed(0)} MB`,
  ].join('; ')
}
