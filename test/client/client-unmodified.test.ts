// Unmodified clients of the API family against a daemon without flags: zulip-js, every method that maps to an endpoint we have.

import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { after, before, describe, test } from 'node:test'
import { type Natter, startNatter } from '../../daemon/testing/index.ts'
import { loadZulipJs } from '../support/zulip-js.ts'

type Params = Record<string, unknown>
type Reply = Promise<Record<string, any>>
type Method = (params?: any) => Reply
type ZulipJs = Record<string, Record<string, Method>> & {
  callEndpoint(path: string, method: string, params?: Params): Reply
  callOnEachEvent(callback: (event: Record<string, any>) => void, types: string[]): Promise<never>
  users: { retrieve: Method; create: Method; me: Record<string, any> }
  messages: Record<string, Method> & { flags: Record<string, Method> }
  streams: Record<string, Method> & { subscriptions: Record<string, Method>; topics: Record<string, Method> }
}

describe('zulip-js', () => {
  let zulip: (config: Params) => Promise<ZulipJs>
  let restore: () => void
  let natter: Natter
  let amy: ZulipJs
  const folder = mkdtempSync(join(tmpdir(), 'natter-zuliprc-'))

  before(async () => {
    ;({ zulip, restore } = loadZulipJs())
    natter = await startNatter({
      seed: { users: [{ name: 'pat', password: 'correct horse battery' }] },
    })
    const { email, apiKey } = natter.account('amy')
    const file = join(folder, 'zuliprc')
    writeFileSync(file, `[api]\nemail=${email}\nkey=${apiKey}\nsite=${natter.url}\n`, { mode: 0o600 })
    amy = await zulip({ zuliprc: file })
  })
  after(async () => {
    restore()
    await natter.stop()
    rmSync(folder, { recursive: true, force: true })
  })

  async function done(reply: Reply): Reply {
    const body = await reply
    assert.equal(body.result, 'success', JSON.stringify(body))
    return body
  }

  function send(content: string): Promise<number> {
    return done(amy.messages.send!({ type: 'stream', to: 'general', subject: 'js', content })).then(({ id }) => id)
  }

  test('logs in with a password: accounts.retrieve', async () => {
    const pat = await zulip({ realm: natter.url, username: 'pat@example.com', password: 'correct horse battery' })
    assert.equal((await done(pat.users.me.getProfile())).email, 'pat@example.com')
  })

  test('server.settings speaks of zulip_version', async () => {
    const { zulip_version, zulip_feature_level } = await done(amy.server!.settings!())
    assert.equal(typeof zulip_version, 'string')
    assert.equal(typeof zulip_feature_level, 'number')
  })

  test('users.retrieve, users.me.getProfile, users.create, users.me.alertWords.retrieve', async () => {
    const { members } = await done(amy.users.retrieve({ client_gravatar: true }))
    assert.ok(members.some(({ email }: { email: string }) => email === 'bob@example.com'))
    assert.equal((await done(amy.users.me.getProfile())).full_name, 'Amy Adams')
    const { email, apiKey } = natter.account('owner')
    const owner = await zulip({ realm: natter.url, username: email, apiKey })
    const zoe = { email: 'zoe@example.com', password: 'correct horse battery', full_name: 'Zoe' }
    assert.ok((await done(owner.users.create(zoe))).user_id > 0)
    assert.deepEqual((await done(amy.users.me.alertWords.retrieve())).alert_words, [])
  })

  test('streams.retrieve, getStreamId, subscriptions, topics, deleteById; users.me.subscriptions.add and remove', async () => {
    const { streams } = await done(amy.streams.retrieve!({ include_public: true }))
    const general = streams.find(({ name }: { name: string }) => name === 'general')
    for (const given of ['general', { stream: 'general' }])
      assert.equal((await done(amy.streams.getStreamId!(given))).stream_id, general.stream_id)
    assert.ok((await done(amy.streams.subscriptions.retrieve!())).subscriptions.length > 0)
    const { topics } = await done(amy.streams.topics.retrieve!({ stream_id: general.stream_id }))
    assert.ok(topics.some(({ name }: { name: string }) => name === 'hello'))
    const subscriptions = JSON.stringify([{ name: 'from js' }])
    await done(amy.users.me.subscriptions.add({ subscriptions }))
    await done(amy.users.me.subscriptions.remove({ subscriptions: JSON.stringify(['from js']) }))
    const { stream_id } = await done(amy.streams.getStreamId!('from js'))
    const { email, apiKey } = natter.account('owner')
    const owner = await zulip({ realm: natter.url, username: email, apiKey })
    await done(owner.streams.deleteById!({ stream_id }))
  })

  test('messages.send, retrieve, getById, update, getHistoryById, render, flags, deleteById', async () => {
    const id = await send('first')
    const narrow = [{ operator: 'stream', operand: 'general' }]
    const { messages } = await done(
      amy.messages.retrieve!({ anchor: 'newest', num_before: 1, num_after: 0, narrow, apply_markdown: false }),
    )
    assert.deepEqual([messages[0].id, messages[0].content, messages[0].subject], [id, 'first', 'js'])
    await done(amy.messages.update!({ message_id: id, content: 'second' }))
    assert.equal((await done(amy.messages.getById!({ message_id: id }))).raw_content, 'second')
    assert.equal((await done(amy.messages.getHistoryById!({ message_id: id }))).message_history.length, 2)
    for (const given of ['**x**', { content: '**x**' }])
      assert.match((await done(amy.messages.render!(given))).rendered, /<strong>x<\/strong>/)
    await done(amy.messages.flags.add!({ messages: [id], flag: 'starred' }))
    await done(amy.messages.flags.remove!({ messages: [id], flag: 'starred' }))
    const { email, apiKey } = natter.account('owner')
    const owner = await zulip({ realm: natter.url, username: email, apiKey })
    await done(owner.messages.deleteById!({ message_id: id }))
  })

  test('a direct message to addresses: type private', async () => {
    await done(amy.messages.send!({ type: 'private', to: ['bob@example.com'], content: 'psst' }))
    await natter.waitFor({ type: 'message', message: { content: 'psst' } }, { user: 'bob' })
  })

  test('reactions.add, reactions.remove, messages.deleteReactionById', async () => {
    const message_id = await send('react')
    await done(amy.reactions!.add!({ message_id, emoji_name: 'tada' }))
    await done(amy.reactions!.remove!({ message_id, emoji_name: 'tada' }))
    await done(amy.reactions!.add!({ message_id, emoji_name: 'tada' }))
    await done(amy.messages.deleteReactionById!({ message_id, emoji_name: 'tada' }))
  })

  test('typing.send and emojis.retrieve', async () => {
    const { userId } = natter.account('bob')
    const { userId: other } = natter.account('cat')
    await done(amy.typing!.send!({ to: [userId, other], op: 'start' }))
    await done(amy.typing!.send!({ to: [userId], op: 'stop' }))
    assert.deepEqual((await done(amy.emojis!.retrieve!())).emoji, {})
  })

  test('queues.register, events.retrieve, queues.deregister', async () => {
    const { queue_id, last_event_id, zulip_feature_level } = await done(
      amy.queues!.register!({ event_types: ['message'] }),
    )
    assert.deepEqual([last_event_id, typeof zulip_feature_level], [-1, 'number'])
    const id = await send('event')
    const { events } = await done(amy.events!.retrieve!({ queue_id, last_event_id, dont_block: true }))
    assert.deepEqual([events.length, events[0].id >= 0, events[0].message.id], [1, true, id])
    assert.ok(Array.isArray(events[0].flags))
    await done(amy.queues!.deregister!({ queue_id }))
  })

  test('callOnEachEvent hears of a message', async () => {
    // It never ends, so it runs in a process that does.
    const script = `require('zulip-js')({ zuliprc: process.argv[1] }).then(client =>
      client.callOnEachEvent(event => {
        if (event.type !== 'message') return
        console.log(event.message.content)
        process.exit(0)
      }, ['message']))`
    natter.forgetRequests()
    const child = spawn(process.execPath, ['-e', script, join(folder, 'zuliprc')], {
      cwd: join(import.meta.dirname, '../..'),
    })
    const output = text(child.stdout)
    await natter.waitForCall({ endpoint: 'register-queue', params: { event_types: ['message'] } }, { within: '1m' })
    // Its poll comes a moment after its queue; the queue keeps what is sent between.
    await natter.as('bob').messages.send({ type: 'channel', to: 'general', topic: 'js', content: 'for each' })
    assert.equal(await output, 'for each\n')
  })

  test('every method that the library has is called by one of these tests', async () => {
    const source = readFileSync(import.meta.filename, 'utf8')
    const methods = methodsOf(amy)
    assert.ok(methods.length > 30, methods.join(' '))
    // By login in the first of them.
    const uncalled = methods.filter(
      name => name !== 'accounts.retrieve' && !source.includes(`.${name.split('.').at(-1)}`),
    )
    assert.deepEqual(uncalled, [])
  })

  test('what the API no longer has is answered in JSON, not as a page', async () => {
    const { pointer } = amy.users.me
    for (const call of [pointer.retrieve(), pointer.update(1), amy.filters!.retrieve!()])
      assert.equal((await call).result, 'error')
    assert.equal((await amy.callEndpoint('/nothing', 'GET')).result, 'error')
    assert.equal((await amy.callEndpoint('/users/me', 'GET')).result, 'success')
  })
})

function methodsOf(part: object, at = ''): string[] {
  return Object.entries(part).flatMap(([name, value]) => {
    if (typeof value === 'function') return [at + name]
    return typeof value === 'object' && value !== null ? methodsOf(value, `${at}${name}.`) : []
  })
}
