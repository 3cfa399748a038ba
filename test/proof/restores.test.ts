// The campaign `restores`: a short form with every run of the tests. NATTER_SEED=… runs one again; `npm run prove -- restores` is the long form.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { randomSeed } from './campaign.ts'
import { campaign } from './restores.ts'

describe('backups of a daemon under load', () => {
  test('can be restored, with everything that was answered before them', async t => {
    const seed = randomSeed()
    const { short: count } = campaign
    t.diagnostic(`npm run prove -- restores --seed ${seed} --count ${count}`)
    const { done, summary } = await campaign.run({ count, seed })
    t.diagnostic(summary)
    assert.equal(done, count)
  })
})
