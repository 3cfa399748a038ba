// The messages that the inspector's page shows: addresses, terms for the API, and whether a new message belongs there.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import {
  buildTerms,
  fits,
  listPeers,
  type Narrow,
  readNarrow,
  termsIn,
  writeNarrow,
} from '../../daemon/inspector/chat/narrow.ts'
import type { Message } from '../../daemon/inspector/chat/records.ts'

const narrows: [Narrow, string[], unknown[]][] = [
  [{ kind: 'all' }, ['all'], []],
  [{ kind: 'mentions' }, ['mentions'], [{ operator: 'is', operand: 'mentioned' }]],
  [{ kind: 'starred' }, ['starred'], [{ operator: 'is', operand: 'starred' }]],
  [{ kind: 'channel', id: 3 }, ['channel', '3'], [{ operator: 'channel', operand: 3 }]],
  [
    { kind: 'topic', id: 3, topic: 'Lunch' },
    ['channel', '3', 'Lunch'],
    [
      { operator: 'channel', operand: 3 },
      { operator: 'topic', operand: 'Lunch' },
    ],
  ],
  [
    { kind: 'topic', id: 3, topic: '' },
    ['channel', '3', ''],
    [
      { operator: 'channel', operand: 3 },
      { operator: 'topic', operand: '' },
    ],
  ],
  [{ kind: 'direct', ids: [8, 9] }, ['direct', '8,9'], [{ operator: 'dm', operand: [8, 9] }]],
  [{ kind: 'search', text: 'lunch' }, ['search', 'lunch'], [{ operator: 'search', operand: 'lunch' }]],
]

describe('a narrow of the page', () => {
  test('is the same after its address was read again, and has terms for the API', () => {
    for (const [narrow, address, terms] of narrows) {
      assert.deepEqual(writeNarrow(narrow).map(String), address)
      assert.deepEqual(readNarrow(address), narrow)
      assert.deepEqual(buildTerms(narrow), terms)
    }
    assert.deepEqual(readNarrow([]), { kind: 'all' })
    assert.deepEqual(readNarrow(['nonsense']), { kind: 'all' })
  })

  test('terms are read from what people type', () => {
    assert.deepEqual(termsIn('channel:general topic:"first steps" -sender:amy@example.com lunch "at noon" is:'), [
      { operator: 'channel', operand: 'general' },
      { operator: 'topic', operand: 'first steps' },
      { operator: 'sender', operand: 'amy@example.com', negated: true },
      { operator: 'is', operand: '' },
      { operator: 'search', operand: 'lunch "at noon"' },
    ])
    assert.deepEqual(termsIn('  '), [])
  })

  test('says whether a new message belongs to it, except for a search, which only the server knows', () => {
    const me = 8
    const sent = { type: 'stream', stream_id: 3, subject: 'lunch', flags: ['mentioned'], display_recipient: 'general' }
    const direct = { type: 'private', flags: ['starred'], display_recipient: [{ id: 8 }, { id: 10 }, { id: 9 }] }
    const cases: [Narrow, boolean | undefined, boolean | undefined][] = [
      [{ kind: 'all' }, true, true],
      [{ kind: 'channel', id: 3 }, true, false],
      [{ kind: 'channel', id: 4 }, false, false],
      [{ kind: 'topic', id: 3, topic: 'LUNCH' }, true, false],
      [{ kind: 'topic', id: 3, topic: 'dinner' }, false, false],
      [{ kind: 'direct', ids: [10, 9] }, false, true],
      [{ kind: 'direct', ids: [9] }, false, false],
      [{ kind: 'mentions' }, true, false],
      [{ kind: 'starred' }, false, true],
      [{ kind: 'search', text: 'x' }, undefined, undefined],
    ]
    for (const [narrow, ofChannel, ofDirect] of cases) {
      assert.equal(fits(narrow, sent as unknown as Message, me), ofChannel, JSON.stringify(narrow))
      assert.equal(fits(narrow, direct as unknown as Message, me), ofDirect, JSON.stringify(narrow))
    }
    assert.ok(fits({ kind: 'mentions' }, { ...sent, flags: ['wildcard_mentioned'] } as unknown as Message, me))
    assert.deepEqual(listPeers({ display_recipient: [{ id: 8 }] } as unknown as Message, me), [8])
    assert.deepEqual(listPeers(sent as unknown as Message, me), [8])
  })
})
