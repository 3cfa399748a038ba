// The storage of bots.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { botStorage } from '../../../daemon/api/bots/bot-storage.ts'
import { bots as api } from '../../../daemon/api/bots/bots.ts'
import { Caller, sharedDaemon, type TestDaemon } from '../../support/daemon.ts'
import { person } from '../../support/world.ts'

let daemon: TestDaemon
let amy: Caller
sharedDaemon({}, async started => {
  daemon = started
  amy = await person(daemon, 'amy')
})

async function botOf(owner: Caller, short_name: string, more: object = {}): Promise<Caller> {
  const { user_id, api_key } = await owner.call(api.create, { full_name: `${short_name} bot`, short_name, ...more })
  return new Caller(daemon.url, `${short_name}-bot@example.com`, api_key, user_id)
}

describe('/bot_storage', () => {
  test('keeps texts by key, for each bot its own', async () => {
    const one = await botOf(amy, 'one')
    const two = await botOf(amy, 'two')
    await one.call(botStorage.put, { storage: { a: '1', b: '2' } })
    await one.call(botStorage.put, { storage: { b: '3' } })
    assert.deepEqual((await one.call(botStorage.get, {})).storage, { a: '1', b: '3' })
    assert.deepEqual((await one.call(botStorage.get, { keys: ['b'] })).storage, { b: '3' })
    assert.deepEqual((await two.call(botStorage.get, {})).storage, {})
    await one.refused(botStorage.get, { keys: ['a', 'missing'] }, 'BAD_REQUEST')
    await one.refused(botStorage.remove, { keys: ['missing'] }, 'BAD_REQUEST')
    await one.call(botStorage.remove, { keys: ['a'] })
    assert.deepEqual((await one.call(botStorage.get, {})).storage, { b: '3' })
    await one.call(botStorage.remove, {})
    assert.deepEqual((await one.call(botStorage.get, {})).storage, {})
  })

  test('is for people too, as on public servers', async () => {
    await amy.call(botStorage.put, { storage: { a: '1' } })
    assert.deepEqual((await amy.call(botStorage.get, {})).storage, { a: '1' })
  })

  test('holds ten million characters', async () => {
    const bot = await botOf(amy, 'hoarder')
    await bot.refused(botStorage.put, { storage: { a: 'x'.repeat(10_000_000) } }, 'BAD_REQUEST')
  })

  test('holds ten thousand values; those that are there can be changed, and removed for others', async () => {
    const bot = await botOf(amy, 'collector')
    const batch = (from: number) => Object.fromEntries(Array.from({ length: 1000 }, (_, i) => [`${from + i}`, '']))
    for (let from = 0; from < 10_000; from += 1000) await bot.call(botStorage.put, { storage: batch(from) })
    const { msg } = (await bot.try(botStorage.put, { storage: { 0: 'changed', more: '' } })).body
    assert.equal(msg, 'You can have 10000 stored values, and have no room for more. Delete some first.')
    await bot.call(botStorage.put, { storage: { 0: 'changed' } })
    await bot.call(botStorage.remove, { keys: ['1'] })
    await bot.call(botStorage.put, { storage: { more: '' } })
  })
})
