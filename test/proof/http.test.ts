// A short campaign with every run of the tests; `npm run prove -- http` is the long form.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { randomSeed } from './campaign.ts'
import { campaign } from './http.ts'

describe('the direct server and node:http', () => {
  test('give the same answers to the same bytes, however they are damaged and cut', async t => {
    const seed = randomSeed()
    t.diagnostic(`npm run prove -- http --seed ${seed} --count ${campaign.short}`)
    const { done, summary } = await campaign.run({ count: campaign.short, seed })
    t.diagnostic(summary)
    assert.ok(done >= campaign.short)
  })
})
