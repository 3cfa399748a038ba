// Long lists of IDs are read by a short way that must agree with the general one.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { subscriptions } from '../../daemon/api/channels/subscriptions.ts'
import { messageFlags } from '../../daemon/api/messages/message-flags.ts'
import { decode } from '../../daemon/api/wire.ts'

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

  test('is read as JSON.parse reads it, and refused where JSON.parse finds no such list', () => {
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
})
