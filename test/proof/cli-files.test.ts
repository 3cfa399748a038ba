// A short campaign with every run of the tests; `npm run prove -- cli-files` is the long form.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { randomSeed } from './campaign.ts'
import { campaign } from './cli-files.ts'

describe('files that the command line reads', () => {
  test('end with a sentence, whatever is in them', { skip: process.platform === 'win32' }, async t => {
    const seed = randomSeed()
    t.diagnostic(`npm run prove -- cli-files --seed ${seed} --count ${campaign.short}`)
    const { done, summary } = await campaign.run({ count: campaign.short, seed })
    t.diagnostic(summary)
    assert.ok(done >= campaign.short)
  })
})
