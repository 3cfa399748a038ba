import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { bots } from '../../daemon/api/bots/bots.ts'
import { channels } from '../../daemon/api/channels/channels.ts'
import { subscriptions } from '../../daemon/api/channels/subscriptions.ts'
import { topics } from '../../daemon/api/channels/topics.ts'
import { events } from '../../daemon/api/events.ts'
import { messages } from '../../daemon/api/messages/messages.ts'
import { mutedUsers } from '../../daemon/api/people/muted-users.ts'
import { users } from '../../daemon/api/people/users.ts'
import { Control } from '../support/control.ts'
import { Caller, host, newStoreFolder, sharedDaemon, type TestDaemon } from '../support/daemon.ts'

async function callerOf(daemon: TestDaemon, name: string): Promise<Caller> {
  const { account } = await new Control(daemon).call('GET', `/accounts/${name}`)
  return new Caller(daemon.url, account.email, account.api_key, account.user_id)
}

async function say(caller: Caller, to: string, topic = 'why'): Promise<number> {
  return (await caller.call(messages.send, { type: 'stream', to, topic, content: 'hello' })).id
}

function step(reply: Record<string, any>, name: string): { ok: boolean | null; says: string; law?: string } {
  const found = reply.steps.find((item: any) => item.step === name)
  assert.ok(found, `no step ${name} in ${JSON.stringify(reply.steps)}`)
  return found
}

describe('GET /why', () => {
  const daemon = sharedDaemon({ flags: ['--memory', '--preset', 'dev'] })
  const control = () => new Control(daemon())
  const as = (name: string) => callerOf(daemon(), name)
  const why = (message: number, user: string) => control().call('GET', `/why?message=${message}&user=${user}`)

  async function register(caller: Caller, params = {}): Promise<string> {
    return (await caller.call(events.register, params)).queue_id!
  }

  test('follows an event from the queue to its acknowledgement', async () => {
    const amy = await as('amy')
    const queue_id = await register(amy, { event_types: ['message'] })
    const id = await say(daemon().owner, 'general')
    const waiting = await why(id, 'amy')
    assert.equal(waiting.received, true)
    assert.equal(waiting.complete, true)
    assert.equal(step(waiting, 'delivery').ok, false)
    const [event] = (await amy.call(events.get, { queue_id, last_event_id: -1 })).events
    const delivered = await why(id, 'amy')
    assert.equal(step(delivered, 'delivery').ok, true)
    assert.equal(step(delivered, 'acknowledgement').ok, false)
    await amy.call(events.get, { queue_id, last_event_id: event!.id as number, dont_block: true })
    const acknowledged = await why(id, 'amy')
    assert.equal(step(acknowledged, 'acknowledgement').ok, true)
    assert.equal(acknowledged.summary, `amy@example.com received message ${id}, and acknowledged it.`)
    await amy.call(events.delete, { queue_id })
    const ended = await why(id, 'amy')
    assert.equal(step(ended, 'acknowledgement').ok, true)
    assert.equal(ended.queues[0].ended, 'deleted')
  })

  test('says that an account was not subscribed at that time, although it is now', async () => {
    const [bob, guy] = [await as('bob'), await as('guy')]
    await register(guy)
    const id = await say(bob, 'random')
    const principals = [guy.id]
    await bob.call(subscriptions.subscribe, { subscriptions: [{ name: 'random' }], principals })
    const reply = await why(id, 'guy')
    assert.equal(reply.received, false)
    assert.equal(step(reply, 'access').ok, false)
    assert.match(step(reply, 'access').law!, /^Everyone has access to the content of a web-public channel/)
    assert.equal(step(reply, 'subscription').ok, false)
    assert.match(reply.summary, /^guy@example.com did not receive message \d+: guy@example.com had no access/)
    assert.equal((await why(await say(bob, 'random'), 'guy')).received, true)
  })

  test('names the event types and the narrow that a queue asked for', async () => {
    const cat = await as('cat')
    const typing = await register(cat, { event_types: ['typing'] })
    const id = await say(daemon().owner, 'general')
    const reply = await why(id, 'cat')
    assert.equal(step(reply, 'event type').ok, false)
    assert.match(reply.summary, /asks for typing\.$/)
    await cat.call(events.delete, { queue_id: typing })
    const narrowed = await register(cat, { narrow: [['channel', 'random']] })
    const passed = await why(await say(daemon().owner, 'general'), 'cat')
    assert.equal(step(passed, 'narrow').ok, false)
    assert.match(step(passed, 'narrow').says, /\[\["channel","random"\]\]: it does not take the message/)
    assert.equal((await why(await say(await as('bob'), 'random'), 'cat')).received, true)
    await cat.call(events.delete, { queue_id: narrowed })
  })

  test('explains every queue of the account, and names the client of each', async () => {
    const cat = await as('cat')
    const agent = { 'User-Agent': 'CatBot/1.0' }
    const typing = (await cat.try(events.register, { event_types: ['typing'] }, agent)).body.queue_id
    const all = await register(cat)
    const reply = await why(await say(daemon().owner, 'general'), 'cat')
    assert.equal(reply.received, true)
    assert.deepEqual(
      reply.steps.filter(({ step }: any) => step === 'event type').map(({ ok }: any) => ok),
      [true, false],
    )
    assert.match(JSON.stringify(reply.steps), /of CatBot asks for typing/)
    assert.deepEqual(
      reply.queues.map(({ queue_id, client }: any) => [queue_id, client === 'CatBot']),
      [
        [all, false],
        [typing, true],
      ],
    )
    for (const queue_id of [typing as string, all]) await cat.call(events.delete, { queue_id })
  })

  test('says of a bot whether the message mentions it', async () => {
    const bot = await as('echo-bot')
    await bot.call(subscriptions.subscribe, { subscriptions: [{ name: 'general' }] })
    await register(bot)
    const passed = await why(await say(daemon().owner, 'general'), 'echo-bot')
    assert.equal(step(passed, 'mention').ok, null)
    assert.match(
      passed.summary,
      /received message \d+\. .* does not mention echo-bot@example\.com: natter bot run and runBot/,
    )
    const mention = { type: 'stream', to: 'general', topic: 'why', content: '@**Echo Bot** hello' } as const
    const called = await why((await daemon().owner.call(messages.send, mention)).id, 'echo-bot')
    assert.equal(step(called, 'mention').ok, true)
    assert.doesNotMatch(called.summary, /mention/)
    const message_id = called.message_id
    await daemon().owner.call(messages.update, { message_id, content: 'hello' })
    assert.equal(step(await why(message_id, 'echo-bot'), 'mention').ok, true)
  })

  for (const [where, channel] of [
    ['a public channel', 'random'],
    ['a private channel', 'leads'],
  ] as const)
    test(`agrees with what a bot received that is mentioned in ${where} without a subscription`, async () => {
      const bot = await as('echo-bot')
      const queue_id = await register(bot, { event_types: ['message'] })
      const mention = { type: 'stream', to: channel, topic: 'why', content: '@**Echo Bot** hello' } as const
      const { id } = await (await as('ada')).call(messages.send, mention)
      const [event] = (await bot.call(events.get, { queue_id, last_event_id: -1 })).events
      assert.equal((event as any).message.id, id)
      const called = await why(id, 'echo-bot')
      assert.equal(called.received, true, JSON.stringify(called))
      assert.match(called.summary, /^echo-bot@example\.com received message \d+/)
      assert.doesNotMatch(JSON.stringify(called), /does not mention/)
      assert.match(step(called, 'subscription').says, /was not subscribed to ".*", but the message mentions the bot/)
      assert.equal(step(called, 'mention').ok, true)
      if (channel === 'leads') {
        assert.equal(step(called, 'access').ok, null)
        assert.match(step(called, 'access').says, /had no access .*"leads", but the message mentions the bot\.$/)
      }
      await bot.call(events.delete, { queue_id })
    })

  test('says that there was no queue, although there is one now', async () => {
    const mo = await as('mo')
    const id = await say(daemon().owner, 'general')
    const queue_id = await register(mo)
    const reply = await why(id, 'mo')
    assert.equal(reply.received, false)
    assert.equal(step(reply, 'queue').says, 'mo@example.com had no event queue when the message was sent.')
    await mo.call(events.delete, { queue_id })
  })

  test('remembers roles and accounts as they were: deactivated then, active now', async () => {
    const ada = await as('ada')
    const target = await as('deploy-bot')
    await daemon().owner.call(bots.deactivate, { bot_id: target.id })
    const id = await say(ada, 'general')
    await daemon().owner.call(users.reactivate, { user_id: target.id })
    assert.match((await why(id, 'deploy-bot')).summary, /the account of deploy-bot@example.com was deactivated\.$/)
  })

  test('notes what is muted, by the time of the message', async () => {
    const amy = await as('amy')
    const queue_id = await register(amy)
    const before = await say(await as('bob'), 'general')
    await amy.call(mutedUsers.mute, { muted_user_id: (await as('bob')).id })
    const after = await say(await as('bob'), 'general')
    assert.equal(step(await why(before, 'amy'), 'mute').ok, true)
    assert.match(step(await why(after, 'amy'), 'mute').says, /had muted the sender/)
    const { stream_id } = await amy.call(channels.id, { stream: 'general' })
    await amy.call(topics.follow, { stream_id, topic: 'loud', visibility_policy: 1 })
    assert.match(step(await why(await say(await as('cat'), 'general', 'loud'), 'amy'), 'mute').says, /muted the topic/)
    await amy.call(events.delete, { queue_id })
  })

  test('explains direct messages and messages that were deleted since', async () => {
    const [amy, cat] = [await as('amy'), await as('cat')]
    const queue_id = await register(cat)
    const { id } = await amy.call(messages.send, { type: 'direct', to: [cat.id], content: 'between us' })
    await daemon().owner.try(messages.delete, { message_id: id })
    assert.equal((await why(id, 'cat')).received, true)
    const other = await why(id, 'mo')
    assert.match(other.summary, /mo@example.com is not a participant in the direct conversation/)
    assert.match(step(other, 'access').law!, /^Members of a conversation/)
    await cat.call(events.delete, { queue_id })
  })

  test('names the trigger of an outgoing webhook and what became of it', async () => {
    const { user_id } = await daemon().owner.call(bots.create, {
      full_name: 'Caller',
      short_name: 'caller',
      bot_type: 3,
      payload_url: '"http://127.0.0.1:9/none"',
    })
    const silent = await why(await say(daemon().owner, 'general'), String(user_id))
    assert.equal(
      step(silent, 'trigger').says,
      'The outgoing webhook was not called: the message does not mention the bot.',
    )
    const { id } = await daemon().owner.call(messages.send, { type: 'direct', to: [user_id], content: 'ping' })
    await control().call('POST', '/webhooks/wait', { bot: user_id, within: 30 })
    const called = await why(id, String(user_id))
    assert.equal(step(called, 'trigger').says, 'The message is a direct message to the bot.')
    assert.match(step(called, 'webhook').says, /after 1 attempt/)
    assert.equal(called.webhooks[0].message_id, id)
  })

  test('reports that the log does not reach back', async () => {
    await control().call('POST', '/snapshots', { name: 'early' })
    const amy = await as('amy')
    const id = await say(amy, 'general')
    await control().call('POST', '/snapshots', { name: 'late' })
    await control().call('POST', '/snapshots/late/restore')
    const reply = await why(id, 'amy')
    assert.equal(reply.complete, false)
    assert.equal(reply.received, null)
    assert.match(reply.summary, /The log does not reach back to it/)
    assert.equal(step(reply, 'subscription').ok, true)
    await control().call('POST', '/snapshots/early/restore')
    assert.equal((await control().try('GET', `/why?message=${id}&user=amy`)).status, 404)
  })

  test('has a line for each account if none is named', async () => {
    const amy = await as('amy')
    const queue_id = await register(amy, { event_types: ['message'] })
    const id = await say(daemon().owner, 'general')
    const reply = await control().call('GET', `/why?message=${id}`)
    assert.match(reply.summary, new RegExp(`^\\d+ of \\d+ accounts received message ${id}\\.`))
    assert.deepEqual(
      [step(reply, 'amy@example.com').ok, step(reply, 'amy@example.com').says],
      [true, (await why(id, 'amy')).summary],
    )
    assert.equal(step(reply, 'bob@example.com').ok, false)
    assert.match(step(reply, 'bob@example.com').says, /had no event queue/)
    await amy.call(events.delete, { queue_id })
  })

  test('refuses what names nothing to explain', async () => {
    for (const [query, sentence] of [
      ['', 'message: required unless call is given'],
      ['?message=999999', 'message: there is no message with ID 999999'],
      ['?message=1&call=2', 'Give only one of call and message.'],
      ['?message=999999&user=amy', 'message: there is no message with ID 999999'],
      [
        '?message=1&user=nobody-like-this',
        'user: there is no account "nobody-like-this". The accounts are owner, ada, mo, amy, bob, cat, guy, echo-bot, deploy-bot, caller-bot.',
      ],
      ['?message=-1&user=amy', undefined],
      ['?call=99999999', 'call: there is no call with ID 99999999'],
    ] as const) {
      const { body } = await control().try('GET', `/why${query}`)
      assert.equal(body.result, 'error', query)
      if (sentence) assert.equal(body.msg, sentence)
    }
  })
})

describe('GET /why of a call', () => {
  const daemon = sharedDaemon({ flags: ['--memory', '--preset', 'dev'] })
  const control = () => new Control(daemon())

  async function lastCall(): Promise<Record<string, any>> {
    const { last_id } = await control().call('GET', '/requests')
    return control().call('GET', `/why?call=${last_id}`)
  }

  test('names the rule that spoke', async () => {
    const amy = await callerOf(daemon(), 'amy')
    const { stream_id } = await amy.call(channels.id, { stream: 'announcements' })
    const { msg } = await amy.refused(channels.archive, { stream_id }, 'BAD_REQUEST')
    const reply = await lastCall()
    const spoke = reply.steps.at(-1)
    assert.deepEqual([spoke.step, spoke.ok, spoke.rule], ['rule', false, 'archiveChannel'])
    assert.equal(spoke.law, 'Administrators of a channel may archive it.')
    assert.equal(reply.summary, `Call ${reply.call.id} was refused: ${msg}`)
  })

  test('tells what the answer hides: the channel exists, and which rule hides it', async () => {
    const amy = await callerOf(daemon(), 'amy')
    await amy.refused(channels.id, { stream: 'leads' }, 'BAD_REQUEST')
    const reply = await lastCall()
    assert.equal(step(reply, 'exists').says, 'The channel "leads" exists, but the rules hide it from the caller.')
    assert.equal(reply.steps.at(-1).rule, 'seeMetadata')
    await amy.refused(channels.id, { stream: 'nowhere' }, 'BAD_REQUEST')
    assert.equal((await lastCall()).steps.at(-1).rule, undefined)
  })

  test('names wrong parameters, missing accounts, faults and calls that were answered', async () => {
    const amy = await callerOf(daemon(), 'amy')
    await amy.try(messages.send, { type: 'stream', topic: 'x' })
    assert.equal((await lastCall()).steps.at(-1).step, 'parameters')
    await new Caller(daemon().url, 'amy@example.com', 'wrong').raw('GET', '/api/v1/users/me')
    const wrongKey = await lastCall()
    assert.equal(wrongKey.steps.at(-1).step, 'account')
    assert.equal(step(wrongKey, 'endpoint').says, 'GET /api/v1/users/me was refused before it was read.')
    assert.equal(step(wrongKey, 'reason').says, 'The API key is not that of amy@example.com.')
    await new Caller(daemon().url, 'emy@example.com', 'wrong').raw('GET', '/api/v1/users/me')
    assert.equal(step(await lastCall(), 'reason').says, 'There is no account "emy@example.com".')
    // The answer to a public client has another code.
    const headers = { 'User-Agent': 'ZulipPython/0.9.0 (Debian GNU/Linux; 12)' }
    await new Caller(daemon().url, 'amy@example.com', 'wrong').raw('GET', '/api/v1/users/me', { headers })
    assert.equal(step(await lastCall(), 'reason').says, 'The API key is not that of amy@example.com.')
    await amy.call(users.me, {})
    const fine = await lastCall()
    assert.equal(fine.summary, `Call ${fine.call.id} was answered with status 200.`)
    await control().call('POST', '/faults', { kind: 'status', status: 503, times: 1 })
    await amy.raw('GET', '/api/v1/users/me')
    assert.match(step(await lastCall(), 'fault').says, /status/)
  })
})

describe('GET /why after a restart', () => {
  test('the journal is enough: what was true then is read from it', async t => {
    const data = newStoreFolder()
    const flags = ['--preset', 'dev', '--control']
    const first = await host(data, { flags })
    const amy = await callerOf(first, 'amy')
    const id = await say(await callerOf(first, 'bob'), 'random')
    await amy.call(subscriptions.unsubscribe, { subscriptions: ['random'] })
    await first.stop()
    const second = await host(data, { flags })
    t.after(() => second.stop())
    const reply = await new Control(second).call('GET', `/why?message=${id}&user=amy`)
    assert.equal(step(reply, 'subscription').ok, true)
  })
})
