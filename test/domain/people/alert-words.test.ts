// Alert words.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { alertWords } from '../../../daemon/api/people/alert-words.ts'
import { type Caller, sharedDaemon, type TestDaemon } from '../../support/daemon.ts'
import { fetched, listen, person } from '../../support/world.ts'

let daemon: TestDaemon
let amy: Caller
let bob: Caller

sharedDaemon({}, async started => {
  daemon = started
  amy = await person(daemon, 'amy')
  bob = await person(daemon, 'bob')
})

describe('/users/me/alert_words', () => {
  test('words are trimmed and unique in any case; the first spelling stays', async () => {
    const heard = await listen(amy, ['alert_words'])
    const added = await amy.call(alertWords.add, { alert_words: [' Outage ', 'outage', '', 'rollback'] })
    assert.deepEqual(added.alert_words, ['Outage', 'rollback'])
    await amy.call(alertWords.add, { alert_words: ['OUTAGE'] })
    const removed = await amy.call(alertWords.remove, { alert_words: ['outage', 'unknown'] })
    assert.deepEqual(removed.alert_words, ['rollback'])
    assert.deepEqual((await amy.call(alertWords.list, {})).alert_words, ['rollback'])
    assert.deepEqual((await fetched(amy, ['alert_words'])).alert_words, ['rollback'])
    assert.deepEqual(await heard(), [
      { type: 'alert_words', alert_words: ['Outage', 'rollback'] },
      { type: 'alert_words', alert_words: ['rollback'] },
    ])
  })

  test('an account has 200 of them', async () => {
    const cat = await person(daemon, 'cat')
    const words = Array.from({ length: 200 }, (_, i) => `word${i}`)
    await cat.call(alertWords.add, { alert_words: words })
    await cat.call(alertWords.add, { alert_words: ['WORD7'] })
    await cat.refused(alertWords.add, { alert_words: ['one more'] }, 'BAD_REQUEST')
    assert.equal((await cat.call(alertWords.list, {})).alert_words.length, 200)
  })

  test('a word longer than 100 characters is refused, and none is added', async () => {
    await bob.refused(alertWords.add, { alert_words: ['fine', 'x'.repeat(101)] }, 'BAD_REQUEST')
    assert.deepEqual((await bob.call(alertWords.list, {})).alert_words, [])
  })
})
