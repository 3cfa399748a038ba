// Names by user in the reply of a subscription to many channels.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { NamesByUser } from '../../../../daemon/domain/channels/subscriptions/names-by-user.ts'

describe('names by user', () => {
  test('are the same lists whether there is one channel or several', () => {
    const users = fc.uniqueArray(fc.integer({ min: 1, max: 5 }))
    fc.assert(
      fc.property(fc.dictionary(fc.constantFrom('lunch', 'a "b"', 'ü'), users), channels => {
        const names = new NamesByUser()
        const expected: Record<number, string[]> = {}
        for (const [name, userIds] of Object.entries(channels)) {
          names.add(name, userIds)
          for (const userId of userIds) expected[userId] = [...(expected[userId] ?? []), name]
        }
        const sorted = (lists: object) => Object.entries(lists).map(([id, list]) => [id, [...list].sort()])
        assert.deepEqual(sorted(names.lists()), sorted(expected))
        assert.equal(names.size, Object.keys(expected).length)
      }),
    )
  })
})
