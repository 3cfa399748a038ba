// Work at a steady rate: begun when it is due, whatever becomes of the work before it.

import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'

export interface Pace {
  readonly perSecond: number
  readonly count: number
  /** Most that may be under way at once. Beyond it, work begins late, and its lateness counts. */
  readonly most: number
}

const atOnce = 64

/** For each, the milliseconds from when it was due to its end. */
export async function atRate({ perSecond, count, most }: Pace, work: () => Promise<void>): Promise<number[]> {
  const begin = performance.now()
  const took: number[] = []
  const running = new Set<Promise<void>>()
  let isFailed = false
  for (let n = 0; n < count; n++) {
    const due = begin + (n * 1000) / perSecond
    const early = due - performance.now()
    if (early > 0) await sleep(early)
    else await nextTurn()
    while (running.size >= most) await Promise.race(running)
    const one = work().then(() => {
      took.push(performance.now() - due)
      running.delete(one)
    })
    running.add(one)
    // Thrown by the next wait, or at the end: it stays in the set.
    one.catch(() => {
      isFailed = true
    })
    if (isFailed) break
  }
  await Promise.all(running)
  return took
}

/** Does this for every item, many at once: each waits for the disk, and they can wait together. */
export async function allAtOnce<T, R>(items: readonly T[], work: (item: T) => Promise<R>): Promise<R[]> {
  const results: R[] = []
  for (let at = 0; at < items.length; at += atOnce)
    results.push(...(await Promise.all(items.slice(at, at + atOnce).map(work))))
  return results
}

/** The value below which this part of them lies. */
export function quantile(values: readonly number[], part: number): number {
  const sorted = Float64Array.from(values).sort()
  return sorted[Math.floor((sorted.length - 1) * part)] ?? 0
}
