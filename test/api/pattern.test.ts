// Patterns of callers: what they compile to is estimated first, since compiling takes time that grows with it.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { RE2JS } from 're2js'
import { compilePattern, expandedSize } from '../../daemon/api/pattern.ts'

describe('the estimated size of a pattern', () => {
  const patterns = [
    'abc',
    'a|bc|d*',
    '#(?P<id>[0-9]+)',
    '[]a-z\\]]{1,50}',
    '(?:ab{3}){20}x',
    '((a{5}){5}){5}',
    '\\pL{10}\\p{Greek}{10}\\x{41}{10}',
    '\\{5000}\\[x',
    '(?i)a(?i:b){7}',
    'a{3,}b{0,40}c{2,1}',
    '(?P<org>[a-z-]+)/(?P<repo>[a-z-]+)#(?P<id>[0-9]{1,9})',
  ]
  for (const pattern of patterns)
    test(`is near to the instructions of ${pattern}`, () => {
      let size: number
      try {
        size = RE2JS.compile(pattern).programSize()
      } catch {
        // What RE2 refuses costs nothing.
        return
      }
      const estimate = expandedSize(pattern)
      assert.ok(estimate >= size / 3 && estimate <= 3 * size, `${estimate}, not ${size}`)
    })

  test('keeps what is too large from being compiled', t => {
    const compile = t.mock.method(RE2JS, 'compile')
    for (const pattern of ['a{1000}'.repeat(100), `(?:${'a'.repeat(500)}){900}`, '(?:(?:a{9}){9}){9}'.repeat(40)])
      assert.match((compilePattern(pattern) as { problem: string }).problem, /repeats too much/, pattern.slice(0, 30))
    assert.equal(compile.mock.callCount(), 0)
  })
})
