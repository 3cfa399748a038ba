// Outgoing webhooks: what the server of a bot is sent, what its answer leads to, and what is remembered of it.

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { bots } from '../../../daemon/api/bots/bots.ts'
import { webhooks as api } from '../../../daemon/api/bots/webhooks.ts'
import { channels } from '../../../daemon/api/channels/channels.ts'
import { subscriptions } from '../../../daemon/api/channels/subscriptions.ts'
import { messages } from '../../../daemon/api/messages/messages.ts'
import { users } from '../../../daemon/api/people/users.ts'
import { settle as settledFacts } from '../../../daemon/domain/bots/webhooks/settle.ts'
import { BotServer, json } from '../../support/bot-server.ts'
import { Control } from '../../support/control.ts'
import { Caller, host, launch, sharedDaemon, startDaemon, type TestDaemon } from '../../support/daemon.ts'
import { DomainWorld } from '../../support/domain-world.ts'
import { until } from '../../support/until.ts'
import { fetched, listen, person } from '../../support/world.ts'

const server = new BotServer()
before(() => server.listen())
after(() => server.close())

let daemon: TestDaemon
let amy: Caller
let bob: Caller
let guest: Caller
let echo: Caller
sharedDaemon({ flags: ['--webhook-timeout', '60'] }, async started => {
  daemon = started
  amy = await person(daemon, 'amy')
  bob = await person(daemon, 'bob')
  guest = await person(daemon, 'guest', { role: 600 })
  await amy.call(subscriptions.subscribe, { subscriptions: [{ name: 'garden' }] })
  echo = await botOf(daemon, amy, 'echo')
})

async function botOf(on: TestDaemon, owner: Caller, short_name: string, more: object = {}): Promise<Caller> {
  const { user_id, api_key } = await owner.call(bots.create, {
    full_name: short_name,
    short_name,
    bot_type: 3,
    payload_url: server.url,
    ...more,
  })
  return new Caller(on.url, `${short_name}-bot@example.com`, api_key, user_id)
}

function toGarden(caller: Caller, content: string, topic = 'beans') {
  return caller.call(messages.send, { type: 'channel', to: 'garden', topic, content })
}

function direct(caller: Caller, to: readonly number[], content: string) {
  return caller.call(messages.send, { type: 'direct', to: [...to], content })
}

async function latest(caller: Caller, narrow: object[] = []): Promise<Record<string, any>> {
  const read = await caller.call(messages.list, {
    anchor: 'newest',
    num_before: 1,
    num_after: 0,
    narrow: narrow as never,
    apply_markdown: false,
  })
  return read.messages.at(-1)!
}

/** Nothing is tried again by itself. */
function frozen(time: string): string[] {
  return ['--clock', `frozen@2030-01-01T${time}Z`]
}

/** The newest delivery, once nothing waits any more. */
async function settled(caller: Caller = amy) {
  return until(async () => {
    const { deliveries } = await caller.call(api.log, {})
    return deliveries.every(({ status }) => status !== 'waiting') && deliveries[0]
  })
}

describe('POST /svc-outgoing-webhook', () => {
  test('a mention in a channel is sent with all fields; the content of the answer is posted there', async () => {
    server.answer = json({ content: 'At *your* service' })
    const { id } = await toGarden(amy, 'hello @**echo**, how are you?')
    const delivery = await settled()
    const { headers, body } = server.received.at(-1)!
    assert.match(headers['user-agent']!, /^NatterOutgoingWebhook\//)
    const { message, ...rest } = body
    assert.deepEqual(rest, {
      bot_email: 'echo-bot@example.com',
      bot_full_name: 'echo',
      data: 'hello @**echo**, how are you?',
      trigger: 'mention',
      token: rest.token,
    })
    const { realm_bots } = await fetched(amy, ['realm_bot'])
    assert.equal(rest.token, realm_bots[0].services[0].token)
    const { rendered_content, content, avatar_url, ...shown } = message
    assert.equal(content, rest.data)
    assert.match(rendered_content, /<span class="user-mention"/)
    assert.match(avatar_url, /^https:/)
    assert.deepEqual(shown, {
      id,
      type: 'stream',
      stream_id: shown.stream_id,
      subject: 'beans',
      content_type: 'text/x-markdown',
      display_recipient: 'garden',
      recipient_id: shown.recipient_id,
      sender_id: amy.id,
      sender_email: 'amy@example.com',
      sender_full_name: 'amy example',
      sender_realm_str: '',
      client: shown.client,
      is_me_message: false,
      timestamp: shown.timestamp,
      reactions: [],
      submessages: [],
      topic_links: [],
    })
    const reply = await latest(amy)
    assert.deepEqual(
      [reply.sender_id, reply.content, reply.subject, reply.display_recipient, reply.client],
      [echo.id, 'At *your* service', 'beans', 'garden', 'OutgoingWebhookResponse'],
    )
    assert.deepEqual([delivery.status, delivery.http_status, delivery.attempts], ['delivered', 200, 1])
  })

  test('a direct message calls every bot in it; the reply goes to all participants; the bot has read it', async () => {
    server.answer = json({ response_string: 'older words', content: 'newer words' })
    const { id } = await direct(amy, [bob.id, echo.id], 'anyone?')
    await settled()
    const { body } = server.received.at(-1)!
    assert.deepEqual([body.trigger, body.message.type, body.message.subject], ['direct_message', 'private', ''])
    assert.deepEqual(
      body.message.display_recipient.map((user: { id: number }) => user.id).sort(),
      [amy.id, bob.id, echo.id].sort(),
    )
    const reply = await latest(bob)
    assert.deepEqual([reply.content, reply.display_recipient.length], ['older words', 3])
    const read = await echo.call(messages.get, { message_id: id })
    assert.ok(read.message.flags!.includes('read'))
  })

  test('response_not_required, the empty string, other objects and blank content post nothing', async () => {
    for (const answer of [{ response_not_required: true, content: 'no' }, '', { else: 1 }, { content: ' \n' }]) {
      server.answer = json(answer)
      const { id } = await direct(amy, [echo.id], 'quiet, please')
      assert.equal((await settled()).status, 'delivered')
      assert.equal((await latest(amy)).id, id, JSON.stringify(answer))
    }
  })

  test('silent mentions, mentions in code or quotes, wildcards, edits and other bots call no one', async () => {
    const called = async () => (await amy.call(api.log, {})).deliveries[0]?.id
    const before = await called()
    const other = await botOf(daemon, amy, 'other')
    await toGarden(amy, '@_**echo** `@**echo**` @**all**\n\n> @**echo**')
    await direct(other, [echo.id], 'bot to bot')
    const { id } = await toGarden(amy, 'plain')
    await amy.call(messages.update, { message_id: id, content: 'now @**echo**' })
    assert.equal(await called(), before)
  })

  test('the empty topic is sent as the empty string', async () => {
    server.answer = json({})
    await toGarden(amy, '@**echo**', '')
    await settled()
    assert.equal(server.received.at(-1)!.body.message.subject, '')
  })

  test('the Slack-compatible interface gets a form and answers with text; direct messages fail', async () => {
    server.answer = json({ text: 'slack words' })
    const slack = await botOf(daemon, amy, 'slack', { interface_type: 2 })
    const { id } = await toGarden(amy, 'say @**slack**')
    await settled()
    const form = Object.fromEntries(new URLSearchParams(server.received.at(-1)!.text))
    const { token, timestamp, thread_ts, channel_id, team_domain, ...rest } = form
    assert.deepEqual(rest, {
      team_id: 'T1',
      channel_name: 'garden',
      user_id: `U${amy.id}`,
      user_name: 'amy example',
      text: 'say @**slack**',
      trigger_word: 'mention',
      service_id: String(slack.id),
    })
    assert.match(channel_id!, /^C\d+$/)
    assert.ok(token && timestamp === thread_ts && team_domain && id)
    assert.equal((await latest(amy)).content, 'slack words')
    const calls = server.received.length
    await direct(amy, [slack.id], 'psst')
    assert.equal((await settled()).status, 'failed')
    assert.equal(server.received.length, calls)
  })

  test('an error status, a redirect, no JSON, a list and too much of an answer fail at once, and are told', async () => {
    const cases: [BotServer['answer'], RegExp][] = [
      [json({ oops: true }, 500), /status 500/],
      [response => response.writeHead(302, { location: server.url }).end(), /redirects are not followed/],
      [response => response.end('not ``` JSON'), /did not answer with JSON/],
      [json([1]), /not an object/],
      [json({ content: 'a\0b' }), /cannot be stored/],
      [response => response.end('{"content":"\\ud800"}'), /cannot be stored/],
      [response => response.writeHead(407).end(), /status 407, which means that the daemon may not reach this network/],
      [response => response.end('x'.repeat(2 * 1024 * 1024)), /larger than 1 MiB/],
      [json({ content: '@*role:owners* '.repeat(5), widget_content: '{' }), /could not be posted/],
    ]
    for (const [answer, reason] of cases) {
      server.answer = answer
      const { id } = await toGarden(amy, '@**echo** fail')
      const delivery = await settled()
      assert.deepEqual([delivery.status, delivery.attempts], ['failed', 1])
      assert.match(delivery.error!, reason)
      const here = await latest(amy, [{ operator: 'channel', operand: 'garden' }])
      assert.deepEqual([here.content.slice(0, 8), here.sender_id], ['Failure!', echo.id])
      const owner = await latest(amy, [{ operator: 'dm', operand: [echo.id] }])
      assert.ok(owner.content.startsWith(`[A message](${amy.url}/#narrow/`), owner.content)
      assert.ok(owner.content.includes(`/near/${id}) to your bot @_**echo** triggered an outgoing webhook.\n`))
    }
  })

  test('an answer that cannot be used is an attempt like any other, and is not asked for again', async () => {
    const deep = `{"content":${'['.repeat(200_000)}1${']'.repeat(200_000)}}`
    const calls = server.received.length
    server.answer = response => response.end(deep)
    await direct(amy, [echo.id], 'deep')
    const { status, attempts, error } = await settled()
    assert.deepEqual([status, attempts], ['failed', 1])
    assert.match(error!, /nested at most 16 levels/)
    server.answer = json({ widget_content: { a: 'x'.repeat(20_000) } })
    await direct(amy, [echo.id], 'wide')
    assert.match((await settled()).error!, /at most 10000 characters/)
    assert.equal(server.received.length, calls + 2)
  })

  test('a server that does not answer is asked again; the daemon answers others meanwhile', async t => {
    const hurried = await startDaemon(t, { flags: ['--webhook-timeout', '3', '--control', ...frozen('00:00:00')] })
    const { owner } = hurried
    const bot = await botOf(hurried, owner, 'slow')
    let calls = 0
    server.answer = (response, received) => {
      if (++calls > 1) json({ content: 'at last' })(response, received)
    }
    await direct(owner, [bot.id], 'slow?')
    await until(() => calls > 0)
    const log = async () => (await owner.call(api.log, { bot_id: bot.id, status: 'waiting' })).deliveries
    assert.equal((await log()).length, 1)
    await until(async () => (await log())[0]?.attempts === 1)
    await new Control(hurried).advance('1s')
    const delivery = await settled(owner)
    assert.deepEqual([delivery.status, delivery.attempts, delivery.error], ['delivered', 2, null])
    assert.equal((await latest(owner)).content, 'at last')
  })

  test('a generic bot mentioned where it is not subscribed hears of the message', async () => {
    const { user_id, api_key } = await amy.call(bots.create, { full_name: 'ears', short_name: 'ears' })
    const ears = new Caller(daemon.url, 'ears-bot@example.com', api_key, user_id)
    const heard = await listen(ears, ['message'])
    await toGarden(amy, 'hear, @**ears**')
    assert.deepEqual(
      (await heard()).map(event => event.flags),
      [['mentioned']],
    )
  })
})

describe('GET /webhook_deliveries', () => {
  test('shows owners the deliveries of their bots, administrators all, others none', async () => {
    server.answer = json({})
    await direct(amy, [echo.id], 'log this')
    const mine = await settled()
    const all = await daemon.owner.call(api.log, { bot_id: echo.id })
    assert.equal(all.deliveries[0]!.id, mine.id)
    assert.deepEqual((await bob.call(api.log, {})).deliveries, [])
    await bob.refused(api.log, { bot_id: echo.id }, 'BAD_REQUEST')
    await guest.refused(api.log, {}, 'BAD_REQUEST')
  })
})

describe('POST /webhook_deliveries/{delivery_id}/redeliver', () => {
  test('sends the message once more, as a new delivery', async () => {
    server.answer = json({ content: 'again' })
    const calls = server.received.length
    await direct(amy, [echo.id], 'once more')
    const first = await settled()
    const { delivery_id } = await amy.call(api.redeliver, { delivery_id: first.id })
    const second = await settled()
    assert.deepEqual([second.id, second.message_id, second.status], [delivery_id, first.message_id, 'delivered'])
    assert.equal(server.received.length, calls + 2)
    assert.deepEqual(server.received.at(-1)!.body, server.received.at(-2)!.body)
  })

  test('other people’s deliveries and unknown ones look alike; a message that is gone cannot be sent', async () => {
    const delivery = await settled()
    await bob.refused(api.redeliver, { delivery_id: delivery.id }, 'BAD_REQUEST')
    await amy.refused(api.redeliver, { delivery_id: 9999 }, 'BAD_REQUEST')
    await amy.call(messages.delete, { message_id: delivery.message_id })
    await amy.refused(api.redeliver, { delivery_id: delivery.id }, 'BAD_REQUEST')
  })

  test('a message that the bot or its owner can no longer read cannot be sent', async () => {
    server.answer = json({ content: '' })
    const { id } = await toGarden(amy, '@**echo** read this')
    const delivery = await settled()
    assert.equal(delivery.message_id, id)
    await bob.call(channels.create, { name: 'bobs', subscribers: [bob.id, daemon.owner.id], invite_only: true })
    const { stream_id } = await daemon.owner.call(channels.id, { stream: 'bobs' })
    await daemon.owner.call(messages.update, { message_id: id, stream_id })
    const calls = server.received.length
    await amy.refused(api.redeliver, { delivery_id: delivery.id }, 'BAD_REQUEST')
    assert.equal(server.received.length, calls)
  })

  test('a deactivated bot is called no more', async () => {
    const gone = await botOf(daemon, amy, 'gone')
    await direct(amy, [gone.id], 'hello')
    const { id } = await settled()
    await amy.call(bots.deactivate, { bot_id: gone.id })
    await amy.refused(api.redeliver, { delivery_id: id }, 'BAD_REQUEST')
  })
})

describe('retries', () => {
  test('survive kill -9: what was not delivered is delivered after the next start, once', async () => {
    const data = mkdtempSync(join(tmpdir(), 'natter-webhooks-'))
    const sleepy = new BotServer()
    sleepy.answer = response => response.destroy()
    await sleepy.listen()
    const first = await launch(data, { flags: frozen('00:00:00') })
    const bot = await botOf(first, first.owner, 'sleepy', { payload_url: sleepy.url })
    await direct(first.owner, [bot.id], 'are you there?')
    await until(() => sleepy.received.length > 0)
    await first.kill()
    const before = sleepy.received.length
    sleepy.answer = json({ content: 'now I am' })
    const second = await host(data, { flags: frozen('00:01:00') })
    try {
      const owner = new Caller(second.url, first.owner.email, first.owner.key, first.owner.id)
      const delivery = await settled(owner)
      assert.equal(delivery.status, 'delivered')
      assert.ok(delivery.attempts >= 1)
      assert.equal(sleepy.received.length, before + 1)
      assert.equal((await latest(owner)).content, 'now I am')
      await second.stop()
    } finally {
      await second.discard()
      await sleepy.close()
      rmSync(data, { recursive: true, force: true })
    }
  })
})

describe('attempts', () => {
  test('are four, ever further apart; then everyone is told that the bot is unavailable', () => {
    const world = new DomainWorld()
    const owner = world.account('amy')
    const service = { url: 'https://bots.example.com', interface: 1 } as const
    world.state.users.put({
      ...world.account('robot'),
      bot: { type: 3, ownerId: owner.id, system: false, service },
    })
    const robot = [...world.state.users.values()].at(-1)!
    world.run(owner, 'send-message', { type: 'direct', to: [robot.id], content: 'hello' })
    const pauses: number[] = []
    const waiting = () => world.state.webhookDeliveries.find('waiting', 1)
    for (let row = waiting(); row; row = waiting()) {
      const facts = settledFacts(world.context(owner), row, { kind: 'unreachable', reason: 'no route' })
      world.take(facts)
      const { due } = world.state.webhookDeliveries.get(row.id)!
      if (due !== null) pauses.push(due - world.now)
    }
    assert.deepEqual(pauses, [1000, 5000, 25_000])
    const { status, attempts, error } = [...world.state.webhookDeliveries.values()][0]!
    assert.deepEqual([status, attempts, error], ['failed', 4, 'no route'])
    const told = world.heard(owner).filter(event => event.type === 'message')
    assert.deepEqual(
      told.map(event => event.message.content.split(/[!(]/)[0]),
      ['hello', 'Failure', '[A message]'],
    )
  })
})

describe('targets', () => {
  test('a name is refused if any of its addresses is', async t => {
    const open = await startDaemon(t, { flags: ['--host', '0.0.0.0', '--no-rate-limit'] })
    const url = server.url.replace('127.0.0.1', 'localhost')
    const bot = await botOf(open, open.owner, 'inner', { payload_url: url })
    const calls = server.received.length
    await direct(open.owner, [bot.id], 'hello')
    const delivery = await settled(open.owner)
    assert.equal(delivery.status, 'failed')
    assert.match(delivery.error!, /this machine/)
    assert.equal(server.received.length, calls)
    await open.owner.call(users.me, {})
  })
})
