// A day of CI: a short campaign with every run of the tests. NATTER_SEED=… runs one again; `npm run prove -- ci` is the long form.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { randomSeed } from './campaign.ts'
import { campaign } from './ci.ts'

describe('spaces that are made and deleted', { skip: campaign.unavailable ?? false }, () => {
  test('answer every call while they exist, and leave nothing behind', async t => {
    const { short: count } = campaign
    const seed = randomSeed()
    t.diagnostic(`npm run prove -- ci --seed ${seed} --count ${count}`)
    const { done, summary } = await campaign.run({ count, seed })
    t.diagnostic(summary)
    assert.equal(done, count)
  })
})
