// Users: one's own account, new accounts, and getting one's key.

import assert from 'node:assert/strict'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { channels } from '../../../../daemon/api/channels/channels.ts'
import { events } from '../../../../daemon/api/events.ts'
import { messages } from '../../../../daemon/api/messages/messages.ts'
import { organization } from '../../../../daemon/api/organization/organization.ts'
import { users as api } from '../../../../daemon/api/people/users.ts'
import { sharedDaemon } from '../../../support/daemon.ts'
import { fetched, person } from '../../../support/world.ts'

describe('GET /users/me', () => {
  const daemon = sharedDaemon()

  test('shows the caller’s own account', async () => {
    const { owner } = daemon()
    const me = await owner.call(api.me, {})
    assert.equal(me.user_id, owner.id)
    assert.equal(me.email, 'owner@example.com')
    assert.equal(me.delivery_email, 'owner@example.com')
    assert.equal(me.full_name, 'Olive Owner')
    assert.match(me.date_joined, /^\d{4}-\d\d-\d\dT\d\d:\d\d\+00:00$/)
    assert.deepEqual(
      [me.role, me.is_owner, me.is_admin, me.is_guest, me.is_bot, me.is_active],
      [100, true, true, false, false, true],
    )
  })

  test('needs an account', async () => {
    await daemon().anonymous.refused(api.me, {}, 'UNAUTHORIZED')
  })
})

describe('POST /users', () => {
  const daemon = sharedDaemon()
  const amy = { email: 'amy@example.com', password: 'correct horse', full_name: 'Amy Adams' }

  test('creates a member, who can log in, and tells everyone', async () => {
    const { owner, anonymous } = daemon()
    const { queue_id } = await owner.call(events.register, { event_types: ['realm_user'] })
    const { user_id } = await owner.call(api.create, amy)
    const { events: heard } = await owner.call(events.get, { queue_id })
    assert.deepEqual(
      heard.map(({ type, ...event }) => [type, (event as Record<string, unknown>).op]),
      [['realm_user', 'add']],
    )
    const login = await anonymous.call(api.fetchApiKey, { username: amy.email, password: amy.password })
    assert.equal(login.user_id, user_id)
    assert.match(login.api_key, /^[A-Za-z0-9]{32}$/)
  })

  test('an email already in use in the organization gives BAD_REQUEST, in any case of letters', async () => {
    const { owner } = daemon()
    for (const email of ['owner@example.com', 'OWNER@Example.com', ' owner@example.com '])
      assert.match((await owner.refused(api.create, { ...amy, email }, 'BAD_REQUEST')).msg, /^email/)
  })

  test('what is no email address, no name or no password is refused and named', async () => {
    const { owner } = daemon()
    for (const [field, values] of Object.entries({
      email: ['', 'x', '@example.com', 'a@', 'a b@example.com', `${'x'.repeat(250)}@example.com`, 'a@b@c'],
      full_name: [
        '',
        ' ',
        'x',
        'x'.repeat(101),
        'a*b',
        'a`b',
        'a"b',
        'a@b',
        'a>b',
        'a\\b',
        'a\nb',
        'a\u0007b',
        'a\ufffeb',
        'Amy|12',
      ],
      password: ['', 'short', '🎈🎈🎈🎈🎈'],
    }))
      for (const value of values) {
        const params = { email: 'new@example.com', password: 'correct horse', full_name: 'New Person', [field]: value }
        assert.match((await owner.refused(api.create, params, 'BAD_REQUEST')).msg, new RegExp(`^${field}`), value)
      }
    for (const field of ['email', 'password', 'full_name']) {
      const params = { ...amy, [field]: undefined }
      assert.equal((await owner.refused(api.create, params, 'REQUEST_VARIABLE_MISSING')).var_name, field)
    }
  })

  test('a new account finds the recent history of its channels, and is announced', async () => {
    const { owner } = daemon()
    const make = (name: string, is_default_stream: boolean) =>
      owner.call(channels.create, { name, subscribers: [owner.id], is_default_stream })
    const { id: porch } = await make('porch', true)
    const { id: news } = await make('news', false)
    await owner.call(organization.update, { signup_announcements_stream_id: news })
    for (let i = 1; i <= 22; i++)
      await owner.call(messages.send, { type: 'channel', to: porch, topic: 'rain', content: `drop ${i}` })
    const { queue_id } = await owner.call(events.register, { event_types: ['message'] })
    const eve = await person(daemon(), 'eve')
    const { messages: found } = await eve.call(messages.list, { anchor: 'newest', num_before: 100, num_after: 0 })
    const drops = found.filter(({ subject }) => subject === 'rain')
    assert.equal(drops.length, 22)
    assert.deepEqual(drops[0]!.flags, ['read', 'historical'])
    assert.deepEqual(drops.at(-1)!.flags, ['historical'])
    const greeting = found.at(-1)!
    assert.deepEqual([greeting.type, greeting.flags], ['private', ['starred']])
    assert.equal((await eve.call(api.me, {})).max_message_id, greeting.id)
    const { unread_msgs } = await fetched(eve, ['message', 'update_message_flags'])
    assert.equal(unread_msgs.count, 21)
    const { events: heard } = await owner.call(events.get, { queue_id })
    const [{ message } = {} as never] = heard as unknown as { message: Record<string, unknown> }[]
    assert.deepEqual([message.stream_id, message.subject], [news, 'signups'])
    assert.equal(message.sender_full_name, 'Notification Bot')
    assert.match(String(message.content), new RegExp(`data-user-id="${eve.id}">eve example<|@_\\*\\*eve example`))
  })

  test('members may not', async () => {
    const bob = await person(daemon(), 'bob')
    await bob.refused(api.create, { ...amy, email: 'new@example.com' }, 'UNAUTHORIZED_PRINCIPAL')
  })

  test('two at once with one address: one is created', async () => {
    const { owner } = daemon()
    const replies = await Promise.all(
      ['Twin@example.com', 'twin@example.com'].map(email => owner.try(api.create, { ...amy, email })),
    )
    assert.deepEqual(replies.map(({ body }) => body.code ?? 'created').sort(), ['BAD_REQUEST', 'created'])
  })

  test('the store holds no password and no key', async () => {
    const { owner, data, anonymous } = daemon()
    const { api_key } = await anonymous.call(api.fetchApiKey, { username: amy.email, password: amy.password })
    for (const name of readdirSync(data).filter(name => statSync(join(data, name)).isFile())) {
      const text = readFileSync(join(data, name), 'utf8')
      for (const secret of [amy.password, api_key, owner.key!])
        assert.ok(!text.includes(secret), `${name} holds a secret`)
    }
  })
})

describe('POST /fetch_api_key', () => {
  const daemon = sharedDaemon()

  test('gives the key for the email address and the password, the address in any case', async () => {
    const amy = await person(daemon(), 'amy')
    for (const username of ['amy@example.com', 'AMY@EXAMPLE.COM', ' amy@example.com']) {
      const reply = await daemon().anonymous.call(api.fetchApiKey, { username, password: 'amy has a long password' })
      assert.deepEqual([reply.api_key, reply.email, reply.user_id], [amy.key, amy.email, amy.id])
    }
  })

  test('a wrong password, an unknown address and an account without a password look alike', async () => {
    const { anonymous } = daemon()
    const messages = new Set<string>()
    for (const username of ['amy@example.com', 'nobody@example.com', 'owner@example.com'])
      messages.add((await anonymous.refused(api.fetchApiKey, { username, password: 'x' }, 'AUTHENTICATION_FAILED')).msg)
    assert.equal(messages.size, 1)
  })

  test('what is no address is refused and named', async () => {
    for (const username of ['', 'amy'])
      assert.match(
        (await daemon().anonymous.refused(api.fetchApiKey, { username, password: 'x' }, 'BAD_REQUEST')).msg,
        /^username/,
      )
  })

  test('a long password is a password too', async () => {
    const { owner, anonymous } = daemon()
    const password = 'correct horse '.repeat(1000)
    await owner.call(api.create, { email: 'long@example.com', password, full_name: 'Long Password' })
    await anonymous.call(api.fetchApiKey, { username: 'long@example.com', password })
    await anonymous.refused(
      api.fetchApiKey,
      { username: 'long@example.com', password: password.trim() },
      'AUTHENTICATION_FAILED',
    )
  })

  test('a password of more than 16,384 characters is refused before any work is done on it', async () => {
    const { msg } = await daemon().anonymous.refused(
      api.fetchApiKey,
      { username: 'amy@example.com', password: 'a'.padEnd(100_000, '\u0301\u0316') },
      'BAD_REQUEST',
    )
    assert.match(msg, /at most 16384 characters/)
  })

  test('a file in the place of the password is refused', async () => {
    const password = { filename: 'x', contentType: 'text/plain', bytes: Buffer.from('x') }
    await daemon().anonymous.refused(api.fetchApiKey, { username: 'amy@example.com', password }, 'BAD_REQUEST')
  })
})
