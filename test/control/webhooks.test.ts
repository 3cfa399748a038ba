// `/webhooks`: deliveries of outgoing webhooks, and waits for them.

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { bots } from '../../daemon/api/bots/bots.ts'
import { messages } from '../../daemon/api/messages/messages.ts'
import { BotServer, json } from '../support/bot-server.ts'
import { Control } from '../support/control.ts'
import { sharedDaemon } from '../support/daemon.ts'

describe('/webhooks', () => {
  const server = new BotServer()
  before(() => server.listen())
  after(() => server.close())
  const daemon = sharedDaemon({ flags: ['--memory', '--preset', 'dev', '--clock', 'frozen@2030-01-01T00:00:00Z'] })
  const control = () => new Control(daemon())

  async function called(short_name: string, payload_url: string): Promise<{ bot: string; id: number }> {
    const { owner } = daemon()
    const bot = { full_name: short_name, short_name, bot_type: 3 as const, payload_url }
    const { user_id } = await owner.call(bots.create, bot)
    const { id } = await owner.call(messages.send, { type: 'direct', to: [user_id], content: `hello ${short_name}` })
    return { bot: `${short_name}-bot@example.com`, id }
  }

  test('lists deliveries with what was sent, the token hidden, and waits for them', async () => {
    server.answer = json({ content: 'hi' })
    const waiting = control().call('POST', '/wait', { webhook: { bot: '/^listed/', status: 'delivered' }, within: 60 })
    const { bot, id } = await called('listed', server.url)
    const { met, webhook } = await waiting
    assert.equal(met, true)
    const { request, id: deliveryId, bot_id, ...delivery } = webhook
    assert.deepEqual(delivery, {
      time: Date.UTC(2030, 0),
      bot,
      message_id: id,
      trigger: 'direct_message',
      status: 'delivered',
      attempts: 1,
      next_attempt: null,
      http_status: 200,
      error: null,
      response: '{"content":"hi"}',
    })
    assert.deepEqual([request.url, request.content_type], [server.url, 'application/json'])
    assert.deepEqual(request.body, { ...server.received.at(-1)!.body, token: '***' })
    for (const query of [
      `bot=${bot}`,
      'bot=listed-bot',
      `bot=${bot_id}&status=delivered`,
      `since=${deliveryId - 1}&limit=1`,
    ])
      assert.deepEqual((await control().call('GET', `/webhooks?${query}`)).deliveries, [webhook], query)
    assert.deepEqual((await control().call('GET', `/webhooks?bot=${bot}&status=failed`)).deliveries, [])
    assert.match((await control().try('GET', '/webhooks?bot=nobody')).body.msg, /^bot: there is no account "nobody"/)
    const near = await control().call('POST', '/wait', { webhook: { bot, status: 'failed' }, within: 0.05 })
    assert.deepEqual([near.met, near.near[0].differs], [false, ['status: wanted "failed", was "delivered"']])
  })

  test('a wait with a field that no delivery or call has, or a bot that does not exist, is refused at once', async () => {
    const refused = async (wanted: object) => {
      const { status, body } = await control().try('POST', '/wait', { ...wanted, within: 60 })
      assert.ok(status >= 400, JSON.stringify(body))
      return body.msg
    }
    await called('known', server.url)
    assert.equal(
      await refused({ webhook: { stauts: 'failed' } }),
      'webhook: has no field "stauts". Did you mean status?',
    )
    assert.match(
      await refused({ webhook: { by: 'x' } }),
      /^webhook: has no field "by"\. The fields are id, time, bot, /,
    )
    assert.equal(await refused({ call: { endpiont: 'x' } }), 'call: has no field "endpiont". Did you mean endpoint?')
    assert.equal(
      await refused({ webhook: { bot: 'konwn-bot' } }),
      'bot: there is no account "konwn-bot". Did you mean known-bot?',
    )
    const later = { webhook: { bot: 'later-bot@example.com' }, within: 60 }
    const waiting = control().call('POST', '/wait', later)
    await called('later', server.url)
    assert.equal((await waiting).met, true)
  })

  test('attempts come again as time is moved, each at its own time, before the answer', async () => {
    const { bot } = await called('nowhere', 'http://127.0.0.1:1/')
    const { webhook } = await control().call('POST', '/wait', { webhook: { bot }, within: 60 })
    assert.deepEqual([webhook.status, webhook.attempts], ['waiting', 1])
    assert.equal(webhook.next_attempt, Date.UTC(2030, 0) + 1000)
    const { near } = await control().call('POST', '/wait', { webhook: { bot, status: 'delivered' }, within: 0.05 })
    assert.equal(near[0].differs[0], 'status: wanted "delivered", was "waiting"')
    assert.match(near[0].differs[1], /^it failed: .*cannot be reached/)
    await control().call('POST', '/clock/advance', { by: '6s' })
    const one = async () => (await control().call('GET', `/webhooks?bot=${bot}`)).deliveries[0]
    const { attempts, next_attempt } = await one()
    assert.deepEqual([attempts, next_attempt], [3, Date.UTC(2030, 0) + 31_000])
    await control().call('POST', '/clock/advance', { by: '1m' })
    const { status, error, ...last } = await one()
    assert.deepEqual([status, last.attempts, last.next_attempt], ['failed', 4, null])
    assert.match(error, /cannot be reached/)
    await control().call('POST', '/reset')
    assert.deepEqual((await control().call('GET', '/webhooks')).deliveries, [])
  })
})
