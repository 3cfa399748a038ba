// Snapshots by name of a store whose messages are in files: they can be restored whatever was compacted since, and so can the
// journal that says so.

import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { SteeredClock } from '../../daemon/clock.ts'
import { type SnapshotFiles, Snapshots } from '../../daemon/control/snapshots.ts'
import type { Fact } from '../../daemon/domain/facts.ts'
import { segmentSize } from '../../daemon/domain/model/message-store/segment.ts'
import { State } from '../../daemon/domain/model/state.ts'
import { Engine } from '../../daemon/engine.ts'
import { Queues } from '../../daemon/events/queues.ts'
import { MemoryJournal } from '../../daemon/journal/memory-journal.ts'
import { openSnapshots } from '../../daemon/journal/snapshots.ts'

const count = segmentSize + 100
const clock = new SteeredClock(0)
const noFiles: SnapshotFiles = { write: unused, seed: unused, read: unused }

describe('a snapshot of a world with more messages than one file holds', () => {
  const folder = mkdtempSync(join(tmpdir(), 'natter-kept-'))
  const journal = new MemoryJournal<Fact>({ keep: true })
  const engine = engineOn()
  const snapshots = new Snapshots(engine, clock, noFiles)
  after(() => rmSync(folder, { recursive: true, force: true }))

  function engineOn(): Engine {
    const limits = { maxPending: 1000, maxPendingSize: 1_000_000, heartbeatMs: () => 50_000 }
    const queues = new Queues({ clock, limits, remove: () => {}, tick: () => {} })
    const snapshots = openSnapshots(folder)
    return new Engine({ journal, snapshots, queues, now: () => 0, onFailure: assert.fail, onChange: () => {} })
  }

  const files = () => readdirSync(join(folder, 'messages')).sort()
  const fill = async (text: string) => {
    const sections = stateWith(text).save()
    await engine.restore('fill', Object.fromEntries(Object.entries(sections).map(([name, rows]) => [name, [...rows]])))
    await engine.compact()
  }
  const assertFilledWith = (text: string, { state }: Engine = engine) => {
    assert.equal(state.messages.count, count)
    for (const id of [1, segmentSize, count]) assert.equal(state.messages.get(id)!.content, `${text} ${id}`)
  }

  before(async () => {
    await engine.boot()
    snapshots.setStart()
    await fill('first')
    snapshots.save('full')
  })

  test('survives a reset, other messages in the same places, and compactions', async () => {
    assert.equal(files().length, 1)
    await snapshots.reset()
    await engine.compact()
    assert.equal(engine.state.messages.count, 0)
    assert.equal(files().length, 1, 'the snapshot needs them')
    await fill('second')
    assert.equal(files().length, 2, 'no file of the snapshot was replaced')
    await snapshots.restore('full')
    assertFilledWith('first')
  })

  test('is whole in the journal, so that a restart does not need its files', async () => {
    const next = engineOn()
    await next.boot()
    assertFilledWith('first', next)
  })

  test('lets its files go when it is removed', async () => {
    await engine.compact()
    snapshots.remove('full')
    await snapshots.reset()
    await engine.compact()
    assert.deepEqual(files(), [])
  })
})

function unused(): never {
  assert.fail('no file is written or read')
}

function stateWith(text: string): State {
  const state = new State()
  for (let id = 1; id <= count; id++)
    state.messages.add({
      id,
      senderId: 1,
      channelId: 1,
      topic: 'load',
      time: id,
      client: 'test',
      content: `${text} ${id}`,
      html: `<p>${text} ${id}</p>`,
      marks: 0,
    })
  return state
}
