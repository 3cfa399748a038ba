// A short campaign with every run of the tests; `npm run prove -- texts` is the long form.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { randomSeed } from './campaign.ts'
import { campaign } from './texts.ts'

describe('a text that repeats marks of Markdown', () => {
  test('does not take long to render', async t => {
    const seed = randomSeed()
    t.diagnostic(`npm run prove -- texts --seed ${seed} --count 1`)
    const { done, summary } = await campaign.run({ count: campaign.short, seed })
    t.diagnostic(summary)
    assert.equal(done, campaign.short)
  })
})
