// States to go back to, where some of their messages are in files of the store.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Worlds } from '../../daemon/control/snapshots.ts'
import type { Fact } from '../../daemon/domain/facts.ts'
import { Engine } from '../../daemon/engine.ts'
import { Queues } from '../../daemon/events/queues.ts'
import { SteeredClock } from '../../daemon/io/clock.ts'
import { MemoryJournal } from '../../daemon/journal/memory-journal.ts'

describe('POST /reset', () => {
  test('is refused before anything is written when the beginning names files that nobody keeps', async () => {
    const clock = new SteeredClock(Date.UTC(2030, 0, 1))
    const limits = { maxPending: 10, maxPendingSize: 1000, heartbeatMs: () => 1000 }
    const queues = new Queues({ clock, limits, remove: () => {}, tick: () => {} })
    const journal = new MemoryJournal<Fact>()
    const onFailure = assert.fail
    const engine = new Engine({
      journal,
      snapshots: null,
      queues,
      now: () => clock.now(),
      onFailure,
      onChange: () => {},
    })
    const worlds = new Worlds(engine, clock)
    worlds.begin({ messages: [{ last_id: 16_384, places: [], clients: [], files: ['messages-0'] }] })
    clock.jump({ frozenAt: Date.UTC(2031, 0, 1) })
    await assert.rejects(worlds.reset(), /too many messages to go back to that state/)
    assert.deepEqual([engine.position, clock.now()], [0, Date.UTC(2031, 0, 1)])
    worlds.save('whole')
    await worlds.restore('whole')
    assert.equal(engine.position, 1)
  })
})
