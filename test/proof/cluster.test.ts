// Faults in a cluster: a short campaign with every run of the tests. NATTER_SEED=… runs one again; `npm run prove -- cluster`
// is the long form.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { withoutEtcd } from '../support/etcd.ts'
import { randomSeed } from './campaign.ts'
import { campaign } from './cluster/campaign.ts'

describe('a cluster whose daemons, network and etcd fail', { skip: withoutEtcd ?? false }, () => {
  test('loses nothing that was answered, tells every reader everything once, and all daemons agree', async t => {
    const seed = randomSeed()
    const faults = 4
    t.diagnostic(`npm run prove -- cluster --seed ${seed} --count ${faults}`)
    const { writes, unanswered, leaders, moves } = await campaign({
      faults,
      seed,
      pause: 200,
      note: text => t.diagnostic(text),
    })
    const answers = `${writes} writes, ${unanswered} unanswered`
    t.diagnostic(`${faults} faults, ${answers}, ${leaders} leaders, ${moves} moves of readers`)
    assert.ok(writes > 0 && leaders > 1)
  })
})
