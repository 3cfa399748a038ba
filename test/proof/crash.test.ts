// kill -9: a short campaign with every run of the tests. NATTER_SEED=… runs one again; `npm run prove -- crash` is the long form.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { randomSeed } from './campaign.ts'
import { writeEveryKind } from './crash/campaign.ts'
import { campaign, kinds } from './crash.ts'

describe('kill -9', () => {
  test('loses nothing that was answered, leaves nothing half done, and every queue goes on', async t => {
    const seed = randomSeed()
    const { short: count } = campaign
    t.diagnostic(`npm run prove -- crash --seed ${seed} --count ${count}`)
    const { done, summary } = await campaign.run({ count, seed })
    t.diagnostic(summary)
    assert.equal(done, count)
  })
})

describe('the campaign of kill -9', () => {
  test('writes every kind of fact: a missing one needs a slot in crash/slots, or a reason in crash.ts', async t => {
    const seed = randomSeed()
    t.diagnostic(`NATTER_SEED=${seed}`)
    const written = await writeEveryKind(seed)
    assert.deepEqual(
      kinds().filter(kind => !written.has(kind)),
      [],
    )
  })
})
