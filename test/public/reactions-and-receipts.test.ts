// Reactions and read receipts, as clients of the public server know them.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import type { Caller } from '../support/daemon.ts'
import { listen } from '../support/world.ts'
import { ask, assertHas, cases, type Fields, ok } from './support/cases.ts'
import { amy, bob, cat, lunch, openKitchen, owner, refused, say } from './support/kitchen.ts'

describe('what users do with messages', () => {
  openKitchen()
  describe('read receipts', receipts)
  describe('reactions', reactions)
})

function receipts(): void {
  const seen = async (id: number, who = amy) => (await ok(who, `GET /messages/${id}/read_receipts`)).user_ids
  const read = (who: Caller, id: number) => ok(who, 'POST /messages/flags', { messages: [id], op: 'add', flag: 'read' })

  test('name readers, not the sender', async () => {
    const id = await say(amy, 'receipts')
    assert.deepEqual(await seen(id), [])
    await read(bob, id)
    await read(amy, id)
    assert.deepEqual(await seen(id), [bob.id])
  })

  test('name users who took the message into their history', async () => {
    const id = await say(amy, 'receipts')
    await ok(cat, 'POST /messages/flags', { messages: [id], op: 'add', flag: 'starred' })
    assert.deepEqual(await seen(id), [cat.id])
  })

  test('leave out users whose settings say so, and users who muted each other', async () => {
    const id = await say(amy, 'receipts')
    await read(bob, id)
    await ok(bob, 'PATCH /settings', { send_read_receipts: false })
    assert.deepEqual(await seen(id), [])
    await ok(bob, 'PATCH /settings', { send_read_receipts: true })
    await ok(amy, `POST /users/me/muted_users/${bob.id}`)
    assert.deepEqual(await seen(id), [])
    assert.deepEqual(await seen(id, owner), [bob.id])
    await ok(amy, `DELETE /users/me/muted_users/${bob.id}`)
    await ok(bob, `POST /users/me/muted_users/${amy.id}`)
    assert.deepEqual(await seen(id), [])
    await ok(bob, `DELETE /users/me/muted_users/${amy.id}`)
  })

  test('of a direct message name its readers', async () => {
    const { id } = await ok(amy, 'POST /messages', { type: 'direct', to: [bob.id], content: 'hi' })
    assert.deepEqual(await seen(id), [])
    await read(bob, id)
    assert.deepEqual(await seen(id), [bob.id])
    assert.equal((await ask(cat, `GET /messages/${id}/read_receipts`)).status, 400)
  })

  test('can be turned off for the organization', async () => {
    await ok(owner, 'PATCH /realm', { enable_read_receipts: false })
    assertHas(await ask(amy, `GET /messages/${lunch}/read_receipts`), { status: 400, body: { code: 'BAD_REQUEST' } })
    await ok(owner, 'PATCH /realm', { enable_read_receipts: true })
  })
}

function reactions(): void {
  const line = (method: string) => () => `${method} /messages/${lunch}/reactions`
  cases([
    refused('needs a name', line('POST'), {}, { code: 'REQUEST_VARIABLE_MISSING' }),
    refused('refuses an unknown name', line('POST'), { emoji_name: 'no_such_emoji' }),
    refused('refuses a wrong code', line('POST'), {
      emoji_name: 'tada',
      emoji_code: 'ffff',
      reaction_type: 'unicode_emoji',
    }),
    refused('refuses an unknown type', line('POST'), {
      emoji_name: 'tada',
      emoji_code: '1f389',
      reaction_type: 'stamp',
    }),
    refused('refuses the name of another emoji', line('POST'), {
      emoji_name: 'tada',
      emoji_code: '1f602',
      reaction_type: 'unicode_emoji',
    }),
    refused('refuses an unknown message', 'POST /messages/99999/reactions', { emoji_name: 'tada' }),
    refused(
      'refuses to remove what is not there',
      line('DELETE'),
      { emoji_name: 'tada' },
      { code: 'REACTION_DOES_NOT_EXIST' },
    ),
    refused('needs a name or a code to remove', line('DELETE'), {}),
    ['adds one', () => amy, line('POST'), { emoji_name: 'octopus' }, { result: 'success' }],
    refused('refuses it twice', line('POST'), { emoji_name: 'octopus' }, { code: 'REACTION_ALREADY_EXISTS' }),
    refused(
      'refuses it twice by its code',
      line('POST'),
      { emoji_name: 'octopus', emoji_code: '1f419', reaction_type: 'unicode_emoji' },
      { code: 'REACTION_ALREADY_EXISTS' },
    ),
    ['takes the same of another user', () => bob, line('POST'), { emoji_name: 'octopus' }, { result: 'success' }],
    [
      'removes it by its code',
      () => bob,
      line('DELETE'),
      { emoji_code: '1f419', reaction_type: 'unicode_emoji' },
      { result: 'success' },
    ],
    ['removes it by its name', () => amy, line('DELETE'), { emoji_name: 'octopus' }, { result: 'success' }],
  ])

  test('are told to subscribers and to users who have the message in their history', async () => {
    const id = await say(amy, 'reacting')
    const [subscriber, stranger] = [await listen(bob, ['reaction']), await listen(cat, ['reaction'])]
    await ok(amy, `POST /messages/${id}/reactions`, { emoji_name: 'tada' })
    assertHas(await subscriber(), [
      {
        op: 'add',
        message_id: id,
        user_id: amy.id,
        emoji_name: 'tada',
        reaction_type: 'unicode_emoji',
        user: { user_id: amy.id },
      },
    ])
    assert.deepEqual(await stranger(), [])
    await ok(cat, `POST /messages/${id}/reactions`, { emoji_name: 'tada' })
    await ok(amy, `DELETE /messages/${id}/reactions`, { emoji_name: 'tada' })
    assertHas(await stranger(), [
      { op: 'add', user_id: cat.id },
      { op: 'remove', user_id: amy.id },
    ])
    assert.deepEqual((await ok(cat, `GET /messages/${id}`)).message.flags, ['read', 'historical'])
  })

  test('a vote for an emoji takes the name that it has', async () => {
    const id = await say(amy, 'reacting')
    await ok(amy, `POST /messages/${id}/reactions`, { emoji_name: '+1' })
    await ok(bob, `POST /messages/${id}/reactions`, { emoji_name: 'thumbs_up' })
    const { message } = await ok(amy, `GET /messages/${id}`)
    assert.deepEqual(
      message.reactions.map((one: Fields) => one.emoji_name),
      ['+1', '+1'],
    )
  })

  test('make a topic followed only for subscribers', async () => {
    const set = { automatically_follow_topics_policy: 1 }
    await ok(bob, 'PATCH /settings', set)
    await ok(cat, 'PATCH /settings', set)
    const id = await say(amy, 'taking part')
    for (const who of [bob, cat]) await ok(who, `POST /messages/${id}/reactions`, { emoji_name: 'tada' })
    const followed = async (who: Caller) =>
      (await ok(who, 'POST /register', { event_types: ['user_topic'] })).user_topics.some(
        (one: Fields) => one.topic_name === 'taking part',
      )
    assert.deepEqual([await followed(bob), await followed(cat)], [true, false])
  })
}
