// Reading what people write on the command line: values by shape, narrows, names that are nearly right.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Failure } from '../../cli/base/failure.ts'
import { type Given, readParam, valueName } from '../../cli/input/flags.ts'
import { narrowFrom } from '../../cli/input/narrow.ts'
import * as d from '../../daemon/api/define.ts'
import { nearest } from '../../daemon/local/did-you-mean.ts'

describe('a value', () => {
  const sources = {
    names: {
      find: async (kind: string, name: string) => (kind === 'user' && name === 'amy' ? 8 : 99),
      channelName: async () => 'lunch',
    },
    now: async () => new Date(2026, 0, 5, 12, 0),
    stdin: async () => 'from stdin',
    secret: async () => 'hidden',
  }
  const read = (shape: d.Param['shape'], given: Given) => readParam(d.optional(shape, ''), given, '--x', sources)

  test('is read as the shape of its parameter says', async () => {
    for (const [shape, given, value] of [
      [d.text, '12', '12'],
      [d.int, '-12', -12],
      [d.num, '1.5', 1.5],
      [d.bool, true, true],
      [d.oneOf('a', 'b'), 'b', 'b'],
      [d.oneOf(1, 2), '2', 2],
      [d.nullable(d.int), 'null', null],
      [d.nullable(d.int), '3', 3],
      [d.userId, '12', 12],
      [d.userId, 'id:12', 12],
      [d.userId, 'amy', 8],
      [d.messageId, 'id:12', 12],
      [d.eitherOf(d.userId, d.text), 'amy', 'amy'],
      [d.eitherOf(d.int, d.text), '12', 12],
      [d.markdown, '-', 'from stdin'],
      [d.text, '-', '-'],
      [d.timestamp, '+1h', (await sources.now()).getTime() / 1000 + 3600],
      [d.record({ a: d.int }), '{"a":1}', { a: 1 }],
      [d.anything, '{"a":1}', { a: 1 }],
      [d.anything, 'word', 'word'],
      [d.listOf(d.int), ['1', '2,3', '[4,5]'], [1, 2, 3, 4, 5]],
      [d.listOf(d.userId), ['amy,id:3'], [8, 3]],
      [d.listOf(d.text), ['a,b', '["c,d"]'], ['a', 'b', 'c,d']],
      [d.nullable(d.listOf(d.text)), ['null'], null],
      [
        d.listOf(d.listOf(d.text)),
        ['["a","b"]', '[["c","d"],["e","f"]]'],
        [
          ['a', 'b'],
          ['c', 'd'],
          ['e', 'f'],
        ],
      ],
      [d.listOf(d.record({ a: d.int })), ['{"a":1}', '[{"a":2}]'], [{ a: 1 }, { a: 2 }]],
    ] as const)
      assert.deepEqual(await read(shape, given), value, JSON.stringify(given))
  })

  test('that does not fit is wrong usage, and the flag is named', async () => {
    for (const [shape, given] of [
      [d.int, '1.0'],
      [d.int, ''],
      [d.int, '9007199254740993'],
      [d.natural, '-1'],
      [d.userId, 'id:amy'],
      [d.oneOf('a', 'b'), 'c'],
      [d.timestamp, 'soonish'],
      [d.record({}), '[]'],
      [d.record({}), '{'],
      [d.listOf(d.int), ['1,x']],
      [d.listOf(d.int), ['[1']],
    ] as const)
      await assert.rejects(
        () => read(shape, given),
        (error: Failure) => error instanceof Failure && error.exit === 2 && error.message.startsWith('--x'),
        JSON.stringify(given),
      )
  })

  test('has a name that tells what it is', () => {
    assert.deepEqual(
      [d.text, d.int, d.userId, d.listOf(d.channelId), d.oneOf('a', 'b'), d.record({}), d.timestamp].map(valueName),
      ['text', 'n', 'user', 'channel', 'a|b', 'json', 'time'],
    )
  })
})

test('suggestions begin with the nearest name and leave out distant ones', () => {
  assert.deepEqual(nearest('snipets', ['users', 'snippets', 'typing']), ['snippets'])
  assert.deepEqual(nearest('lsit', ['list', 'last']), ['list'])
  assert.deepEqual(nearest('zebra', ['users', 'snippets']), [])
})

test('a narrow is written as words or as JSON', () => {
  assert.deepEqual(narrowFrom('channel:general -topic:"release notes" id:7'), [
    { operator: 'channel', operand: 'general' },
    { operator: 'topic', operand: 'release notes', negated: true },
    { operator: 'id', operand: 7 },
  ])
  assert.deepEqual(narrowFrom('[["is","dm"]]'), [{ operator: 'is', operand: 'dm' }])
  for (const wrong of ['hello', '[1]', '[']) assert.throws(() => narrowFrom(wrong), /--narrow/)
})
