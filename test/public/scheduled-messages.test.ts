// Scheduled messages, as clients of the public server know them.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { listen } from '../support/world.ts'
import { ask, assertHas, cases, type Fields, ok } from './support/cases.ts'
import { amy, bob, cat, kitchen, openKitchen, refused } from './support/kitchen.ts'

describe('scheduled messages', () => {
  openKitchen()
  describe('POST and PATCH /scheduled_messages', scheduled)
})

function scheduled(): void {
  const dueTime = 4_000_000_000
  const message = () => ({
    type: 'channel',
    to: kitchen,
    topic: 'lunch',
    content: 'soon',
    scheduled_delivery_timestamp: dueTime,
  })
  const shapes: [title: string, given: () => Fields, expected: () => Fields][] = [
    [
      'to a channel',
      message,
      () => ({
        type: 'stream',
        to: kitchen,
        topic: 'lunch',
        content: 'soon',
        rendered_content: '<p>soon</p>',
        failed: false,
      }),
    ],
    [
      'to a channel by the older word',
      () => ({ ...message(), type: 'stream' }),
      () => ({ type: 'stream', to: kitchen }),
    ],
    ['to a channel in a list', () => ({ ...message(), to: [kitchen] }), () => ({ type: 'stream', to: kitchen })],
    [
      'to users',
      () => ({ ...message(), type: 'direct', to: [bob.id, cat.id] }),
      () => ({ type: 'private', to: [bob.id, cat.id], topic: undefined }),
    ],
    [
      'to a user by the older word',
      () => ({ ...message(), type: 'private', to: [bob.id] }),
      () => ({ type: 'private', to: [bob.id] }),
    ],
    ['to oneself', () => ({ ...message(), type: 'direct', to: [amy.id] }), () => ({ type: 'private', to: [amy.id] })],
    ['to the empty topic', () => ({ ...message(), topic: '(no topic)' }), () => ({ topic: '' })],
  ]
  for (const [title, given, expected] of shapes)
    test(title, async () => {
      const heard = await listen(amy, ['scheduled_messages'])
      const { scheduled_message_id: id } = await ok(amy, 'POST /scheduled_messages', given())
      const all = (await ok(amy, 'GET /scheduled_messages')).scheduled_messages
      assertHas(
        all.find((one: Fields) => one.scheduled_message_id === id),
        { scheduled_delivery_timestamp: dueTime, ...expected() },
      )
      await ok(amy, `DELETE /scheduled_messages/${id}`)
      assertHas(await heard(), [
        { op: 'add', scheduled_messages: [expected()] },
        { op: 'remove', scheduled_message_id: id },
      ])
    })

  test('are listed by their time', async () => {
    for (const wait of [3, 1, 2])
      await ok(bob, 'POST /scheduled_messages', { ...message(), scheduled_delivery_timestamp: dueTime + wait })
    const { scheduled_messages } = await ok(bob, 'GET /scheduled_messages')
    assert.deepEqual(
      scheduled_messages.map((one: Fields) => one.scheduled_delivery_timestamp),
      [dueTime + 1, dueTime + 2, dueTime + 3],
    )
  })

  const edits: [title: string, fields: () => Fields, expected: () => Fields | undefined][] = [
    [
      'the content',
      () => ({ content: 'sooner' }),
      () => ({ content: 'sooner', rendered_content: '<p>sooner</p>', topic: 'lunch' }),
    ],
    ['the topic alone', () => ({ topic: 'dinner' }), () => ({ topic: 'dinner', content: 'soon' })],
    [
      'the time',
      () => ({ scheduled_delivery_timestamp: dueTime + 9 }),
      () => ({ scheduled_delivery_timestamp: dueTime + 9 }),
    ],
    ['the type, with recipients', () => ({ type: 'direct', to: [bob.id] }), () => ({ type: 'private', to: [bob.id] })],
    ['the channel', () => ({ to: kitchen }), () => ({ to: kitchen, topic: 'lunch' })],
    ['nothing', () => ({}), () => undefined],
    ['the type without recipients', () => ({ type: 'direct' }), () => undefined],
    ['the same type without recipients', () => ({ type: 'channel', topic: 'x' }), () => ({ topic: 'x', to: kitchen })],
    ['the same type with its channel', () => ({ type: 'channel', to: kitchen }), () => ({ to: kitchen })],
    ['two channels', () => ({ to: [kitchen, 1] }), () => undefined],
    ['a time in the past', () => ({ scheduled_delivery_timestamp: 1000 }), () => undefined],
    ['a topic that cannot be printed', () => ({ topic: 'a\nb' }), () => undefined],
  ]
  for (const [title, fields, expected] of edits)
    test(`edits ${title}`, async () => {
      const { scheduled_message_id: id } = await ok(amy, 'POST /scheduled_messages', message())
      const heard = await listen(amy, ['scheduled_messages'])
      const { status, body } = await ask(amy, `PATCH /scheduled_messages/${id}`, fields())
      const wanted = expected()
      assertHas({ status, ...body }, wanted ? { status: 200 } : { status: 400, code: 'BAD_REQUEST' })
      assertHas(
        await heard(),
        wanted ? [{ op: 'update', scheduled_message: { scheduled_message_id: id, ...wanted } }] : [],
      )
    })

  cases([
    refused('refuses a time in the past', 'POST /scheduled_messages', () => ({
      ...message(),
      scheduled_delivery_timestamp: 1000,
    })),
    refused('refuses a channel that does not exist', 'POST /scheduled_messages', () => ({ ...message(), to: 99_999 }), {
      code: 'STREAM_DOES_NOT_EXIST',
      stream_id: 99_999,
    }),
    refused('refuses two channels', 'POST /scheduled_messages', () => ({ ...message(), to: [kitchen, 1] })),
    refused('refuses an unknown user', 'POST /scheduled_messages', () => ({
      ...message(),
      type: 'direct',
      to: [99_999],
    })),
    refused('refuses a user that is not in a list', 'POST /scheduled_messages', () => ({
      ...message(),
      type: 'direct',
      to: bob.id,
    })),
    refused('refuses the name of a channel', 'POST /scheduled_messages', () => ({ ...message(), to: 'kitchen' })),
    refused('refuses an unknown type', 'POST /scheduled_messages', () => ({ ...message(), type: 'letter' })),
    refused('refuses an empty content', 'POST /scheduled_messages', () => ({ ...message(), content: '' })),
    refused(
      'needs a time',
      'POST /scheduled_messages',
      () => ({ ...message(), scheduled_delivery_timestamp: undefined }),
      { code: 'REQUEST_VARIABLE_MISSING' },
    ),
    refused('an unknown one to edit', 'PATCH /scheduled_messages/99999', { content: 'x' }, { status: 404 }),
    refused('an unknown one to delete', 'DELETE /scheduled_messages/99999', {}, { status: 404 }),
  ])

  test('of others cannot be edited or deleted', async () => {
    const { scheduled_message_id: id } = await ok(amy, 'POST /scheduled_messages', message())
    assert.equal((await ask(bob, `PATCH /scheduled_messages/${id}`, { content: 'x' })).status, 404)
    assert.equal((await ask(bob, `DELETE /scheduled_messages/${id}`)).status, 404)
  })
}
