// The table of subscriptions says the same however its rows came in.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { SubscriptionTable } from '../../../daemon/domain/model/subscription-table.ts'
import { paletteBit } from '../../../daemon/domain/values/color-palette.ts'

describe('the table of subscriptions', () => {
  const newcomer = {
    active: true,
    color: '#76ce90',
    muted: false,
    pinned: false,
    notifications: { desktop: null, audible: null, push: null, email: null, wildcardMentions: null },
    spans: [[0]] as const,
  }

  // On several pages.
  const people = [1, 2, 63, 64, 65, 6400]
  const byChannel = (a: { channelId: number }, b: { channelId: number }) => a.channelId - b.channelId

  test('says the same of many who came at once as of each who came alone, also when some change', () => {
    const change = fc.record({
      channelId: fc.integer({ min: 1, max: 3 }),
      userIds: fc.uniqueArray(fc.constantFrom(...people)),
      active: fc.boolean(),
      color: fc.constantFrom('#76ce90', '#fae589', '#123456'),
    })
    fc.assert(
      fc.property(fc.array(change), changes => {
        const [together, alone] = [new SubscriptionTable(), new SubscriptionTable()]
        const rows = new Map<string, object>()
        for (const { channelId, userIds, active, color } of changes) {
          together.putAll(channelId, userIds, { ...newcomer, active, color })
          for (const userId of userIds) {
            const row = { channelId, userId, ...newcomer, active, color }
            alone.put(row)
            rows.set(`${channelId} ${userId}`, row)
          }
        }
        const again = new SubscriptionTable()
        again.load(together.save())
        const saved = [together, alone, again].map(table => JSON.stringify([...table.save()].sort(byChannel)))
        assert.equal(saved[1], saved[0])
        assert.equal(saved[2], saved[0])
        for (const table of [together, alone, again]) {
          const all = people.flatMap(userId => table.ofUser(userId))
          assert.equal(all.length, rows.size)
          for (const row of all) {
            assert.deepEqual(row, rows.get(`${row.channelId} ${row.userId}`))
            assert.equal(table.isActive(row.channelId, row.userId), row.active)
          }
          for (const channelId of [1, 2, 3]) {
            const followers = table.followers(channelId)
            const own = all.filter(row => row.channelId === channelId)
            assert.deepEqual(
              followers.everyone(),
              own.map(({ userId }) => userId),
            )
            assert.deepEqual(
              [...followers],
              own.filter(({ active }) => active).map(({ userId }) => userId),
            )
            assert.equal(followers.size, [...followers].length)
          }
          for (const userId of people) {
            const bits = table.ofUser(userId).reduce((bits, { color }) => bits | paletteBit(color), 0)
            assert.equal(table.colorsOfUser(userId), bits)
          }
        }
      }),
      { numRuns: 60 },
    )
  })

  test('is saved as it was when it was asked to be', () => {
    const table = new SubscriptionTable()
    table.putAll(1, [1, 2], newcomer)
    const saved = table.save()
    table.putAll(1, [2, 3], { ...newcomer, active: false })
    assert.deepEqual(
      [...saved].map(({ userIds, active }) => [userIds, active]),
      [[[1, 2], true]],
    )
  })
})
