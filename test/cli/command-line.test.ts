// The arguments of one run, before a subcommand is loaded.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { addVerb, readCommandLine } from '../../cli/base/command-line.ts'

describe('readCommandLine', () => {
  const cases: [line: string, leading: string[], words: string[], rest?: string[]][] = [
    ['', [], []],
    ['messages list -n 5', [], ['messages', 'list']],
    ['--json messages list', ['--json'], ['messages', 'list']],
    ['--profile work --quiet send general -', ['--profile', 'work', '--quiet'], ['send', 'general', '-']],
    ['--profile=work send', ['--profile=work'], ['send']],
    ['messages --json list', [], ['messages']],
    ['--version', ['--version'], []],
    ['exec --port 0 -- npm test', [], ['exec'], ['npm', 'test']],
    ['-- send', [], [], ['send']],
  ]
  for (const [line, leading, words, rest] of cases)
    test(`finds the flags before the first word, the words and the rest of: ${line || 'nothing'}`, () => {
      const read = readCommandLine(line.split(' ').filter(Boolean))
      assert.deepEqual([read.leading, read.words, read.rest], [leading, words, rest])
    })

  test('has a flag that is given with or without a value, but none after --', () => {
    const line = readCommandLine(['send', '--batch=file', '--json', '--', '--quiet'])
    assert.deepEqual(
      ['batch', 'json', 'quiet', 'jso'].map(flag => line.has(flag)),
      [true, true, false, false],
    )
  })
})

describe('addVerb', () => {
  test('puts the verb after the noun', () => {
    const { argv } = addVerb(readCommandLine(['--json', 'requests', '--follow']), 'list')
    assert.deepEqual(argv, ['--json', 'requests', 'list', '--follow'])
  })
})
