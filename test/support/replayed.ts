// The law that the journal is the truth: replaying it from nothing gives the state the daemon had.

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { SteeredClock } from '../../daemon/clock.ts'
import type { Fact } from '../../daemon/domain/facts.ts'
import { checkRows, checkState } from '../../daemon/domain/row-checks/index.ts'
import { Engine } from '../../daemon/engine.ts'
import { Queues } from '../../daemon/events/queues.ts'
import { queuesOfRows } from '../../daemon/events/saved-queues.ts'
import { FileJournal } from '../../daemon/journal/file-journal.ts'
import type { Journal } from '../../daemon/journal/journal.ts'
import { openSnapshots, type Snapshots } from '../../daemon/journal/snapshots.ts'

/** The folder is a copy of the store from a moment ago; the snapshot is what the living daemon wrote since. */
export async function checkReplayed(folder: string, snapshotFile: string): Promise<void> {
  const snapshots = openSnapshots(dirname(snapshotFile))
  const live = await snapshots.read()
  assert.ok(live, 'the daemon wrote no snapshot')
  const journal = await FileJournal.open<Fact>({ folder, durability: 'os' })
  const before = openSnapshots(folder)
  const earlier = await before.read()
  const replayed = await rebuild(journal, earlier && saved(earlier, before), live.position)
  const expected = comparable(live.sections)
  assertSame(comparable(replayed.save()), expected, 'replaying the journal gives another state')
  const reloaded = await rebuild(null, saved(live, snapshots), live.position)
  assertSame(comparable(reloaded.save()), expected, 'loading the snapshot gives another state')
  // What a daemon writes must pass the checks of a restore.
  for (const _ of checkRows(live.sections));
  checkState(reloaded.state, live.position)
}

function saved(document: Awaited<ReturnType<Snapshots['read']>>, from: Snapshots): Snapshots {
  return { ...from, read: async () => document, write: async () => {} }
}

async function rebuild(journal: Journal<Fact> | null, snapshots: Snapshots | null, until: number): Promise<Engine> {
  const folder = mkdtempSync(join(tmpdir(), 'natter-replay-'))
  const scratch = await FileJournal.open<Fact>({ folder, durability: 'os', startAfter: until })
  const source: Journal<Fact> = {
    failure: undefined,
    get position() {
      return scratch.position
    },
    append: (...args) => scratch.append(...args),
    async *replay(after: number) {
      if (journal) for await (const entry of journal.replay(after)) if (entry.position <= until) yield entry
    },
    async *replayFacts(after: number) {
      for await (const entry of this.replay(after)) yield [entry]
    },
    async *find() {},
    seal: () => scratch.seal(),
    forget: upTo => scratch.forget(upTo),
    lost: () => undefined,
    abandon: assert.fail,
    close: () => scratch.close(),
  }
  const queues = new Queues({
    clock: new SteeredClock(0),
    limits: { maxPending: Number.MAX_SAFE_INTEGER, maxPendingSize: Number.MAX_SAFE_INTEGER, heartbeatMs: () => 50_000 },
    remove: () => {},
    tick: () => {},
  })
  const engine = new Engine({
    journal: source,
    snapshots,
    queues,
    now: () => 0,
    onFailure: assert.fail,
    onChange: () => {},
  })
  await engine.boot()
  await engine.close()
  await journal?.close()
  rmSync(folder, { recursive: true, force: true })
  return engine
}

/** Most are the same to the letter, and a comparison of texts is quick. */
function assertSame(actual: string, expected: string, message: string): void {
  if (actual !== expected) assert.deepEqual(JSON.parse(actual), JSON.parse(expected), message)
}

/** Signals, heartbeats and presence are not part of the story, and neither is the last number a queue gave out. */
function comparable(sections: Readonly<Record<string, Iterable<unknown>>>): string {
  const rows = Object.fromEntries(Object.entries(sections).map(([name, section]) => [name, [...section]]))
  const queues = [...queuesOfRows(rows.queues ?? [])]
  return JSON.stringify({
    ...rows,
    presence: [],
    queues: queues.map(({ newest, position, acknowledged, ...queue }) => ({
      ...queue,
      pending: queue.pending.filter(event => event.lasting),
    })),
  })
}
