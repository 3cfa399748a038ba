// The cost of the journal for a daemon: an append, and a start from it.

import { gather, type Picture, pointOf, repeat } from '../picture.ts'
import { once } from '../row.ts'
import { built, tell } from '../rows/journal.ts'
import { lowdbWrites } from './growth.ts'

/** Flushes of one order, and the entries in each: what the worker appends. */
const flushes = 25
const together = 64

const journals = once(async effort => {
  const found = []
  for (const entries of [1000, 10_000, 100_000, 300_000].slice(0, effort.rounds(4, 2))) {
    const child = await built(entries)
    const rounds = effort.rounds(5, 2)
    const boot = await repeat(rounds, () => tell(child, 'boot'))
    const parse = await repeat(rounds, () => tell(child, 'parse'))
    // Appends last: they make the journal longer.
    await tell(child, { append: flushes })
    const append = await repeat(rounds, async () => (await tell(child, { append: flushes })) / flushes / together)
    child.kill()
    found.push({ entries, boot, parse, append })
  }
  return found
})

const axis = { title: 'entries in the journal', scale: 'log' } as const

export const entries: readonly Picture[] = [
  {
    name: 'append',
    title: 'One append, by what was written before',
    about: '64 callers share a sync. lowdb writes the whole file for each of them.',
    kind: 'lines',
    x: { ...axis, title: 'entries or records before it' },
    y: { title: 'milliseconds each', scale: 'log' },
    measure: effort =>
      gather([
        async () => (await journals(effort)).map(({ entries, append }) => pointOf('natterd', entries, append)),
        () => lowdbWrites(effort),
      ]),
  },
  {
    name: 'recovery',
    title: 'Recovery: a start without a snapshot',
    about: 'Reading the journal, checking every line and applying it, beside JSON.parse of the same lines alone.',
    kind: 'lines',
    x: axis,
    y: { title: 'milliseconds', scale: 'log' },
    measure: effort =>
      gather([
        async () => (await journals(effort)).map(({ entries, boot }) => pointOf('natterd', entries, boot)),
        async () => (await journals(effort)).map(({ entries, parse }) => pointOf('JSON.parse alone', entries, parse)),
      ]),
  },
]
