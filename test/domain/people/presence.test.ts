// Presence: what the specification says of it.

import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { presence as api } from '../../../daemon/api/people/presence.ts'
import { settings } from '../../../daemon/api/people/settings.ts'
import { applyFact } from '../../../daemon/domain/index.ts'
import { State } from '../../../daemon/domain/model/state.ts'
import { found } from '../../../daemon/domain/organization/founding.ts'
import { presence } from '../../../daemon/domain/people/presence.ts'
import type { Announcement, Outcome } from '../../../daemon/domain/resource.ts'
import seed from '../../../data/seed.json' with { type: 'json' }
import { type Caller, host, sharedDaemon, type TestDaemon } from '../../support/daemon.ts'
import { fetched, listen, person } from '../../support/world.ts'

let daemon: TestDaemon
let amy: Caller
let bob: Caller

sharedDaemon({}, async started => {
  daemon = started
  amy = await person(daemon, 'amy')
  bob = await person(daemon, 'bob')
})

describe('POST /users/me/presence', () => {
  test('the first report is told to everyone, with email unless the client asked for slim presence', async () => {
    const plain = await listen(bob, ['presence'])
    const slim = await listen(bob, ['presence'], { slim_presence: true })
    await amy.call(api.update, { status: 'active', ping_only: true })
    const [event] = await plain()
    assert.equal(event?.email, amy.email)
    assert.deepEqual(event?.presence.website.status, 'active')
    assert.deepEqual(Object.keys((await slim())[0]!).sort(), ['presence', 'server_timestamp', 'type', 'user_id'])
    await amy.call(api.update, { status: 'active', ping_only: true })
    assert.deepEqual(await plain(), [], 'regular pings are not told')
  })

  test('the legacy format names people by email, the modern one by ID', async () => {
    const legacy = await amy.call(api.update, { status: 'active' })
    const entry = legacy.presences![amy.email!] as Record<string, { client: string; status: string }>
    assert.deepEqual(Object.keys(entry).sort(), ['aggregated', 'website'])
    assert.equal(entry.website?.status, 'active')
    const modern = await amy.call(api.update, { status: 'active', slim_presence: true })
    assert.deepEqual(Object.keys(modern.presences![amy.id] as object).sort(), ['active_timestamp', 'idle_timestamp'])
    assert.ok(Math.abs(modern.server_timestamp! - Date.now() / 1000) < 60)
  })

  test('with last_update_id only what is newer comes, and the same ID when nothing is', async () => {
    const all = await amy.call(api.update, { status: 'active', last_update_id: -1 })
    assert.ok(all.presences![amy.id])
    const cat = await person(daemon, 'cat')
    const last_update_id = all.presence_last_update_id
    const none = await amy.call(api.update, { status: 'active', last_update_id })
    assert.deepEqual([none.presences, none.presence_last_update_id], [{}, last_update_id])
    await cat.call(api.update, { status: 'idle', ping_only: true })
    const news = await amy.call(api.update, { status: 'active', last_update_id })
    assert.deepEqual(Object.keys(news.presences!), [String(cat.id)])
    assert.ok(news.presence_last_update_id > last_update_id)
  })

  test('ping_only returns no presence data; history_limit_days 0 returns none either', async () => {
    assert.deepEqual(await amy.call(api.update, { status: 'idle', ping_only: true }), {
      result: 'success',
      msg: '',
      presence_last_update_id: -1,
    })
    const reply = await amy.call(api.update, { status: 'idle', history_limit_days: 0 })
    assert.deepEqual([reply.presences, reply.presence_last_update_id], [{}, -1])
  })

  test('an unknown status is refused', async () => {
    await amy.refused(api.update, { status: 'asleep' }, 'BAD_REQUEST')
  })

  test('in invisible mode reports are answered and not recorded, and others see the user offline at once', async () => {
    const dan = await person(daemon, 'dan')
    await dan.call(api.update, { status: 'active', ping_only: true })
    const heard = await listen(bob, ['presence'])
    await dan.call(settings.update, { presence_enabled: false })
    const offline = await bob.call(api.ofUser, { user_id_or_email: String(dan.id) })
    assert.equal(offline.presence.aggregated?.status, 'offline')
    await dan.call(api.update, { status: 'active', ping_only: true })
    assert.equal((await bob.call(api.ofUser, { user_id_or_email: dan.email! })).presence.aggregated?.status, 'offline')
    await dan.call(settings.update, { presence_enabled: true })
    assert.equal((await bob.call(api.ofUser, { user_id_or_email: dan.email! })).presence.aggregated?.status, 'active')
    assert.equal((await heard()).length, 2)
  })
})

describe('GET /users/{user_id_or_email}/presence', () => {
  test('unknown users, bots and users without a presence are refused', async () => {
    const eve = await person(daemon, 'eve')
    for (const user_id_or_email of ['nobody@example.com', '9999', '1', eve.email])
      await amy.refused(api.ofUser, { user_id_or_email }, 'BAD_REQUEST')
  })
})

describe('GET /realm/presence', () => {
  test('is in the legacy format', async () => {
    const { presences } = await bob.call(api.list, {})
    assert.equal(presences[amy.email!]?.website?.client, 'website')
  })
})

describe('POST /register', () => {
  test('presence comes in the format asked for, as old as asked for', async () => {
    assert.ok((await fetched(bob, ['presence'])).presences[amy.email!].aggregated)
    assert.ok((await fetched(bob, ['presence'], { slim_presence: true })).presences[amy.id].idle_timestamp)
    assert.deepEqual((await fetched(bob, ['presence'], { presence_history_limit_days: 0 })).presences, {})
  })
})

describe('presence over time', () => {
  const state = new State()
  applyFact(state, found(seed, 'example.com', 0))
  const actor = [...state.users.values()].at(-1)!
  const start = 1_800_000_000_000
  function report(seconds: number, status: 'active' | 'idle') {
    const params = { status, ping_only: false, slim_presence: true, new_user_input: false }
    const ctx = { state, actor, now: start + seconds * 1000 }
    const outcome = presence.commands.update!(ctx, params) as Outcome<any>
    outcome.touch?.(state)
    const entry = outcome.reply.presences[actor.id]
    return {
      active: entry.active_timestamp - start / 1000,
      idle: entry.idle_timestamp - start / 1000,
      told: (outcome.signals as Announcement[]).length,
    }
  }

  test('is written at most every 55 seconds, and told after 130 seconds without activity', () => {
    assert.deepEqual(report(0, 'active'), { active: 0, idle: 0, told: 1 })
    assert.deepEqual(report(50, 'active'), { active: 0, idle: 0, told: 0 })
    assert.deepEqual(report(60, 'idle'), { active: 0, idle: 60, told: 0 })
    assert.deepEqual(report(100, 'active'), { active: 100, idle: 100, told: 0 })
    assert.deepEqual(report(160, 'idle'), { active: 100, idle: 160, told: 0 })
    assert.deepEqual(report(231, 'active'), { active: 231, idle: 231, told: 1 })
  })
})

describe('presence over a restart', () => {
  test('a stop saves it: people are seen as before, and update IDs go on', async () => {
    const data = mkdtempSync(join(tmpdir(), 'natter-presence-'))
    try {
      const first = await host(data)
      const dora = await person(first, 'dora')
      await dora.call(api.update, { status: 'active', ping_only: true })
      const before = await first.owner.call(api.update, { status: 'idle', slim_presence: true, last_update_id: -1 })
      await first.stop()
      const second = await host(data)
      const again = await second.owner.call(api.update, { status: 'idle', slim_presence: true, last_update_id: -1 })
      assert.deepEqual(again.presences![dora.id], before.presences![dora.id])
      assert.deepEqual(Object.keys(again.presences!), Object.keys(before.presences!))
      assert.ok(again.presence_last_update_id >= before.presence_last_update_id)
      await second.stop()
      // Nothing was reported since: nothing is saved again.
      const entries = () => readFileSync(join(data, 'journal.ndjson'), 'utf8').split('"presence.saved"').length - 1
      const saved = entries()
      const third = await host(data)
      await third.stop()
      assert.equal(entries(), saved)
    } finally {
      rmSync(data, { recursive: true, force: true })
    }
  })
})
