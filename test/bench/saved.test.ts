// Saving results of the bench, and holding others against them.

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { type Goal, judge, type Result } from './row.ts'
import { compare, merged, originOf, readSaved, save } from './saved.ts'

const folder = mkdtempSync(join(tmpdir(), 'natter-bench-'))
after(() => rmSync(folder, { recursive: true, force: true }))

function row(name: string, goal: Goal, ...ratios: number[]): Result {
  const samples = ratios.map(ours => ({ ours, reference: 1 }))
  return judge({ name, reference: 'one', goal, unit: 'ms', measure: async () => samples }, samples)
}

describe('npm run bench -- --save and --compare', () => {
  test('finds what got worse and better by the direction of the goal, and calls noise the same', () => {
    const file = join(folder, 'before.json')
    const [most, least] = [{ atMost: 2 }, { atLeast: 0.5 }]
    const before = [
      row('slower', most, 1, 1.01, 1.02),
      row('faster', most, 1, 1.01, 1.02),
      row('fewer', least, 1, 1.01, 1.02),
      row('noisy', most, 0.5, 1, 2),
      row('broken', most, 1),
      row('repaired', most),
    ]
    save(file, before, originOf(['--quick']))
    const now = [
      row('slower', most, 1.3, 1.31, 1.32),
      row('faster', most, 0.7, 0.71, 0.72),
      row('fewer', least, 0.7, 0.71, 0.72),
      row('noisy', most, 0.6, 1.2, 2.1),
      row('broken', most),
      row('repaired', most, 1),
      row('added', most, 1),
    ]
    const { text, worse } = compare(readSaved(file), now)
    assert.deepEqual(worse, ['slower', 'fewer'])
    const verdicts = text.split('\n').flatMap(line => /^(\w+) .* {2}(\w[\w ]*)$/.exec(line)?.slice(1).join(': ') ?? [])
    assert.deepEqual(verdicts, [
      'work: verdict',
      'slower: WORSE',
      'faster: better',
      'fewer: WORSE',
      'noisy: same',
      'broken: not measured',
      'repaired: new',
      'added: new',
    ])
    assert.match(text, /^Compared with \d{4}-\d\d-\d\d, npm run bench -- --quick\n/)
    assert.match(text, /slower +1\.01 +1\.31 +\+30 % /)
  })

  test('rows that were measured again replace the first ones; what was not measured replaces nothing', () => {
    const saved = (name: string, date: string, results: readonly Result[], machine = 'one') => ({
      ...{ date, machine, command: `npm run bench -- ${name}` },
      results,
    })
    const most = { atMost: 2 }
    const first = saved('all', '2026-01-01', [row('a', most, 1), row('b', most, 3), row('c', most, 1)])
    const again = saved('b', '2026-01-02', [row('b', most, 1), row('c', most), row('d', most, 1)])
    const { date, command, results } = merged([first, again])
    assert.deepEqual([date, command], ['2026-01-02', 'npm run bench -- all; npm run bench -- b'])
    assert.deepEqual(
      results.map(({ name, ratio }) => [name, ratio]),
      [
        ['a', 1],
        ['b', 1],
        ['c', 1],
      ],
    )
    assert.throws(() => merged([first, saved('b', '2026-01-02', [], 'another')]), /of two machines: one; another/)
  })

  test('refuses a file that holds no results', () => {
    const file = join(folder, 'other.json')
    writeFileSync(file, '{"name":"natter"}')
    assert.throws(
      () => readSaved(file),
      /other\.json has no results of the bench\. Write one with `npm run bench -- --save FILE`\./,
    )
    assert.throws(() => readSaved(join(folder, 'none.json')), /^Error: Cannot read .*none\.json: ENOENT/)
  })
})
