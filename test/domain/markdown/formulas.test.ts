// Formulas of messages. What they look like is in markdown.test.ts.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { rendering } from '../../support/markdown.ts'

test('a formula writes nothing to the log', t => {
  const written = ['log', 'warn', 'error'].map(name => t.mock.method(console, name as 'log', () => {}))
  for (const formula of [
    '\\text{\u200d}',
    '\\text{\u009b}',
    '\\message{x}y',
    '\\errmessage{x}y',
    '\\show\\alpha',
    '\\frac{',
  ])
    rendering(`$$${formula}$$`)
  assert.deepEqual(
    written.map(method => method.mock.callCount()),
    [0, 0, 0],
  )
  console.warn('Still heard.')
  assert.equal(written[1]!.mock.callCount(), 1)
})
