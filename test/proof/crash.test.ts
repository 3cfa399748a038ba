// kill -9: a short campaign with every run of the tests. NATTER_SEED=… runs one again; `npm run crash` is the long form.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { campaign } from './crash/campaign.ts'

describe('kill -9', () => {
  test('loses nothing that was answered, leaves nothing half done, and every queue goes on', async t => {
    const seed = Number(process.env.NATTER_SEED ?? Math.floor(Math.random() * 2 ** 32))
    t.diagnostic(`NATTER_SEED=${seed}`)
    const { writes, events } = await campaign({ kills: 10, seed })
    t.diagnostic(`10 kills, ${writes} writes, ${events} events`)
    assert.ok(writes > 0 && events > 0)
  })
})
