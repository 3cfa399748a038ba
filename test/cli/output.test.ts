// Output for people: escaped, in tables, wrapped and coloured.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Chalk } from 'chalk'
import { renderLines } from '../../cli/print/output.ts'
import { tableLines } from '../../cli/terminal/table.ts'
import { loadMeasure, markdownText, wrapText } from '../../cli/terminal/terminal.ts'
import { harmless } from '../../daemon/local/harmless.ts'
import { processorTime } from '../support/processor-time.ts'

test('text from elsewhere cannot steer the terminal', () => {
  assert.equal(harmless('a\u001b]0;x\u0007\n\u202eb'), 'a\\x1b]0;x\\x07\n\\x202eb')
  const wales = '\u{1f3f4}\u{e0067}\u{e0062}\u{e0077}\u{e006c}\u{e0073}\u{e007f}'
  assert.equal(harmless(`a\u{e0041}${wales}`), `a\\xe0041${wales}`)
  assert.deepEqual(renderLines({ a: 'x\ny', b: null, long: [1] }, undefined), ['a     x\\ny', 'b     -', 'long  1'])
})

test('letters that people do not see are shown, however many there are', async () => {
  const tags = '\u{e0041}'.repeat(100_000)
  const time = await processorTime(() => assert.equal(harmless(tags), '\\xe0041'.repeat(100_000)))
  // Some milliseconds; 10 seconds, where each looks for a flag before all others.
  assert.ok(time < 1000, `${time} ms of processor time`)
  assert.ok(harmless(`\u{1f3f4}${'\u{e0041}'.repeat(9)}`).endsWith('\\xe0041'), 'a flag hides no text')
})

test('a table is as wide as it needs, or as the terminal is', async () => {
  const rows = [
    { id: 1, text: 'four words and more' },
    { id: 20, text: '日本' },
  ]
  await loadMeasure()
  const table = (columns: number | undefined) => tableLines(rows, String, { columns, colors: undefined })
  assert.deepEqual(table(undefined), ['id  text', '1   four words and more', '20  日本'])
  assert.deepEqual(table(16), ['id  text', '1   four words…', '20  日本'])
  assert.deepEqual(
    tableLines(rows, String, { columns: 7, colors: undefined }, ['id', 'text']),
    ['id', '1', '20'],
    'rather fewer columns than several lines',
  )
  const wide = tableLines([{ aaaaaaaaaa: 1, bbbbbbbbbb: 2 }], String, { columns: 20, colors: undefined })
  assert.deepEqual(wide, ['aaaaaaaaaa  1', 'bbbbbbbbbb  2'])
})

test('text is wrapped to the terminal with a hanging indent, Markdown gets colours', () => {
  assert.equal(wrapText('one two three', 20, 2, 12), 'one two\n  three')
  assert.equal(wrapText('a\nb', undefined, 4, 0), 'a\n    b')
  const colors = new Chalk({ level: 1 })
  assert.equal(markdownText('**b** `c` \u001b', undefined), '**b** `c` \\x1b')
  assert.equal(
    markdownText('**b** @**Amy** `c`', colors),
    `${colors.bold('b')} ${colors.magenta('@Amy')} ${colors.yellow('c')}`,
  )
  assert.equal(
    markdownText('*i* #**general>lunch** @_**Amy|8** [docs](https://example.com/a)', colors),
    `${colors.italic('i')} ${colors.blue('#general > lunch')} ${colors.magenta('@Amy')} ${colors.underline('docs')} ${colors.dim('<https://example.com/a>')}`,
  )
  assert.equal(
    markdownText('> **q**\n```\n**x**\n```\n**b**', colors),
    [colors.dim('> **q**'), colors.dim('```'), colors.yellow('**x**'), colors.dim('```'), colors.bold('b')].join('\n'),
  )
  assert.equal(
    markdownText('```` quote\nq\n```\nr\n````\n**b**', colors),
    [colors.dim('> q'), colors.dim('> ```'), colors.dim('> r'), colors.bold('b')].join('\n'),
  )
})

test('a name of very many characters of any width is cut to a column at once', async () => {
  await loadMeasure()
  for (const name of ['\u200b', '\u{1f1e6}', '\u{1f468}\u200d', 'e\u0301', 'a b', 'W']) {
    const time = await processorTime(() => {
      const [, row] = tableLines([{ id: 7, name: name.repeat(50_000) }], String, { columns: 80, colors: undefined })
      assert.ok(row!.startsWith('7 '))
      assert.ok(row!.length < 5000)
    })
    assert.ok(time < 1000, `${JSON.stringify(name)}: ${time} ms of processor time`)
  }
})

test('a message of many opening marks is shown in linear time', () => {
  const colors = new Chalk({ level: 1 })
  const timeOf = (pattern: string, length: number) => {
    const start = process.cpuUsage()
    markdownText(pattern.repeat(length), colors)
    return process.cpuUsage(start).user / 1000
  }
  for (const pattern of ['[', '[a](', '[a](b', '**a ', '*', '`', '@**a', '#**']) {
    // Four times the text; squares would take sixteen times as long. Other work on the machine only adds time.
    let best = Number.POSITIVE_INFINITY
    for (let attempt = 0; attempt < 10 && best > 9; attempt++)
      best = Math.min(best, timeOf(pattern, 20_000) / Math.max(timeOf(pattern, 5000), 1))
    assert.ok(best <= 9, `${pattern}: four times the text took ${best.toFixed(1)} times as long`)
  }
})
