// A short campaign with every run of the tests; `npm run prove -- isolation` is the long form.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { randomSeed } from './campaign.ts'
import { campaign } from './isolation.ts'

describe('spaces', () => {
  test('what happens in one changes no byte of any reply in another', async t => {
    const seed = randomSeed()
    t.diagnostic(`npm run prove -- isolation --seed ${seed} --count ${campaign.short}`)
    const { done, summary } = await campaign.run({ count: campaign.short, seed })
    t.diagnostic(summary)
    assert.ok(done >= campaign.short)
  })
})
