// The campaign `bots`: a short form with every run of the tests. NATTER_SEED=… runs one again; `npm run prove -- bots` is the long form.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { campaign } from './bots.ts'
import { randomSeed } from './campaign.ts'

describe('a bot', () => {
  test('replies to every message once, over a restart of the daemon', async t => {
    const seed = randomSeed()
    const { short: count } = campaign
    t.diagnostic(`npm run prove -- bots --seed ${seed} --count ${count}`)
    const { done, summary } = await campaign.run({ count, seed })
    t.diagnostic(summary)
    assert.equal(done, count)
  })
})
