// Property: whatever is put, changed and removed, the table knows which row falls due first.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { DueTable } from '../../../daemon/domain/model/due-table.ts'

const step = fc.record({
  op: fc.constantFrom('put', 'put', 'put', 'remove', 'fail', 'deliver'),
  id: fc.integer({ min: 1, max: 12 }),
  due: fc.integer({ min: 1, max: 9 }),
})

describe('DueTable', () => {
  test('the first is always the earliest that is there and has not failed; of several, the oldest', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 300 }), steps => {
        const table = new DueTable<{ id: number; due: number; failed: boolean; userId: number }>()
        for (const { op, id, due } of steps) {
          const row = table.get(id)
          if (op === 'put') table.put({ id, due, failed: false, userId: 1 })
          else if (op === 'remove') table.remove(id)
          else if (op === 'fail' && row) table.put({ ...row, failed: true })
          else if (op === 'deliver' && table.first) table.remove(table.first.id)
          const waiting = table.ofUser(1).filter(({ failed }) => !failed)
          assert.equal(table.first?.id, waiting[0]?.id)
          assert.equal(table.nextDue, waiting[0] && waiting[0].due * 1000)
        }
      }),
    )
  })
})
