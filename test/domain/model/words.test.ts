// Cutting text into words: what is a word in which script, and where a term occurs.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { eachWordHash, occurrences, wordHashes } from '../../../daemon/domain/model/message-store/words.ts'

/** The text with a bar between its words, as far as their hashes tell. */
function sameWords(one: string, other: string): boolean {
  return wordHashes(one).join() === wordHashes(other).join()
}

describe('words of a text', () => {
  test('are letters, digits and underscores; everything else is between them', () => {
    assert.ok(sameWords('lunch at_noon, 12 (today)', 'lunch at_noon 12 today'))
    // Of Latin, general punctuation, and full-width forms.
    assert.ok(sameWords('a×b÷c\u00a0d\u2014e\u2019f\uff0cg', 'a b c d e f g'))
    assert.ok(sameWords('ªµº', 'ªµº'))
    assert.equal(wordHashes('naïve größe привет').length, 3)
    assert.equal(wordHashes('  ,;').length, 0)
  })

  test('are single characters in scripts without spaces', () => {
    for (const text of ['漢字', 'かな', '한글', '\u2e80\u2e81', '\uf900\uf901'])
      assert.equal(wordHashes(text).length, 2, text)
    assert.ok(sameWords('漢、字', '漢字'))
    assert.ok(sameWords('abc漢def', 'abc 漢 def'))
  })

  test('are counted each time by eachWordHash, and once by wordHashes', () => {
    const seen: number[] = []
    eachWordHash('one two one', hash => seen.push(hash))
    assert.equal(seen.length, 3)
    assert.equal(seen[0], seen[2])
    assert.equal(wordHashes('one two one').length, 2)
  })
})

describe('occurrences of a term', () => {
  const list = (text: string, term: string) => [...occurrences(text, term)]

  test('are whole words, not parts of longer ones', () => {
    assert.deepEqual(list('lunch and lunchtime, brunch lunch', 'lunch'), [
      [0, 5],
      [28, 33],
    ])
    assert.deepEqual(list('a lunch', ''), [])
    assert.deepEqual(list('c++ and c', 'c++'), [[0, 3]])
    assert.deepEqual(list('漢字漢', '漢'), [
      [0, 1],
      [2, 3],
    ])
  })
})
