// A process with a journal of a given length behind it, on disk and in memory, that appends when told to.

import { closeSync, openSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { RealClock } from '../../daemon/clock.ts'
import type { Fact } from '../../daemon/domain/facts.ts'
import { Engine } from '../../daemon/engine.ts'
import { Queues } from '../../daemon/events/queues.ts'
import { FileJournal } from '../../daemon/journal/file-journal.ts'
import { lineBlocks } from '../../daemon/journal/line-blocks.ts'

export type Order = { readonly build: number } | { readonly append: number } | 'boot' | 'parse'

const [, , folder] = process.argv as [string, string, string]
const together = 64
let engine: Engine

async function carryOut(order: Order): Promise<number> {
  if (order === 'boot') return timed(async () => (await open('os')).close())
  if (order === 'parse') return timed(parseLines)
  if ('build' in order) return timed(() => build(order.build))
  return timed(() => append(order.append))
}

/** Entries go to the page cache only: what counts later is that they are there. */
async function build(entries: number): Promise<void> {
  const engine = await open('os')
  for (let i = 0; i < entries; i += 1000) await create(engine, Math.min(1000, entries - i))
  await engine.close()
}

/** Flushes, each of as many entries as there would be callers, each awaited as its callers would. */
async function append(flushes: number): Promise<void> {
  engine ??= await open('fsync')
  for (let i = 0; i < flushes; i++) await create(engine, together)
}

async function create(engine: Engine, count: number): Promise<void> {
  const done: Promise<void>[] = []
  for (let i = 0; i < count; i++) {
    const id = engine.state.savedSnippets.nextId
    const content = `Snippet number ${id}: say hello to everyone when you have a minute. Thanks!`
    const snippet = { id, userId: 1 + (id % 1000), title: 'Greeting', content, dateCreated: 1_700_000_000 }
    done.push(engine.record('create-saved-snippet', 1, [{ type: 'saved-snippet.created', snippet }]))
  }
  await Promise.all(done)
}

async function open(durability: 'fsync' | 'os'): Promise<Engine> {
  const journal = await FileJournal.open<Fact>({ folder, durability })
  const clock = new RealClock()
  const limits = { maxPending: 20_000, maxPendingSize: Number.MAX_SAFE_INTEGER, heartbeatMs: () => 60_000 }
  const queues = new Queues({ clock, limits, remove: () => {}, tick: () => {} })
  const onFailure = (error: Error) => {
    throw error
  }
  const engine = new Engine({ journal, snapshots: null, queues, now: () => clock.now(), onFailure, onChange: () => {} })
  await engine.boot()
  return engine
}

async function parseLines(): Promise<void> {
  const file = join(folder, 'journal.ndjson')
  const fd = openSync(file, 'r')
  for await (const block of lineBlocks(fd, statSync(file).size))
    for (let start = 0, end = 0; start < block.length; start = end + 1) {
      end = block.indexOf(10, start)
      JSON.parse(block.toString('utf8', start, end))
    }
  closeSync(fd)
}

async function timed(work: () => Promise<void>): Promise<number> {
  const began = performance.now()
  await work()
  return performance.now() - began
}

process.on('message', (order: Order) => carryOut(order).then(ms => process.send!(ms)))
