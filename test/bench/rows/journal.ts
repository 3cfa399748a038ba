// The journal: a long one must not make writing slower, and must be read back fast.

import { type ChildProcess, fork } from 'node:child_process'
import { join } from 'node:path'
import type { Order } from '../journal-worker.ts'
import { freshFolder } from '../processes.ts'
import { alternate, type Effort, type Row, type Sample } from '../row.ts'

const worker = join(import.meta.dirname, '../journal-worker.ts')
const few = 1000

export const journal: readonly Row[] = [
  {
    name: 'append with 1,000,000 entries behind it',
    reference: 'with 1,000 behind it',
    goal: { atMost: 1.1 },
    unit: 'ms',
    fullOnly: 'it takes long',
    measure: appending,
  },
  {
    name: 'boot from 100,000 entries',
    reference: 'JSON.parse of the same lines',
    goal: { atMost: 1.3 },
    unit: 'ms',
    measure: booting,
  },
]

async function appending(): Promise<Sample[]> {
  const long = await built(1_000_000)
  const short = await built(few)
  // A process of its own each: garbage that one keeps must not slow the other.
  const order = { append: 25 }
  await tell(long, order)
  await tell(short, order)
  const samples = await alternate(
    61,
    () => tell(long, order),
    () => tell(short, order),
  )
  long.kill()
  short.kill()
  return samples
}

async function booting(effort: Effort): Promise<Sample[]> {
  const child = await built(100_000)
  const samples = await alternate(
    effort.rounds(9, 3),
    () => tell(child, 'boot'),
    () => tell(child, 'parse'),
  )
  child.kill()
  return samples
}

/** A worker that has written the entries. */
export async function built(entries: number): Promise<ChildProcess> {
  const child = fork(worker, [freshFolder()], { execArgv: ['--import', 'tsx'] })
  await tell(child, { build: entries })
  return child
}

/** Milliseconds the worker needed. */
export function tell(child: ChildProcess, order: Order): Promise<number> {
  return new Promise((resolve, reject) => {
    const onExit = (code: number | null) => reject(new Error(`the worker ended with ${code}`))
    child.once('exit', onExit)
    child.once('message', ms => {
      child.off('exit', onExit)
      resolve(ms as number)
    })
    child.send(order)
  })
}
