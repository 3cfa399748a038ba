// A short campaign with every run of the tests; `npm run prove -- forwarder` is the long form.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { randomSeed } from './campaign.ts'
import { campaign } from './forwarder.ts'

describe('a follower', () => {
  test('forwards only requests that its own router knows', { skip: campaign.unavailable ?? false }, async t => {
    const seed = randomSeed()
    t.diagnostic(`npm run prove -- forwarder --seed ${seed} --count ${campaign.short}`)
    const { done, summary } = await campaign.run({ count: campaign.short, seed })
    t.diagnostic(summary)
    assert.ok(done >= campaign.short)
  })
})
