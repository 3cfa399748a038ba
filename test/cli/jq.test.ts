// `--jq`: one value, many values in one call of jq, and expressions that are wrong.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Failure } from '../../cli/base/failure.ts'
import { checkJq, jqText, jqTexts } from '../../cli/print/jq.ts'

describe('jqText', () => {
  const event = { id: 100, type: 'message', message: { id: 7, content: 'Ship it 🚢' }, flags: ['read'] }
  const cases: [expression: string, printed: string][] = [
    ['.message.content', 'Ship it 🚢\n'],
    ['.message | {id, content}', '{"id":7,"content":"Ship it 🚢"}\n'],
    ['.flags[], .id', 'read\n100\n'],
    ['.nothing', 'null\n'],
    ['empty', ''],
    ['"  \\n", " x\\n"', '  \n\n x\n\n'],
    ['"\\(.type) \\(.id)"', 'message 100\n'],
  ]
  for (const [expression, printed] of cases)
    test(`prints strings as they are and other values as JSON: ${expression}`, async () => {
      assert.equal(await jqText(event, expression), printed)
    })

  test('fails with the sentence of jq', async () => {
    await assert.rejects(jqText(event, '.id.x'), /^Error: --jq: Cannot index number with string/)
    await assert.rejects(jqText(event, '.id |'), /^Error: --jq: .*syntax error/)
  })
})

describe('checkJq', () => {
  test('refuses an expression that jq cannot compile, and no other', async () => {
    for (const wrong of ['.a |', 'select(.a', 'nosuch']) await assert.rejects(checkJq(wrong), /--jq: /)
    for (const right of ['.a', '.a # comment', 'error']) await checkJq(right)
  })
})

describe('jqTexts', () => {
  test('keeps the outputs of each value apart, whatever they contain', async () => {
    const jsons = [{ a: 'one\ntwo' }, { a: [1, 2] }, { a: [] }, { a: 'three' }].map(value => JSON.stringify(value))
    const expression = '.a | if type == "array" then .[] | . * 2 else . end'
    assert.deepEqual(await jqTexts(jsons, expression), ['one\ntwo\n', '2\n4\n', '', 'three\n'])
  })

  test('says for which values the expression fails, and what it failed with', async () => {
    const [first, second, third] = await jqTexts(['{"a":1}', '{"a":"x"}', '{"a":3}'], '.a, (.a | . * 2 | . + 1)')
    assert.equal(first, '1\n3\n')
    assert.ok(second instanceof Failure)
    assert.match(second.message, /^--jq: string .* and number/)
    assert.equal(third, '3\n7\n')
  })

  test('goes on with the value after one that ended jq', async () => {
    const outcomes = await jqTexts(['1', '2', '3'], 'if . == 2 then halt else . * 1 end')
    assert.deepEqual(outcomes, ['1\n', '', '3\n'])
  })
})
