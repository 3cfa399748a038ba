// The law of the fold: every kind of fact does the same to a store wherever it is read, in the engine, by maintenance, as the
// base of a throw-away daemon, and in a seed.

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { SteeredClock } from '../../daemon/clock.ts'
import type { Fact } from '../../daemon/domain/facts.ts'
import { resources } from '../../daemon/domain/index.ts'
import type { State } from '../../daemon/domain/model/state.ts'
import { checkState } from '../../daemon/domain/row-checks/index.ts'
import { Engine } from '../../daemon/engine.ts'
import { Queues } from '../../daemon/events/queues.ts'
import { memoryFiles } from '../../daemon/io/files.ts'
import { FileJournal } from '../../daemon/journal/file-journal.ts'
import type { Journal } from '../../daemon/journal/journal.ts'
import { MemoryJournal } from '../../daemon/journal/memory-journal.ts'
import { rebuildState } from '../../daemon/maintenance/rebuild.ts'
import { StoreView } from '../../daemon/maintenance/store-view.ts'
import { type Holder, Replay } from '../../daemon/replay.ts'
import { buildState } from '../../daemon/seed/found.ts'
import { readBase } from '../../daemon/world/snapshot-file.ts'
import { everyKind, story } from '../support/every-fact.ts'
import { sources } from '../support/sources.ts'

describe('every kind of fact', () => {
  test('does the same in the engine and in a replay without a daemon', async () => {
    const engine = engineOn(new MemoryJournal<Fact>({ keep: true }))
    await engine.boot()
    const replay = new Replay()
    for (const fact of story) {
      await engine.record('test', null, [fact])
      replay.take(copied([fact]))
      assert.deepEqual(rowsOf(replay.state), rowsOf(engine.state), fact.type)
      const remembered = ({ secretVerifier, restoreId }: Holder) => [secretVerifier, restoreId]
      assert.deepEqual(remembered(replay), remembered(engine))
      // Every kind of row passes the checks of rows from outside.
      checkState(replay.state, engine.position)
    }
    await engine.close()
  })

  test('does the same in the engine, in maintenance, in a base and in a seed', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'natter-facts-'))
    try {
      const journal = await FileJournal.open<Fact>({ folder, durability: 'os' })
      const engine = engineOn(journal)
      await engine.boot()
      for (const fact of story) await engine.record('test', null, [fact])
      await engine.close()
      const expected = rowsOf(engine.state)

      const reopened = await FileJournal.open<Fact>({ folder, durability: 'os' })
      const replayed = engineOn(reopened)
      await replayed.boot()
      await replayed.close()
      assert.deepEqual(rowsOf(replayed.state), expected, 'the engine, after a restart')

      const storeView = await StoreView.open(folder)
      const rebuilt = await rebuildState(storeView)
      storeView.close()
      assert.deepEqual(rowsOf(rebuilt.state), expected, 'maintenance')
      assert.equal(rebuilt.secretVerifier, replayed.secretVerifier)
      assert.equal(rebuilt.queues, replayed.queues.size)

      const { sections } = await readBase(folder, memoryFiles())
      // Answers to idempotency keys belong to the secret of their store, links to the organization that they lead to.
      const { answers: _answers, invitations, emailChanges, ...portable } = expected
      const heads = { invitations: invitations!.slice(0, 1), emailChanges: emailChanges!.slice(0, 1) }
      assert.deepEqual(copied(sections), { ...portable, ...heads }, 'a base')
      assert.deepEqual(rowsOf(buildState(copied(story))), expected, 'a seed')
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })

  test('has a place in the story, under its name', () => {
    const owned = resources.flatMap(({ apply }) => Object.keys(apply))
    assert.deepEqual(
      owned.filter(type => !(type in everyKind)),
      [],
    )
    for (const [type, fact] of Object.entries<Fact>(everyKind)) assert.equal(fact.type, type)
  })

  test('is applied by the fold alone', () => {
    const others = sources('daemon').filter(
      ({ path, code }) => /\bapplyFact\(/.test(code) && !/^daemon\/(replay|domain\/index)\.ts$/.test(path),
    )
    assert.deepEqual(
      others.map(({ path }) => path),
      [],
    )
  })

  test('that this version does not know is named', () => {
    const unknown = { type: 'garden.watered' } as unknown as Fact
    assert.throws(() => new Replay().take([unknown]), /this version knows no facts of the kind garden\.watered/)
  })
})

function engineOn(journal: Journal<Fact>): Engine {
  const queues = new Queues({
    clock: new SteeredClock(0),
    limits: { maxPending: 1000, maxPendingSize: 1_000_000, heartbeatMs: () => 50_000 },
    remove: () => {},
    tick: () => {},
  })
  return new Engine({ journal, snapshots: null, queues, now: () => 0, onFailure: assert.fail, onChange: () => {} })
}

function copied<T>(value: T): T {
  return JSON.parse(JSON.stringify(value))
}

function rowsOf(state: State): Record<string, unknown[]> {
  return copied(Object.fromEntries(Object.entries(state.save(true)).map(([name, rows]) => [name, [...rows]])))
}
