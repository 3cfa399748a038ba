// IDs, names and addresses in paths, as clients of the public server know them, and what senders can leave out.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Caller } from '../support/daemon.ts'
import { multipart, send } from '../support/http.ts'
import { pixel } from '../support/images.ts'
import { ask, cases, ok } from './support/cases.ts'
import { amy, bob, channel, kitchen, openKitchen, owner, say } from './support/kitchen.ts'

const refused = { status: 400, code: 'BAD_REQUEST' }

describe('paths', () => {
  openKitchen()
  describe('an ID of many digits is an ID that nothing has', largeIds)
  describe('names and addresses', names)
  describe('what a bot need not say', defaults)
  describe('POST /messages/render', rendering)
})

function largeIds(): void {
  const id = '1234567890123456'
  cases([
    ['GET /messages/{message_id}', () => amy, `GET /messages/${id}`, {}, refused],
    ['PATCH /messages/{message_id}', () => amy, `PATCH /messages/${id}`, { content: 'x' }, refused],
    ['GET /users/{user_id}', () => amy, `GET /users/${id}/subscriptions/1`, {}, refused],
    ['PATCH /streams/{stream_id}', () => owner, `PATCH /streams/${id}`, { description: 'x' }, refused],
    ['GET /users/me/{stream_id}/topics', () => amy, `GET /users/me/${id}${id}/topics`, {}, refused],
    ['GET /user_groups/{user_group_id}/members', () => amy, `GET /user_groups/${id}/members`, {}, refused],
  ])
}

function names(): void {
  const put = async (path: string) => {
    const form = multipart(new Map([['file', { filename: 'a.png', contentType: 'image/png', bytes: pixel.png }]]))
    return send(`${owner.url}/api/v1${path}`, { method: 'POST', auth: owner.auth, ...form })
  }

  test('a slash in the name of an emoji is a mistake in the name', async () => {
    const { status, body } = await put('/realm/emoji/a/b')
    assert.deepEqual([status, body.code], [400, 'BAD_REQUEST'])
  })

  test('the icon and the logos have addresses that stay, with a version', async () => {
    const { body } = await put('/realm/icon')
    assert.equal(body.icon_url, '/user_avatars/1/realm/icon.png?version=2')
    assert.equal((await send(`${owner.url}${body.icon_url}`, { method: 'GET' })).headers['content-type'], 'image/png')
    assert.equal((await put('/realm/icon')).body.icon_url, '/user_avatars/1/realm/icon.png?version=3')
    await put('/realm/logo?night=true')
    const { realm_night_logo_url } = await ok(amy, 'POST /register', { fetch_event_types: ['realm'] })
    assert.equal(realm_night_logo_url, '/user_avatars/1/realm/night_logo.png?version=2')
    assert.equal((await send(`${owner.url}/user_avatars/1/realm/logo.png`, { method: 'GET' })).status, 404)
  })

  test('the address of a channel can be for a bot that the caller administers', async () => {
    const { user_id } = await ok(amy, 'POST /bots', { full_name: 'Post', short_name: 'post' })
    const path = `GET /streams/${kitchen}/email_address`
    for (const who of [amy, owner]) await ok(who, path, { sender_id: user_id })
    for (const sender_id of [user_id, amy.id, 1]) assert.equal((await ask(bob, path, { sender_id })).status, 400)
    assert.equal((await ask(owner, path, { sender_id: 1 })).status, 400, 'a bot of the system')
  })
}

function defaults(): void {
  test('a message to a channel goes to default_sending_stream if `to` is absent', async () => {
    const place = await channel([amy])
    const made = await ok(amy, 'POST /bots', {
      full_name: 'Herald',
      short_name: 'herald',
      default_sending_stream: place.name,
    })
    const bot = new Caller(amy.url, 'herald-bot@example.com', made.api_key, made.user_id)
    const { id } = await ok(bot, 'POST /messages', { type: 'stream', topic: 'news', content: 'hello' })
    assert.equal((await ok(amy, `GET /messages/${id}`)).message.stream_id, place.id)
    const reply = await ask(amy, 'POST /messages', { type: 'stream', topic: 'news', content: 'hello' })
    assert.equal(reply.status, 400)
  })
}

function rendering(): void {
  test('links a topic by the newest message in it that the caller can see', async () => {
    const place = await channel([amy], { invite_only: true, history_public_to_subscribers: true })
    const id = await say(amy, 'plans', 'hello', place.id)
    const content = `#**${place.name}>plans**`
    const { rendered } = await ok(amy, 'POST /messages/render', { content })
    assert.ok(rendered.includes(`/topic/plans/with/${id}"`), rendered)
    assert.equal((await ok(bob, 'POST /messages/render', { content })).rendered.includes('href'), false)
  })

  cases([
    [
      'keeps spaces at the end',
      () => amy,
      'POST /messages/render',
      { content: 'test  ' },
      { rendered: '<p>test  </p>' },
    ],
    ['drops empty lines', () => amy, 'POST /messages/render', { content: '\n\ntest\n\n' }, { rendered: '<p>test</p>' }],
    ['renders white space as nothing', () => amy, 'POST /messages/render', { content: ' \n ' }, { rendered: '' }],
  ])
}
