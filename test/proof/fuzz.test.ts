// A short campaign with every run of the tests; `npm run prove -- fuzz` is the long form.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { randomSeed } from './campaign.ts'
import { campaign } from './fuzz.ts'

describe('every endpoint', () => {
  test('answers every value from every caller, never with an internal error', {
    skip: process.platform !== 'linux',
  }, async t => {
    const seed = randomSeed()
    t.diagnostic(`npm run prove -- fuzz --seed ${seed} --count ${campaign.short}`)
    const { done, summary } = await campaign.run({ count: campaign.short, seed })
    t.diagnostic(summary)
    assert.ok(done >= campaign.short)
  })
})
