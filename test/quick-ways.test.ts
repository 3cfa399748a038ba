// The quick ways for long lists say what the plain ways say.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { messageFlags } from '../daemon/api/message-flags.ts'
import { decode, numbersText } from '../daemon/api/wire.ts'
import { MessageStore } from '../daemon/domain/message-store/index.ts'
import { State } from '../daemon/domain/state.ts'
import { Colors } from '../daemon/domain/subscriptions/colors.ts'
import { NamesByUser } from '../daemon/domain/subscriptions/names-by-user.ts'

describe('a parameter that is a list of IDs', () => {
  const read = (messages: string) => {
    const decoded = decode(messageFlags.update, {}, new Map(Object.entries({ messages, op: 'add', flag: 'read' })))
    return 'params' in decoded ? (decoded.params.messages as number[]) : undefined
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
    const pair = fc.tuple(fc.constantFrom('lunch', 'a "b"', 'ü'), fc.integer({ min: 1, max: 5 }))
    fc.assert(
      fc.property(fc.uniqueArray(pair, { selector: String }), pairs => {
        const names = new NamesByUser()
        const expected: Record<number, string[]> = {}
        for (const [name, userId] of pairs) {
          names.add(name, userId)
          expected[userId] = [...(expected[userId] ?? []), name]
        }
        const sorted = (lists: object) => Object.entries(lists).map(([id, list]) => [id, [...list].sort()])
        assert.deepEqual(sorted(JSON.parse(names.text)), sorted(expected))
        assert.deepEqual(sorted(Object.fromEntries(names.lists())), sorted(expected))
        assert.equal(names.size, Object.keys(expected).length)
      }),
    )
  })
})

describe('colors in use', () => {
  const row = (channelId: number, color: string) => ({
    channelId,
    userId: 1,
    active: true,
    color,
    muted: false,
    pinned: false,
    notifications: { desktop: null, audible: null, push: null, email: null, wildcardMentions: null },
    spans: [[0]] as const,
  })

  test('are given back when the last subscription that had one gets another', () => {
    const state = new State()
    const next = () => new Colors(state, false).next(1, 9)
    const [first, second] = ['#76ce90', '#fae589']
    assert.equal(next(), first)
    state.subscriptions.put(row(1, first!))
    state.subscriptions.putAll(2, [1], () => row(2, first!))
    assert.equal(next(), second)
    state.subscriptions.put(row(1, '#123456'))
    assert.equal(next(), second)
    state.subscriptions.put(row(2, second!))
    assert.equal(next(), first)
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
