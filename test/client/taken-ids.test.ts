// IDs of events and messages, each taken once.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { TakenIds } from '../../daemon/client/taken-ids.ts'

describe('TakenIds', () => {
  test('takes each ID above the beginning once, in whatever order they come', () => {
    const ids = fc.array(fc.integer({ min: 0, max: 60 }), { maxLength: 200 })
    fc.assert(
      fc.property(fc.integer({ min: -1, max: 10 }), ids, (first, all) => {
        const taken = new TakenIds(first)
        const expected = [...new Set(all)].filter(id => id > first)
        assert.deepEqual(
          all.filter(id => taken.take(id)),
          expected,
        )
        assert.equal(taken.last, Math.max(first, ...all))
      }),
    )
  })

  test('counts as taken what was skipped, and what is behind too many gaps', () => {
    const taken = new TakenIds(0)
    taken.skipTo(5)
    assert.deepEqual([taken.take(3), taken.take(6), taken.last], [false, true, 6])
    for (let id = 10; id <= 2000; id += 2) taken.take(id)
    assert.deepEqual([taken.take(11), taken.take(1999), taken.take(1999)], [false, true, false])
  })
})
