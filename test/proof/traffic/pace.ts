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
  let running = 0
  let failure: { readonly error: unknown } | undefined
  let freed = () => {}
  // One wait for whichever ends next. A race of hundreds of promises for each call would cost more than the calls.
  const oneEnds = () =>
    new Promise<void>(resolve => {
      freed = resolve
    })
  const ended = () => {
    running--
    freed()
  }
  for (let n = 0; n < count && !failure; n++) {
    const due = begin + (n * 1000) / perSecond
    const early = due - performance.now()
    if (early > 0) await sleep(early)
    else await nextTurn()
    while (running >= most) await oneEnds()
    running++
    work()
      .then(
        () => void took.push(performance.now() - due),
        error => {
          failure ??= { error }
        },
      )
      .then(ended)
  }
  while (running > 0) await oneEnds()
  if (failure) throw failure.error
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
