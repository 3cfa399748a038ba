// The page of figures: drawn from what the bench has recorded, whatever that is.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { MeasuredPicture, PerformanceRecord } from '../../docs/generate/measured.ts'
import { performancePages } from '../../docs/generate/performance.ts'

const origin = { date: '2026-11-15T20:00:00.000Z', machine: '2 × Some Processor', command: 'npm run bench -- --page' }

const lines: MeasuredPicture = {
  name: 'writes',
  title: 'Writes <by> size',
  about: 'With 64 connections.',
  kind: 'lines',
  x: { title: 'records stored', scale: 'log' },
  y: { title: 'writes per second', scale: 'log' },
  points: [
    { line: 'natterd', x: 1000, y: 5000, low: 4900, high: 5100 },
    { line: 'natterd', x: 10_000, y: 4950, low: 4900, high: 5000 },
    { line: 'a server that stores nothing at all', x: 1000, y: 0.25, low: 0.2, high: 0.3 },
  ],
  missing: ['Prism is not installed'],
}
const bars: MeasuredPicture = {
  ...lines,
  name: 'start',
  title: 'Start',
  kind: 'bars',
  x: { title: '' },
  y: { title: 'milliseconds' },
  points: [
    { line: 'natterd', x: 'natterd', y: 120, low: 110, high: 130 },
    { line: 'Prism', x: 'Prism', y: 2400, low: 2300, high: 2500 },
  ],
  missing: [],
}

async function pagesOf(record: PerformanceRecord | null): Promise<Map<string, string>> {
  return new Map(await performancePages(record))
}

describe('docs/generated/performance.md', () => {
  test('has a picture and the same figures as a table, and says where they come from', async () => {
    const pages = await pagesOf({ ...origin, pictures: [lines, bars], rows: null })
    assert.deepEqual([...pages.keys()], ['performance.md', 'performance-writes.svg', 'performance-start.svg'])
    const page = pages.get('performance.md')!
    assert.match(page, /Measured on 2026-11-15 by `npm run bench -- --page` on 2 × Some Processor\./)
    assert.match(page, /!\[Start\]\(performance-start\.svg\)/)
    assert.match(page, /\| 10,000 \| 4,950 \| – \|/)
    assert.match(page, /Prism is not installed\./)
  })

  test('has pictures that name their lines and their origin, without a ground of their own', async () => {
    const pages = await pagesOf({ ...origin, pictures: [lines, bars], rows: null })
    const svg = pages.get('performance-writes.svg')!
    assert.match(svg, /^<svg role="img" [^>]*><title>Writes &#60;by&#62; size<\/title>/)
    for (const text of ['natterd', 'a server that stores nothing at all', 'records stored', '10,000', '0.1'])
      assert.ok(svg.includes(`>${text}<`), text)
    assert.match(svg, />Measured on 2026-11-15 by npm run bench -- --page on 2 × Some/)
    for (const picture of [svg, pages.get('performance-start.svg')!])
      for (const ground of ['"white"', '"black"', '"#fff"', '"#000"'])
        assert.ok(!picture.includes(`fill=${ground}`), ground)
  })

  test('is the same every time', async () => {
    const record = { ...origin, pictures: [lines], rows: null }
    assert.deepEqual(await pagesOf(record), await pagesOf(record))
  })

  test('has the ratios of a saved run of the bench', async () => {
    const result = { name: 'one call', reference: 'node -e 0', ratio: 1.234, goal: { atMost: 1.4 }, met: true }
    const rows = { ...origin, command: 'npm run bench -- --save FILE', results: [result, { ...result, ratio: null }] }
    const page = (await pagesOf({ ...origin, pictures: [], rows })).get('performance.md')!
    assert.match(page, /\| one call \| 1\.23 \| at most 1\.4 \| yes \| node -e 0 \|/)
    assert.match(page, /\| one call \| – \|/)
  })

  test('reports that nothing was recorded', async () => {
    const pages = await pagesOf(null)
    assert.deepEqual([...pages.keys()], ['performance.md'])
    assert.match(pages.get('performance.md')!, /No run is recorded yet\./)
  })
})
