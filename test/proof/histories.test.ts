// A short campaign with every run of the tests; `npm run prove -- histories` is the long form.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { randomSeed } from './campaign.ts'
import { campaign } from './histories.ts'

describe('random histories by people of every role', () => {
  test('allow, refuse, show and tell exactly what the model of the specification does', async t => {
    const seed = randomSeed()
    t.diagnostic(`npm run prove -- histories --seed ${seed} --count ${campaign.short}`)
    const { done, summary } = await campaign.run({ count: campaign.short, seed })
    t.diagnostic(summary)
    assert.equal(done, campaign.short)
  })
})
