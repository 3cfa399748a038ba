// Load: a short campaign with every run of the tests. NATTER_SEED=… runs one again; `npm run prove -- load` is the long form.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { randomSeed } from './campaign.ts'
import { campaign } from './load.ts'

describe('parked queues under load', { skip: campaign.unavailable ?? false }, () => {
  test('get every event once, in order', async t => {
    const { short: count } = campaign
    const seed = randomSeed()
    t.diagnostic(`npm run prove -- load --seed ${seed} --count ${count}`)
    const { done, summary } = await campaign.run({ count, seed })
    t.diagnostic(summary)
    assert.equal(done, count)
  })
})
