// A short campaign with every run of the tests; `npm run prove -- faults` is the long form.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { randomSeed } from './campaign.ts'
import { campaign } from './faults.ts'

describe('a disk that fails at any call', () => {
  test('ends in a refusal, a stop or success, and a restart has all that was answered', {
    skip: campaign.unavailable ?? false,
  }, async t => {
    const seed = randomSeed()
    t.diagnostic(`npm run prove -- faults --seed ${seed} --count ${campaign.short}`)
    const { done, summary, skipped = [] } = await campaign.run({ count: campaign.short, seed })
    t.diagnostic([summary, ...skipped].join('; '))
    assert.equal(done, campaign.short)
  })
})
