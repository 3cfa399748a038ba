// Traffic in windows. After each everything must have been heard, and in that silence the daemon is measured.

import { setTimeout as sleep } from 'node:timers/promises'
import type { TestDaemon } from '../../support/daemon.ts'
import type { RunOptions } from '../campaign.ts'
import { atRate, quantile } from './pace.ts'
import type { Reader } from './reader.ts'
import type { Sample } from './trend.ts'
import { type Vitals, vitalsOf } from './vitals.ts'

export interface Plan extends RunOptions {
  readonly daemon: TestDaemon
  readonly heapFile: string
  readonly readers: readonly Reader[]
  readonly perSecond: number
  readonly windowSeconds: number
  /** Most calls at once. */
  readonly most: number
  /** Makes one call. */
  readonly step: () => Promise<void>
}

/** One window. */
export interface Measured extends Vitals {
  readonly minutes: number
  readonly perSecond: number
  readonly p50: number
  readonly p99: number
}

/** A reader that has not heard everything after so many seconds of silence has lost something. */
const longestSilence = 120
/** With fewer calls than that in all, windows are shorter. */
const leastWindows = 3

export async function runTraffic(plan: Plan): Promise<{ readonly done: number; readonly measured: Measured[] }> {
  if (plan.readers.length === 0) return windows(plan)
  const reading = allReading(plan.readers)
  reading.catch(() => {})
  const working = windows(plan)
  // When a reader fails first, the traffic fails after it, unheard.
  working.catch(() => {})
  try {
    return await Promise.race([working, reading.then(() => windowsNeverEnd())])
  } finally {
    for (const reader of plan.readers) reader.stop()
    await reading.catch(() => {})
  }
}

/** Not all in one turn: a connection that sends nothing for long is closed. */
async function allReading(readers: readonly Reader[]): Promise<void> {
  const reading: Promise<void>[] = []
  let failed = false
  for (const reader of readers) {
    const one = reader.work()
    one.catch(() => {
      failed = true
    })
    reading.push(one)
    if (reading.length % 100 === 0) await sleep(20)
    if (failed) break
  }
  await Promise.all(reading)
}

async function windows(plan: Plan): Promise<{ readonly done: number; readonly measured: Measured[] }> {
  const { count, perSecond, windowSeconds, most, step, readers, deadline = Number.POSITIVE_INFINITY } = plan
  const size = Math.min(perSecond * windowSeconds, Math.ceil(count / leastWindows))
  const measured: Measured[] = []
  const begin = performance.now()
  let done = 0
  // At least one window, however long the beginning took: a run without any would prove nothing.
  do {
    const wanted = Math.min(size, count - done)
    const windowBegin = performance.now()
    const took = await atRate({ perSecond, count: wanted, most }, step)
    const seconds = (performance.now() - windowBegin) / 1000
    await everythingHeard(readers)
    done += wanted
    const one: Measured = {
      minutes: (performance.now() - begin) / 60_000,
      perSecond: wanted / seconds,
      p50: quantile(took, 0.5),
      p99: quantile(took, 0.99),
      ...(await vitalsOf(plan.daemon, plan.heapFile)),
    }
    measured.push(one)
    plan.progress?.(done)
    plan.note?.(`${done} done, ${described(one)}`)
  } while (done < count && performance.now() < deadline)
  return { done, measured }
}

/** The samples of one figure. */
export function samplesOf(measured: readonly Measured[], figure: keyof Measured): Sample[] {
  return measured.map(one => [one.minutes, one[figure]])
}

async function everythingHeard(readers: readonly Reader[]): Promise<void> {
  const end = performance.now() + longestSilence * 1000
  for (const reader of readers)
    for (let missing = reader.difference; missing !== undefined; missing = reader.difference) {
      if (performance.now() > end) throw new Error(`${reader.name} heard ${missing}`)
      await sleep(20)
    }
}

function described({ perSecond, p50, p99, kept, resident, descriptors, disk }: Measured): string {
  const memory = `${kept.toFixed(1)} MB kept, ${resident.toFixed(0)} MB resident`
  const time = `p50 ${p50.toFixed(1)} ms, p99 ${p99.toFixed(1)} ms`
  return `${perSecond.toFixed(0)} a second, ${time}, ${memory}, ${descriptors} descriptors, ${disk.toFixed(1)} MB of disk`
}

function windowsNeverEnd(): never {
  throw new Error('the readers ended before the traffic')
}
