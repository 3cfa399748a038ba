// Bots, their storage and their keys: what the specification says of them.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { bots as api } from '../../../daemon/api/bots/bots.ts'
import { events } from '../../../daemon/api/events.ts'
import { uploads } from '../../../daemon/api/files/uploads.ts'
import { messages } from '../../../daemon/api/messages/messages.ts'
import { savedSnippets } from '../../../daemon/api/messages/saved-snippets.ts'
import { users } from '../../../daemon/api/people/users.ts'
import { Caller, sharedDaemon, type TestDaemon } from '../../support/daemon.ts'
import { pixel } from '../../support/images.ts'
import { fetched, listen, person } from '../../support/world.ts'

let daemon: TestDaemon
let amy: Caller
let guest: Caller
sharedDaemon({}, async started => {
  daemon = started
  amy = await person(daemon, 'amy')
  guest = await person(daemon, 'guest', { role: 600 })
})

const outgoing = { bot_type: 3, payload_url: 'https://bots.example.com/echo' } as const

async function botOf(owner: Caller, short_name: string, more: object = {}): Promise<Caller> {
  const { user_id, api_key } = await owner.call(api.create, { full_name: `${short_name} bot`, short_name, ...more })
  return new Caller(daemon.url, `${short_name}-bot@example.com`, api_key, user_id)
}

describe('POST /bots', () => {
  test('creates a bot that can call, is listed, and is told to owner and administrators', async () => {
    const mine = await listen(amy, ['realm_bot', 'realm_user'])
    const administrators = await listen(daemon.owner, ['realm_bot'])
    const others = await listen(guest, ['realm_bot'])
    const bot = await botOf(amy, 'deploy')
    const me = await bot.call(users.me, {})
    assert.deepEqual([me.bot_type, me.bot_owner_id, me.role, me.is_bot], [1, amy.id, 400, true])
    assert.ok(!('profile_data' in me))
    const [added, told] = await mine()
    assert.deepEqual([added!.type, told!.type], ['realm_user', 'realm_bot'])
    assert.deepEqual(told!.bot, {
      user_id: bot.id,
      email: 'deploy-bot@example.com',
      full_name: 'deploy bot',
      bot_type: 1,
      is_active: true,
      api_key: bot.key,
      owner_id: amy.id,
      avatar_url: me.avatar_url,
      default_sending_stream: null,
      default_events_register_stream: null,
      default_all_public_streams: false,
      services: [],
    })
    assert.deepEqual(
      (await administrators()).map(event => event.bot),
      [told!.bot],
    )
    assert.deepEqual(await others(), [])
    const { bots } = await amy.call(api.list, {})
    assert.deepEqual(
      bots.map(({ username, api_key }) => [username, api_key]),
      [['deploy-bot@example.com', bot.key]],
    )
    assert.deepEqual((await fetched(amy, ['realm_bot'])).realm_bots, [told!.bot])
    assert.deepEqual((await fetched(guest, ['realm_bot'])).realm_bots, [])
  })

  test('no key and no token is ever written to the store', async () => {
    const { readFileSync } = await import('node:fs')
    const heard = await listen(amy, ['realm_bot'])
    const bot = await botOf(amy, 'secretive', outgoing)
    const [{ bot: told } = {} as any] = await heard()
    assert.equal(told.api_key, bot.key)
    assert.match(told.services[0].token, /^[A-Za-z0-9]{32}$/)
    const journal = readFileSync(`${daemon.data}/journal.ndjson`, 'utf8')
    assert.ok(!journal.includes(bot.key!) && !journal.includes(told.services[0].token))
  })

  test('an outgoing webhook has one service, with a token of its own that stays', async () => {
    const bot = await botOf(amy, 'echo', { ...outgoing, interface_type: 2 })
    const before = (await fetched(amy, ['realm_bot'])).realm_bots.find((one: any) => one.user_id === bot.id)
    assert.equal(before.services[0].base_url, 'https://bots.example.com/echo')
    assert.equal(before.services[0].interface, 2)
    await amy.call(api.regenerateKey, { bot_id: bot.id })
    const later = (await fetched(amy, ['realm_bot'])).realm_bots.find((one: any) => one.user_id === bot.id)
    assert.equal(later.services[0].token, before.services[0].token)
    assert.notEqual(later.api_key, before.api_key)
  })

  test('takes an avatar', async () => {
    const bot = await botOf(amy, 'painted', { file: { filename: 'a.png', contentType: 'image/png', bytes: pixel.png } })
    assert.match((await bot.call(users.me, {})).avatar_url!, /^\/user_avatars\//)
    const file = { filename: 'a.png', contentType: 'image/png', bytes: Buffer.from('no image') }
    await amy.refused(api.create, { full_name: 'Blob bot', short_name: 'blob', file }, 'BAD_IMAGE')
  })

  test('refuses guests, bots, embedded bots, taken names and addresses, bad URLs', async () => {
    const good = { full_name: 'New bot', short_name: 'new' }
    const bot = await botOf(amy, 'busy')
    await guest.refused(api.create, good, 'BAD_REQUEST')
    await bot.refused(api.create, good, 'BAD_REQUEST')
    await guest.refused(api.list, {}, 'BAD_REQUEST')
    for (const bad of [
      { bot_type: 4 },
      { bot_type: 5 },
      { bot_type: 3 },
      { bot_type: 3, payload_url: 'ftp://x' },
      { short_name: 'busy' },
      { short_name: 'a b' },
      { full_name: 'busy bot' },
      { default_sending_stream: 'nowhere' },
    ])
      await amy.refused(api.create, { ...good, ...bad }, 'BAD_REQUEST')
  })
})

describe('PATCH /bots/{bot_id}', () => {
  test('changes name, service and owner, and tells both owners', async () => {
    const bob = await person(daemon, 'bob')
    const bot = await botOf(amy, 'moving', outgoing)
    const former = await listen(amy, ['realm_bot', 'realm_user'])
    const next = await listen(bob, ['realm_bot'])
    const reply = await daemon.owner.call(api.update, {
      bot_id: bot.id,
      full_name: 'Moved bot',
      service_payload_url: '"https://bots.example.com/moved"',
      bot_owner_id: bob.id,
    })
    assert.deepEqual(
      [reply.full_name, reply.service_payload_url, reply.service_interface, reply.bot_owner],
      ['Moved bot', 'https://bots.example.com/moved', 1, 'bob@example.com'],
    )
    assert.deepEqual(
      (await former()).map(({ type, op, bot, person }) => [type, op, Object.keys(bot ?? person)]),
      [
        ['realm_user', 'update', ['user_id', 'full_name']],
        ['realm_bot', 'update', ['user_id', 'full_name']],
        ['realm_bot', 'delete', ['user_id']],
        ['realm_user', 'update', ['user_id', 'bot_owner_id']],
      ],
    )
    assert.deepEqual(
      (await next()).map(({ op, bot }) => [op, bot.owner_id]),
      [
        ['add', bob.id],
        ['update', undefined],
        ['update', undefined],
      ],
    )
    await amy.refused(api.update, { bot_id: bot.id, full_name: 'Mine again' }, 'BAD_REQUEST')
  })

  test('is handed over with a new key and token that the former owner does not learn, and to no one above the caller', async () => {
    const dan = await person(daemon, 'dan')
    const bot = await botOf(amy, 'given', outgoing)
    const { queue_id } = await amy.call(events.register, { event_types: ['realm_bot'], fetch_event_types: [] })
    await amy.call(api.update, { bot_id: bot.id, full_name: 'Given away', service_interface: 2 })
    const token = async (caller: Caller) =>
      (await fetched(caller, ['realm_bot'])).realm_bots.find((one: any) => one.user_id === bot.id)?.services[0].token
    const oldToken = await token(amy)
    await amy.refused(api.update, { bot_id: bot.id, bot_owner_id: daemon.owner.id }, 'UNAUTHORIZED_PRINCIPAL')
    await amy.call(api.update, { bot_id: bot.id, bot_owner_id: amy.id })
    await bot.call(users.me, {})
    await daemon.owner.call(api.update, { bot_id: bot.id, bot_owner_id: dan.id })
    await bot.refused(users.me, {}, 'INVALID_API_KEY')
    const { api_key } = await dan.call(api.key, { bot_id: bot.id })
    assert.equal((await new Caller(daemon.url, bot.email, api_key).call(users.me, {})).bot_owner_id, dan.id)
    assert.notEqual(await token(dan), oldToken)
    // Secrets are set into an event when it is read, and this one waits since before the handover.
    const { events: waiting } = await amy.call(events.get, { queue_id, last_event_id: -1, dont_block: true })
    assert.ok(waiting.length > 0)
    assert.ok(!JSON.stringify(waiting).includes(await token(dan)))
    assert.ok(!JSON.stringify(waiting).includes(api_key))
  })

  test('a new token is made when asked for, and for outgoing webhooks only', async () => {
    const bot = await botOf(amy, 'rotated', outgoing)
    const heard = await listen(amy, ['realm_bot'])
    const token = async () =>
      (await fetched(amy, ['realm_bot'])).realm_bots.find((one: any) => one.user_id === bot.id).services[0].token
    const before = await token()
    await amy.call(api.update, { bot_id: bot.id, service_interface: 2 })
    assert.equal(await token(), before)
    await amy.call(api.update, { bot_id: bot.id, regenerate_token: true })
    assert.notEqual(await token(), before)
    assert.equal((await heard()).at(-1)!.bot.services[0].token, await token())
    const plain = await botOf(amy, 'tokenless')
    await amy.refused(api.update, { bot_id: plain.id, regenerate_token: true }, 'BAD_REQUEST')
  })

  test('a bot whose role is above yours is out of reach: its key, its settings and its secrets', async () => {
    const administrator = await person(daemon, 'ada', { role: 200 })
    const bot = await botOf(daemon.owner, 'crowned')
    const heard = await listen(administrator, ['realm_bot'])
    await daemon.owner.call(api.update, { bot_id: bot.id, role: 100 })
    for (const endpoint of [api.key, api.regenerateKey, api.update, api.deactivate])
      await administrator.refused(endpoint, { bot_id: bot.id }, 'BAD_REQUEST')
    assert.deepEqual(
      (await heard()).map(({ op, bot }) => [op, bot]),
      [['delete', { user_id: bot.id }]],
    )
    const listed = (await fetched(administrator, ['realm_bot'])).realm_bots
    assert.ok(!JSON.stringify(listed).includes(bot.key!))
    await daemon.owner.call(api.update, { bot_id: bot.id, role: 400 })
    assert.equal((await administrator.call(api.key, { bot_id: bot.id })).api_key, bot.key)
    assert.equal((await heard()).at(-1)!.bot.api_key, bot.key)
  })

  test('a role needs an administrator; the new owner an active person', async () => {
    const bot = await botOf(amy, 'rising')
    await amy.refused(api.update, { bot_id: bot.id, role: 200 }, 'UNAUTHORIZED_PRINCIPAL')
    await daemon.owner.call(api.update, { bot_id: bot.id, role: 300 })
    assert.equal((await bot.call(users.me, {})).role, 300)
    for (const bad of [{ bot_owner_id: bot.id }, { bot_owner_id: 9999 }, { service_payload_url: 'https://x.example' }])
      await amy.refused(api.update, { bot_id: bot.id, ...bad }, 'BAD_REQUEST')
    await amy.refused(api.update, { bot_id: amy.id, full_name: 'No bot' }, 'BAD_REQUEST')
    const file = { filename: 'a.png', contentType: 'image/png', bytes: Buffer.from('no image') }
    await amy.refused(api.update, { bot_id: bot.id, file }, 'BAD_IMAGE')
  })
})

describe('DELETE /bots/{bot_id}', () => {
  test('deactivates; the key is refused; its owner may reactivate it', async () => {
    const bot = await botOf(amy, 'sleepy')
    await guest.refused(api.deactivate, { bot_id: bot.id }, 'BAD_REQUEST')
    const heard = await listen(amy, ['realm_bot', 'realm_user'])
    await amy.call(api.deactivate, { bot_id: bot.id })
    assert.deepEqual(await heard(), [
      { type: 'realm_user', op: 'update', person: { user_id: bot.id, is_active: false } },
      { type: 'realm_bot', op: 'update', bot: { user_id: bot.id, is_active: false } },
    ])
    await bot.refused(users.me, {}, 'USER_DEACTIVATED')
    await amy.call(api.deactivate, { bot_id: bot.id })
    assert.deepEqual(await heard(), [], 'a second time changes nothing')
    await daemon.owner.refused(users.deactivate, { user_id: bot.id }, 'BAD_REQUEST')
    await amy.call(users.reactivate, { user_id: bot.id })
    await bot.call(users.me, {})
  })

  test('a person’s bots are deactivated before them, and move to the person who reactivates them', async () => {
    const cat = await person(daemon, 'cat')
    const bot = await botOf(cat, 'faithful')
    const heard = await listen(daemon.owner, ['realm_user'])
    await daemon.owner.call(users.deactivate, { user_id: cat.id })
    assert.deepEqual(
      (await heard()).map(event => event.person.user_id),
      [bot.id, cat.id],
    )
    await daemon.owner.call(users.reactivate, { user_id: bot.id })
    await bot.refused(users.me, {}, 'INVALID_API_KEY')
    const { api_key } = await daemon.owner.call(api.key, { bot_id: bot.id })
    assert.equal((await new Caller(daemon.url, bot.email, api_key).call(users.me, {})).bot_owner_id, daemon.owner.id)
  })
})

describe('GET /bots/{bot_id}/api_key and POST …/regenerate', () => {
  test('owner and administrators read and renew the key; the old one is dead at once', async () => {
    const bot = await botOf(amy, 'keyed')
    assert.equal((await daemon.owner.call(api.key, { bot_id: bot.id })).api_key, bot.key)
    const heard = await listen(amy, ['realm_bot'])
    const { api_key } = await amy.call(api.regenerateKey, { bot_id: bot.id })
    assert.deepEqual(
      (await heard()).map(event => event.bot),
      [{ user_id: bot.id, api_key }],
    )
    await bot.refused(users.me, {}, 'INVALID_API_KEY')
    await guest.refused(api.key, { bot_id: bot.id }, 'BAD_REQUEST')
    await guest.refused(api.regenerateKey, { bot_id: bot.id }, 'BAD_REQUEST')
  })
})

describe('incoming webhook bots', () => {
  test('of type incoming webhook opens no files or pictures', async () => {
    const bot = await botOf(amy, 'reader', { bot_type: 2 })
    const file = { filename: 'notes.txt', contentType: 'text/plain', bytes: Buffer.from('notes') }
    const { url } = await amy.call(uploads.upload, { file })
    await amy.call(messages.send, { type: 'direct', to: [bot.id], content: `[notes](${url})` })
    const statuses = async ({ email, key }: Caller) => {
      const headers = { authorization: `Basic ${btoa(`${email}:${key}`)}` }
      const asked = [
        fetch(daemon.url + url, { headers }),
        fetch(`${daemon.url}${url}?api_key=${key}`),
        fetch(`${daemon.url}/avatar/${amy.id}`, { headers, redirect: 'manual' }),
      ]
      return (await Promise.all(asked)).map(({ status }) => status)
    }
    assert.deepEqual(await statuses(amy), [200, 200, 302])
    assert.deepEqual(await statuses(bot), [401, 401, 401])
  })

  test('may only send messages', async () => {
    const bot = await botOf(amy, 'inbound', { bot_type: 2, service_name: 'helloworld' })
    for (const endpoint of [users.me, savedSnippets.list, api.list]) {
      const { status, body } = await bot.try(endpoint, {})
      assert.deepEqual([status, body.code], [401, 'UNAUTHORIZED'])
    }
  })
})
