// The quick ways for long lists say what the plain ways say.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { subscriptions } from '../../daemon/api/channels/subscriptions.ts'
import { messageFlags } from '../../daemon/api/messages/message-flags.ts'
import { numbersText } from '../../daemon/api/reading.ts'
import { decode } from '../../daemon/api/wire.ts'
import { NamesByUser } from '../../daemon/domain/channels/subscriptions/names-by-user.ts'
import { paletteBit } from '../../daemon/domain/model/color-palette.ts'
import { MessageStore } from '../../daemon/domain/model/message-store/index.ts'
import { SubscriptionTable } from '../../daemon/domain/model/subscription-table.ts'

describe('a parameter that is a list of IDs', () => {
  const read = (messages: string) => {
    const decoded = decode(messageFlags.update, {}, new Map(Object.entries({ messages, op: 'add', flag: 'read' })))
    return 'params' in decoded ? (decoded.params.messages as number[]) : undefined
  }
  /** Where names may stand in their place. */
  const readPeople = (principals: string) => {
    const decoded = decode(subscriptions.subscribe, {}, new Map(Object.entries({ subscriptions: '[]', principals })))
    return 'params' in decoded ? (decoded.params.principals as number[]) : undefined
  }

  test('is what JSON says it is, or refused where JSON has no such list', () => {
    const piece = fc.oneof(
      { weight: 6, arbitrary: fc.maxSafeNat().map(String) },
      { weight: 6, arbitrary: fc.nat(99).map(String) },
      fc.constantFrom('', '00', '01', '-1', '1.0', '1e3', ' 7', '9007199254740991', '9007199254740992', 'ı', '"1"'),
    )
    const list = fc
      .tuple(fc.array(piece), fc.constantFrom(']', ' ]', ',]', ']]', '', '10'))
      .map(([all, end]) => `[${all}${end}`)
    fc.assert(
      fc.property(list, text => {
        assert.deepEqual(read(text), plainly(text), text)
        if (!/[".e]/.test(text)) assert.deepEqual(readPeople(text), plainly(text), text)
      }),
      { numRuns: 500 },
    )
  })

  test('is written as it was read, or anew', () => {
    for (const text of ['[1,2,3]', '[ 1, 2 ]', '[]', '[0]', '[9007199254740991]'])
      assert.equal(numbersText(read(text)!), JSON.stringify(JSON.parse(text)))
    assert.equal(numbersText([3, 1]), '[3,1]')
  })
})

/** By JSON.parse; `1.0` and `1e3` are no integers. */
function plainly(text: string): number[] | undefined {
  try {
    const numbers = JSON.parse(text) as unknown[]
    const fits = numbers.every(number => Number.isSafeInteger(number) && (number as number) >= 0)
    return fits && !/[.e]/.test(text) ? (numbers as number[]) : undefined
  } catch {
    return undefined
  }
}

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
        assert.deepEqual(sorted(JSON.parse(String(names.json))), sorted(expected))
        assert.deepEqual(sorted(Object.fromEntries(names.lists())), sorted(expected))
        assert.equal(names.size, Object.keys(expected).length)
      }),
    )
  })
})

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

describe('a message ID beyond 32 bits', () => {
  test('is no message, though its low bits are those of one', () => {
    const messages = new MessageStore()
    messages.add({
      id: 5,
      senderId: 1,
      channelId: 3,
      topic: 't',
      time: 1,
      client: 'c',
      content: 'x',
      html: '<p>x</p>',
      marks: 0,
    })
    assert.deepEqual([messages.has(5), messages.channelOf(5), messages.get(5)?.id], [true, 3, 5])
    const far = 2 ** 32 + 5
    assert.deepEqual([messages.has(far), messages.channelOf(far), messages.get(far)], [false, -1, undefined])
  })
})
