// Mixed traffic: a short campaign with every run of the tests, and the line that the long form, `npm run prove -- soak`, is held against.
// NATTER_SEED=… runs one again.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { dice, randomSeed } from './campaign.ts'
import { campaign } from './soak.ts'
import { assertLevel, type Sample, trendOf } from './traffic/trend.ts'

describe('mixed traffic', { skip: campaign.unavailable ?? false }, () => {
  test('is heard once, in order, by every queue', async t => {
    const { short: count } = campaign
    const seed = randomSeed()
    t.diagnostic(`npm run prove -- soak --seed ${seed} --count ${count}`)
    const { done, summary } = await campaign.run({ count, seed })
    t.diagnostic(summary)
    assert.equal(done, count)
  })
})

describe('a figure over time', () => {
  const level = { figure: 'kept', what: 'memory in use', unit: ' MB', part: 0.05, least: 2 }
  const random = dice(1)
  /** Samples of an hour that scatter by 10 MB around a line, after a warm-up. */
  const samples = (growth: number): Sample[] =>
    Array.from({ length: 120 }, (_, n) => [
      n / 2,
      60 + (growth * n) / 120 + (random() - 0.5) * 10 + (n < 20 ? n - 20 : 0),
    ])

  test('that scatters, warms up and has outliers is level', () => {
    const scattered = samples(0)
    for (const at of [3, 50, 110]) scattered[at] = [scattered[at]![0], 500]
    const { begin, end } = trendOf(scattered)!
    assert.ok(Math.abs(end - begin) < 3, `${begin} to ${end}`)
    assert.match(
      assertLevel([level], () => scattered),
      /^memory in use \d+\.\d to \d+\.\d MB$/,
    )
  })

  test('that grows by more than its bound is refused, with every sample', () => {
    assert.throws(
      () => assertLevel([level], () => samples(10)),
      /memory in use .* grows by more than \d\.\d\d MB\n0\.0 min: /,
    )
    assertLevel([{ ...level, part: 0.5 }], () => samples(10))
  })

  test('of few samples has no trend', () => {
    assert.equal(trendOf(samples(0).slice(0, 8)), undefined)
  })
})
