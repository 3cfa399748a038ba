// Calls counted in a table: what it shows is what the library for metrics would show of them.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Histogram, type Metric, Registry } from 'prom-client'
import { CallTable } from '../../daemon/metrics/call-table.ts'

const bounds = [0.001, 0.01, 0.1]
const calls: readonly (readonly [operation: string, status: number, seconds: number | undefined])[] = [
  ['get-messages', 200, 0.0005],
  ['get-messages', 200, 0.001],
  ['send-message', 200, 0.02],
  ['send-message', 400, 0.0002],
  ['send-message', 200, 7],
  ['get-events', 200, undefined],
]

function filled(): CallTable {
  const table = new CallTable(bounds)
  for (const call of calls) table.count(...call)
  return table
}

describe('the table of calls', () => {
  test('counts calls by operation and status', () => {
    assert.deepEqual(
      [...filled().counts()],
      [
        { operation: 'get-messages', status: '200', calls: 2 },
        { operation: 'send-message', status: '200', calls: 2 },
        { operation: 'send-message', status: '400', calls: 1 },
        { operation: 'get-events', status: '200', calls: 1 },
      ],
    )
  })

  test('shows durations as the library would, and none of calls that waited', async () => {
    const ours = new Registry()
    ours.registerMetric(filled().histogram('seconds', 'How long') as unknown as Metric)
    const theirs = new Registry()
    const settings = { name: 'seconds', help: 'How long', buckets: bounds, labelNames: ['operation'] }
    const histogram = new Histogram({ ...settings, registers: [theirs] })
    for (const [operation, , seconds] of calls) if (seconds !== undefined) histogram.observe({ operation }, seconds)
    assert.equal(await ours.metrics(), await theirs.metrics())
  })
})
