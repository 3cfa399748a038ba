// A short campaign with every run of the tests; `npm run prove -- limits` is the long form.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { campaign } from './limits.ts'

describe('an organization near its limits', { skip: campaign.unavailable ?? false }, () => {
  test('answers every endpoint', async t => {
    const { short: count } = campaign
    const { done, summary } = await campaign.run({ count, seed: 0 })
    t.diagnostic(summary)
    assert.equal(done, count)
  })
})
