// The positions that are reported as applied while a daemon follows the log. The log and the world are stand-ins: in a running
// cluster, an entry that cannot be applied ends the daemon.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { test } from 'node:test'
import { Following } from '../../daemon/cluster/following.ts'
import { PositionWaiters } from '../../daemon/cluster/position-waiters.ts'
import { EntryRefused, type WorldInstance } from '../../daemon/cluster/world-instance.ts'
import type { Batch } from '../../daemon/journal/replicated-journal.ts'
import { entryLine } from '../../daemon/journal/segment-format.ts'

function follow(batches: readonly Batch[], position: number, apply: () => void, older: readonly Batch[] = []) {
  const journal = { position, newest: { position, sum: '01234567' } }
  const instance = { store: { journal }, ending: new AbortController(), open: true } as unknown as WorldInstance
  const log = {
    async *read() {
      yield* batches
      return 1
    },
    async *readBack() {
      yield* older
    },
    async *watch() {
      if (!instance.ending.signal.aborted) await once(instance.ending.signal, 'abort')
      yield* []
    },
  }
  const instances = {
    take(_: unknown, batch: Batch) {
      journal.position = batch.last
      apply()
    },
    openIfFounded() {},
  }
  const positions = new PositionWaiters()
  const view = async () => ({ head: { position: 9, term: 1 } })
  const following = new Following({} as never, log as never, instances as never, positions, view as never)
  return { instance, positions, following: following.follow(instance) }
}

test('an entry that cannot be applied is not reported as reached', async () => {
  const { positions, following } = follow([{ first: 1, last: 1, lines: '' }], 0, () => {
    throw new EntryRefused(new Error('an unknown fact'))
  })
  const reached = positions.wait(1, 1000)
  await assert.rejects(following, EntryRefused)
  assert.equal(await reached, false)
})

test('entries of a log that has another one at the present position are not taken', async () => {
  const other = { first: 5, last: 5, lines: entryLine(5, { time: 1, actor: null, op: 'other', facts: [] }) }
  const { following } = follow([{ first: 6, last: 6, lines: '' }], 5, () => assert.fail('was taken'), [other])
  await assert.rejects(following, /the log in etcd has another entry at position 5 than this daemon/)
})

test('the position of a fetched snapshot is reported as reached, also when the log has nothing newer', async () => {
  const { instance, positions, following } = follow([], 5, () => {})
  assert.equal(await positions.wait(5, 60_000), true)
  instance.ending.abort()
  await following
})
