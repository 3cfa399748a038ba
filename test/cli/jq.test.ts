// `--jq` without jq: what the quick subset prints is what jq prints, and what it does not know is left to jq.

import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import fc from 'fast-check'
import { Failure } from '../../cli/base/failure.ts'
import { jqText, jqTexts } from '../../cli/print/jq.ts'
import { JqEngine } from '../../cli/print/jq-engine.ts'
import { quickOf } from '../../cli/print/jq-quick.ts'

const event = {
  id: 100,
  type: 'message',
  message: {
    id: 7,
    content: 'Ship it 🚢',
    display_recipient: 'general',
    timestamp: 1794772860,
    reactions: [{ user_id: 3 }],
  },
  flags: ['read'],
}

describe('the quick subset of jq', () => {
  let jq: JqEngine
  before(async () => {
    jq = await JqEngine.load()
  })

  /** The lines of jq for each value; `failed` after those of a value that it fails on. */
  function asked(values: readonly string[], expression: string): string[] {
    const program = `(try (${expression}) catch "failed"), "next value"`
    const { stdout, exitCode, stderr } = jq.run(values.join('\n'), program, ['-r', '-c'])
    assert.equal(exitCode, 0, `${expression}: ${stderr}`)
    return stdout.split('next value\n').slice(0, -1)
  }

  for (const expression of [
    '.',
    '.message.content',
    '.message | select(.content | length > 3) | {id, content}',
    'select(.type == "message" and (.flags | any(. == "read"))) | .message.id',
    '[.message.id, .message.content, null] | join(" ")',
    '.message.reactions[].user_id, .flags[0], .flags[-2], .nothing.at.all',
    'if .message.timestamp >= 1794772861 then "late" elif .id < 5 then "early" else "now" end',
    '.message.topic // .message["display_recipient"] // "none"',
    '.message.content | startswith("Ship"), endswith("it"), contains("it"), test("ship")',
    '{a: .message.id, "b c": .flags | length, type}',
    '.message.content.deep?, .flags[]?, .id[]?, (.message | has("id"))',
    '.id + 1 - 3, (.type + "!"), (.flags + ["x"]), [.flags | map(length)]',
    '.id | tostring, tojson, type, not',
  ])
    test(`prints what jq prints for ${expression}`, () => {
      const json = JSON.stringify(event)
      const quick = quickOf(expression)?.(json)
      assert.notEqual(quick, undefined)
      assert.equal(quick, asked([json], expression)[0])
    })

  test('prints what jq prints for any expression and any value that it takes', () => {
    let taken = 0
    fc.assert(
      fc.property(expressions, fc.array(values, { minLength: 6, maxLength: 6 }), (expression, some) => {
        const quick = quickOf(expression)
        assert.ok(quick, expression)
        const expected = asked(some, expression)
        for (const [index, json] of some.entries()) {
          const lines = quick(json)
          if (lines === undefined) continue
          taken++
          assert.equal(lines, expected[index], `${expression} of ${json}`)
        }
      }),
      { numRuns: 60 },
    )
    assert.ok(taken > 10, `${taken} values were taken`)
  })

  for (const expression of [
    ...[
      '',
      '..',
      '..foo',
      '.a as $x | $x',
      'reduce .[] as $x (0; . + 1)',
      '"\\(.id)"',
      '@tsv',
      '.[1:2]',
      '.. | .a',
      '-1',
    ],
    ...[
      '1.5',
      '1.a',
      '1a',
      '. a',
      '.a == 1 == 2',
      '{(.a): 1}',
      '{"1": 2}',
      '.a |',
      'select(.a',
      '{a: 1',
      'nosuch',
      'input',
    ],
    ...[
      '.a # comment',
      '.a?//1',
      'first(.a, .b)',
      '$__loc__',
      '.a = 1',
      '.a * 2',
      'has(.a; .b)',
      '"\\u0041"',
      'if . then 1',
    ],
  ])
    test(`leaves ${expression || 'the empty expression'} to jq`, () => {
      assert.equal(quickOf(expression)?.('null'), undefined)
    })

  for (const [what, json] of [
    ['a fraction', '{"a":1.0}'],
    ['an exponent', '{"a":1e3}'],
    ['a number that JavaScript rounds', '{"a":12345678901234567890}'],
    ['keys that JavaScript sorts', '{"a":{"2":0,"1":0}}'],
    ['an escaped character', '{"a":["\\u0007"]}'],
    ['minus zero', '{"a":-0}'],
    ['what is not JSON', '{"a":'],
  ])
    test(`leaves ${what} to jq`, () => {
      assert.equal(quickOf('.a')!(json!), undefined)
    })
})

describe('--jq of many values', () => {
  test('keeps the outputs of each value apart, whatever they contain', async () => {
    const jsons = [{ a: 'one\ntwo' }, { a: [1, 2] }, { a: [] }, { a: 'three' }].map(value => JSON.stringify(value))
    const expression = '.a | if type == "array" then .[] | . * 2 else . end'
    assert.equal(quickOf(expression), undefined)
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

  test('prints the same with and without jq', async () => {
    for (const [quick, slow] of [
      ['.message.id', '.message.id | . * 1'],
      ['.message.content', '.message.content | ltrimstr("")'],
    ])
      assert.equal(await jqText(event, quick!), await jqText(event, slow!))
  })
})

const keys = fc.constantFrom('a', 'b', 'id', 'name')
const leaves = fc.oneof(
  fc.constantFrom(null, true, false, 0, 1, -7, 2, '', 'a', 'ab', 'b', 'ü\u0085\u2028', '🚢', 'x"\\/\n\t'),
  fc.string({ maxLength: 4 }),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
)
const values = fc
  .letrec<{ value: unknown }>(tie => ({
    value: fc.oneof(
      { depthSize: 'small' },
      leaves,
      fc.array(tie('value'), { maxLength: 3 }),
      fc.dictionary(keys, tie('value'), { maxKeys: 4 }),
    ),
  }))
  .value.map(value => JSON.stringify(value) ?? 'null')

/** Only what the subset knows. */
const expressions = fc.letrec<{ pipe: string; term: string }>(tie => {
  const operators = fc.constantFrom('==', '!=', '<', '<=', '>', '>=', '+', '-', 'and', 'or', '//', ',', '|')
  const names = fc.constantFrom(
    'length',
    'not',
    'type',
    'empty',
    'first',
    'last',
    'any',
    'all',
    'values',
    'tostring',
    'tojson',
  )
  const calls = fc.constantFrom(
    'select',
    'map',
    'any',
    'all',
    'startswith',
    'endswith',
    'contains',
    'test',
    'has',
    'join',
  )
  return {
    pipe: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      tie('term'),
      fc.tuple(tie('term'), operators, tie('term')).map(parts => parts.join(' ')),
    ),
    term: fc.oneof(
      { depthSize: 'small', withCrossShrink: true },
      fc.constantFrom(
        '.',
        '.a',
        '.b',
        '.id?',
        '.a.b',
        '.[]',
        '.[]?',
        '.[0]',
        '.[-1]?',
        '."name"',
        '.["a"]?',
        '.a[]',
        '.a | .b',
      ),
      fc.constantFrom('1', '0', '"a"', '""', 'null', 'true', '[]', '{}'),
      names,
      fc.tuple(calls, tie('pipe')).map(([name, of]) => `${name}(${of})`),
      tie('pipe').map(of => `(${of})`),
      tie('pipe').map(of => `[${of}]`),
      fc.tuple(keys, tie('pipe')).map(([key, of]) => `{${key}: (${of}), type}`),
      fc.tuple(tie('pipe'), tie('pipe'), tie('pipe')).map(([a, b, c]) => `if ${a} then ${b} else ${c} end`),
      tie('pipe').map(of => `if ${of} then 1 end`),
    ),
  }
}).pipe
