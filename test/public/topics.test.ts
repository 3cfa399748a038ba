// Topics, as clients of the public server know them: deleting them, listing them, and how each user sees them.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type Caller, sharedDaemon } from '../support/daemon.ts'
import { listen, person } from '../support/world.ts'
import { assertHas, type Case, cases, type Fields, ok } from './support/cases.ts'

let amy: Caller
let bob: Caller
let owner: Caller

describe('topics', () => {
  sharedDaemon({ flags: ['--memory'] }, async daemon => {
    owner = daemon.owner
    amy = await person(daemon, 'amy')
    bob = await person(daemon, 'bob')
  })
  describe('POST /streams/{stream_id}/delete_topic', deleting)
  describe('POST /user_topics', policy)
  describe('links to topics', links)
})

async function channel(name: string, subscribers: Caller[], more: object = {}): Promise<number> {
  const people = subscribers.map(({ id }) => id)
  return (await ok(owner, 'POST /channels/create', { name, subscribers: people, ...more })).id
}

async function say(from: Caller, to: number, topic: string, content = 'hello'): Promise<number> {
  return (await ok(from, 'POST /messages', { type: 'channel', to, topic, content })).id
}

async function topics(caller: Caller, id: number): Promise<string[]> {
  const listed = (await ok(caller, `GET /users/me/${id}/topics`, { allow_empty_topic_name: true })).topics
  return listed.map(({ name }: { name: string }) => name).filter((name: string) => name !== 'channel events')
}

async function policies(caller: Caller, id: number): Promise<unknown[]> {
  const { user_topics } = await ok(caller, 'POST /register', { event_types: ['user_topic'] })
  const here = user_topics.filter((row: { stream_id: number }) => row.stream_id === id)
  return here.map((row: Record<string, unknown>) => [row.topic_name, row.visibility_policy])
}

function deleting(): void {
  test('deletes only what the caller can read, and keeps the policies of users who still have messages', async () => {
    const closed = await channel('closed', [owner, amy], { invite_only: true, history_public_to_subscribers: false })
    const before = await say(amy, closed, 'plans', 'before')
    await ok(owner, 'POST /users/me/subscriptions', { subscriptions: [{ name: 'closed' }], principals: [bob.id] })
    await ok(owner, 'DELETE /users/me/subscriptions', { subscriptions: ['closed'] })
    await say(amy, closed, 'plans', 'without the owner')
    await ok(amy, 'POST /users/me/subscriptions', { subscriptions: [{ name: 'closed' }], principals: [owner.id] })
    const after = await say(amy, closed, 'Plans', 'for all')
    await ok(amy, 'POST /user_topics', { stream_id: closed, topic: 'plans', visibility_policy: 3 })
    await ok(owner, 'POST /user_topics', { stream_id: closed, topic: 'plans', visibility_policy: 1 })
    const heard = await listen(amy, ['delete_message', 'user_topic'], { client_capabilities: capable })
    assert.deepEqual((await ok(owner, `POST /streams/${closed}/delete_topic`, { topic_name: 'plans' })).complete, true)
    const events = await heard()
    assert.deepEqual(
      events.map(({ type, message_ids }) => [type, message_ids]),
      [['delete_message', [before, after]]],
    )
    const { messages } = await ok(amy, 'GET /messages', {
      anchor: 'newest',
      num_before: 9,
      num_after: 0,
      narrow: [['topic', 'plans']],
    })
    assert.deepEqual(
      messages.map((m: { content: string }) => m.content),
      ['<p>without the owner</p>'],
    )
    assert.deepEqual(await policies(amy, closed), [['plans', 3]])
    assert.deepEqual(await policies(owner, closed), [])
  })

  test('deletes a long topic at once, newest first, a hundred messages an event', async () => {
    const open = await channel('long', [owner, amy])
    const ids: number[] = []
    for (let i = 0; i < 205; i++) ids.push(await say(amy, open, 'talk'))
    const heard = await listen(amy, ['delete_message'], { client_capabilities: capable })
    assert.equal((await ok(owner, `POST /streams/${open}/delete_topic`, { topic_name: 'talk' })).complete, true)
    assert.deepEqual(
      (await heard()).map(event => event.message_ids),
      [ids.slice(105), ids.slice(5, 105), ids.slice(0, 5)],
    )
    assert.deepEqual(await topics(amy, open), [])
  })

  test('clears everyone’s policies in a channel with shared history', async () => {
    const open = await channel('shared', [owner, amy])
    await say(amy, open, 'tea')
    await ok(amy, 'POST /user_topics', { stream_id: open, topic: 'tea', visibility_policy: 1 })
    const heard = await listen(amy, ['user_topic'])
    await ok(owner, `POST /streams/${open}/delete_topic`, { topic_name: 'TEA' })
    assert.deepEqual(
      (await heard()).map(event => event.visibility_policy),
      [0],
    )
    assert.deepEqual(await policies(amy, open), [])
  })

  test('reads the name of the empty topic', async () => {
    const open = await channel('empty', [owner, amy])
    await say(amy, open, '')
    await ok(owner, `POST /streams/${open}/delete_topic`, { topic_name: 'general chat' })
    assert.deepEqual(await topics(amy, open), [])
  })

  test('a topic that does not exist is complete at once', async () => {
    const open = await channel('bare', [owner])
    assert.equal((await ok(owner, `POST /streams/${open}/delete_topic`, { topic_name: 'none' })).complete, true)
  })

  cases([
    ['refuses members', () => amy, 'POST /streams/1/delete_topic', { topic_name: 'x' }, { status: 400 }],
    [
      'refuses an unknown channel',
      () => owner,
      'POST /streams/99999/delete_topic',
      { topic_name: 'x' },
      { status: 400, code: 'BAD_REQUEST' },
    ],
    [
      'needs a topic',
      () => owner,
      'POST /streams/1/delete_topic',
      {},
      { status: 400, code: 'REQUEST_VARIABLE_MISSING' },
    ],
  ])
}

function policy(): void {
  let place: number
  const set = (topic: string, visibility_policy: number) =>
    ok(amy, 'POST /user_topics', { stream_id: place, topic, visibility_policy })

  test('every policy is told and listed; the same one again is not', async () => {
    place = await channel('policies', [owner, amy])
    for (const visibility_policy of [1, 2, 3]) {
      const heard = await listen(amy, ['user_topic'])
      await set('Tea', visibility_policy)
      await set('tea', visibility_policy)
      assertHas(await heard(), [
        { stream_id: place, visibility_policy, topic_name: (name: string) => /^tea$/i.test(name) },
      ])
      assert.deepEqual((await policies(amy, place)).length, 1)
    }
    await set('TEA', 0)
    assert.deepEqual(await policies(amy, place), [])
  })

  test('older clients hear of muted topics', async () => {
    const heard = await listen(amy, ['muted_topics'])
    await set('noise', 1)
    assertHas(await heard(), [{ muted_topics: [['policies', 'noise', (time: number) => time > 0]] }])
    await ok(amy, 'PATCH /users/me/subscriptions/muted_topics', { stream_id: place, topic: 'noise', op: 'remove' })
    assertHas(await heard(), [{ muted_topics: [] }])
  })

  const refused = (title: string, line: string, fields: () => object, answer: object = {}): Case => [
    title,
    () => amy,
    line,
    fields as () => Fields,
    { status: 400, code: 'BAD_REQUEST', ...answer },
  ]
  cases([
    refused('an unknown policy', 'POST /user_topics', () => ({ stream_id: place, topic: 'x', visibility_policy: 4 })),
    refused('an unknown channel', 'POST /user_topics', () => ({ stream_id: 99_999, topic: 'x', visibility_policy: 1 })),
    refused('an unknown channel to clear', 'POST /user_topics', () => ({
      stream_id: 99_999,
      topic: 'x',
      visibility_policy: 0,
    })),
    refused('61 characters', 'POST /user_topics', () => ({
      stream_id: place,
      topic: 'x'.repeat(61),
      visibility_policy: 1,
    })),
    [
      'a topic that was never set is cleared without a word',
      () => amy,
      'POST /user_topics',
      () => ({ stream_id: place, topic: 'x', visibility_policy: 0 }),
      {},
    ],
    refused(
      'a channel by ID and by name',
      'PATCH /users/me/subscriptions/muted_topics',
      () => ({ stream_id: place, stream: 'policies', topic: 'x', op: 'add' }),
      { parameters: 'stream_id, stream' },
    ),
    refused('no channel', 'PATCH /users/me/subscriptions/muted_topics', () => ({ topic: 'x', op: 'add' })),
    refused('an unknown op', 'PATCH /users/me/subscriptions/muted_topics', () => ({
      stream_id: place,
      topic: 'x',
      op: 'toggle',
    })),
  ])
}

function links(): void {
  test('in a channel’s description end with the newest message of the topic', async () => {
    const place = await channel('linked', [owner, amy])
    const id = await say(amy, place, 'tea')
    await ok(owner, `PATCH /streams/${place}`, { description: 'see #**linked>tea** and #**linked>none**' })
    const { streams } = await ok(amy, 'GET /streams')
    const { rendered_description: html } = streams.find((one: Fields) => one.stream_id === place)
    assert.match(html, new RegExp(`/topic/tea/with/${id}">#linked &gt; tea</a>`))
    assert.match(html, /\/topic\/none">#linked &gt; none<\/a>/)
  })

  test('in a message end with the newest message that its author can see', async () => {
    const place = await channel('linking', [owner, amy])
    const first = await say(amy, place, 'tea')
    const id = await say(amy, place, 'other', '#**linking>tea**')
    assert.match((await ok(amy, `GET /messages/${id}`)).message.content, new RegExp(`/topic/tea/with/${first}"`))
  })
}

const capable = { notification_settings_null: true, bulk_message_deletion: true, empty_topic_name: true }
