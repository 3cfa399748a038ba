// The alert words of a text, whatever they are made of, and the cost of looking for them when some have changed.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { alertedBy } from '../../../daemon/domain/markdown/alert-words.ts'
import { State } from '../../../daemon/domain/model/state.ts'
import { cases } from '../../support/cases.ts'

const text = (maxLength: number) =>
  fc.string({ unit: fc.constantFrom('a', 'B', ' ', '.', '“'), minLength: 1, maxLength })

function isThere(word: string, content: string): boolean {
  const isEdge = (char: string | undefined) => char === undefined || /[ .“]/.test(char)
  for (let at = content.indexOf(word); at >= 0; at = content.indexOf(word, at + 1))
    if (isEdge(content[at - 1]) && isEdge(content[at + word.length])) return true
  return false
}

test('words are found where they are whole, after any changes', () => {
  fc.assert(
    fc.property(
      fc.array(fc.tuple(fc.nat(2), fc.array(text(4), { maxLength: 4 })), { maxLength: 8 }),
      text(12),
      (changes, content) => {
        const state = new State()
        const known = new Map<number, string[]>()
        for (const [userId, words] of changes) {
          state.alertWords.put({ userId, words })
          known.set(userId, words)
          const expected = [...known].filter(([, all]) =>
            all.some(word => isThere(word.toLowerCase(), content.toLowerCase())),
          )
          assert.deepEqual(alertedBy(state, content), expected.map(([id]) => id).sort())
        }
      },
    ),
    { numRuns: cases(300) },
  )
})

test('words of accounts that have not changed are not read again', () => {
  const state = new State()
  let reads = 0
  for (let userId = 1; userId <= 20; userId++) {
    const row = { userId, words: [] as readonly string[] }
    Object.defineProperty(row, 'words', { get: () => [`word ${userId}`, ++reads > 0 ? '...' : ''] })
    state.alertWords.put(row)
  }
  assert.deepEqual(alertedBy(state, 'the word 7'), [7])
  assert.equal(reads, 20)
  state.alertWords.put({ userId: 21, words: ['tea'] })
  assert.deepEqual(alertedBy(state, 'tea with word 7'), [7, 21])
  assert.equal(reads, 20)
})
