// The pages about the tests themselves: every reason in them must still be one.

import assert from 'node:assert/strict'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import {
  below,
  type CoverageRecord,
  coveragePage,
  coverageText,
  findMismatches,
  readCoverage,
} from '../../docs/generate/coverage.ts'
import { reasons } from '../../docs/generate/coverage-reasons.ts'
import { type MutationRecord, mutationPage, nameOf, readMutation } from '../../docs/generate/mutation.ts'
import { equivalents } from '../../docs/generate/mutation-equivalents.ts'
import { root } from '../support/sources.ts'

const generated = join(root, 'docs/generated')
const origin = { date: '2030-01-02T03:04:05.000Z', machine: 'a machine', command: 'npx tsx test/coverage-run.ts' }

describe('docs/generated/coverage.md', () => {
  const full = { lines: [10, 10], branches: [4, 4], functions: [2, 2] } as const
  const record: CoverageRecord = {
    ...origin,
    files: {
      'daemon/a/x.ts': full,
      'daemon/a/y.ts': { ...full, lines: [4, 10] },
      'cli/z.ts': { ...full, branches: [1, 4] },
    },
  }

  test('adds up files by folder and by part, and says where the figures come from', () => {
    const page = coveragePage(record)
    assert.match(page, /\| `daemon\/a` \| \*\*70\.0 %\*\* \| 100\.0 % \| 100\.0 % \| 20 \|/)
    assert.match(page, /\| `cli` \| 100\.0 % \| \*\*25\.0 %\*\* \|/)
    assert.match(page, /\| all \| \*\*80\.0 %\*\* \| \*\*75\.0 %\*\* \|/)
    assert.match(page, /2030-01-02 by `npx tsx test\/coverage-run\.ts` on a machine/)
  })

  test('wants a reason for folders below 90 % of lines or branches, and for files below 90 % of lines', () => {
    assert.deepEqual(below(record), ['cli', 'daemon/a', 'daemon/a/y.ts'])
    assert.match(coveragePage(record), /\| `daemon\/a\/y\.ts` \| \*\*40\.0 %\*\* \| 100\.0 % \| \S+/)
  })

  test('a reason is missing below 90 %, and out of date only from 92 %: two runs differ a little', () => {
    const at = (lines: number): CoverageRecord => ({
      ...origin,
      files: Object.fromEntries(Object.keys(reasons).map(place => [`${place}/x.ts`, { ...full, lines: [lines, 100] }])),
    })
    const { without, stale } = findMismatches({ ...origin, files: { 'bin/x.ts': { ...full, lines: [89, 100] } } })
    assert.deepEqual(without, ['bin', 'bin/x.ts'])
    assert.deepEqual(stale, Object.keys(reasons))
    assert.deepEqual(findMismatches(at(91)), { without: [], stale: [] })
    assert.deepEqual(findMismatches(at(92)).stale, Object.keys(reasons))
  })

  test('its record is read as it was written', () => {
    assert.deepEqual(JSON.parse(coverageText(record)), record)
  })

  test('has a reason for everything below 90 %, and no reason for anything else', () => {
    const recorded = readCoverage(join(generated, 'coverage.json'))
    const { without, stale } = recorded ? findMismatches(recorded) : { without: [], stale: [] }
    assert.deepEqual(without, [], 'below 90 %: write a test, or a reason in docs/generate/coverage-reasons.ts')
    assert.deepEqual(stale, [], 'these are covered now: remove the reasons')
    for (const [place, reason] of Object.entries(reasons)) {
      assert.ok(existsSync(join(root, place)), place)
      assert.match(reason, /^[A-Z`].*\.$/, place)
    }
  })
})

describe('docs/generated/mutation.md', () => {
  const survivor = { line: 3, within: 'post', mutator: 'BooleanLiteral', original: 'a < b', replacement: 'a <= b' }
  const record: MutationRecord = {
    'daemon/x.ts': { ...origin, mutants: 10, killed: 8, late: 1, survivors: [survivor] },
    'daemon/y.ts': { ...origin, mutants: 5, killed: 5, late: 0, survivors: [] },
  }

  test('adds up mutants, and shows those that survive', () => {
    const page = mutationPage(record)
    assert.match(page, /\| all \| 15 \| 13 \| 1 \| 0 \| 1 \|/)
    assert.match(page, /\| `daemon\/x\.ts`, `post` \| `a < b` → `a <= b` \|/)
  })

  test('every mutant that is argued away is one that survives', () => {
    const recorded = readMutation(join(generated, 'mutation.json'))
    for (const [file, named] of Object.entries(equivalents)) {
      const survivors = new Set(recorded[file]?.survivors.map(nameOf))
      assert.deepEqual(
        Object.keys(named).filter(name => !survivors.has(name)),
        [],
        `${file}: killed now`,
      )
    }
  })
})
