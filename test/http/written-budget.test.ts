// The limit on bytes that accounts write to the journal, by a frozen clock.

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { botStorage } from '../../daemon/api/bots/bot-storage.ts'
import { bots } from '../../daemon/api/bots/bots.ts'
import { webhooks } from '../../daemon/api/bots/webhooks.ts'
import { events } from '../../daemon/api/events.ts'
import { messages } from '../../daemon/api/messages/messages.ts'
import { writtenBytes } from '../../daemon/written-budget.ts'
import { BotServer, json } from '../support/bot-server.ts'
import { Control } from '../support/control.ts'
import { Caller, sharedDaemon } from '../support/daemon.ts'
import { until } from '../support/until.ts'
import { person } from '../support/world.ts'

const mebibyte = 1024 * 1024

describe('what an account writes', () => {
  const daemon = sharedDaemon({
    flags: ['--memory', '--rate-limit', '--control', '--clock', 'frozen@2030-01-01T00:00:00Z'],
  })
  const large = { storage: { large: 'x'.repeat(1_000_000) } }
  /** How many large writes are taken before one is refused. */
  const writesTaken = async (caller: Caller) => {
    for (let taken = 0; ; taken++) {
      const { status, body, headers } = await caller.try(botStorage.put, large)
      if (status === 200) continue
      assert.deepEqual([status, body.code], [429, 'RATE_LIMIT_HIT'])
      const wait = body['retry-after']
      assert.ok(wait > 0 && wait <= 60, `retry-after ${wait}`)
      assert.equal(Number(headers['retry-after']), Math.ceil(wait))
      return taken
    }
  }

  test('is limited in bytes, together with what the bots of a person write; reads and other accounts go on', async () => {
    const amy = await person(daemon(), 'amy')
    const bob = await person(daemon(), 'bob')
    const { user_id, api_key } = await amy.call(bots.create, { full_name: 'Hoarder', short_name: 'hoarder' })
    const bot = new Caller(daemon().url, 'hoarder-bot@example.com', api_key, user_id)
    const taken = (await writesTaken(bot)) * 1_000_000
    assert.ok(Math.abs(taken - writtenBytes.atOnce) < 2 * mebibyte, `${taken} bytes`)
    const small = { type: 'direct' as const, to: [user_id], content: 'hello' }
    await amy.refused(messages.send, small, 'RATE_LIMIT_HIT')
    await amy.refused(events.register, {}, 'RATE_LIMIT_HIT')
    await amy.refused(events.get, {}, 'RATE_LIMIT_HIT')
    assert.equal(Object.keys((await bot.call(botStorage.get, {})).storage).length, 1)
    await bob.call(messages.send, small)
    await new Control(daemon()).advance('1m')
    assert.equal(await writesTaken(amy), Math.floor(writtenBytes.perMinute / 1_000_000))
  })

  const server = new BotServer()
  before(() => server.listen())
  after(() => server.close())

  test('includes the replies of webhook bots to their messages, which wait when it is used up; the owner of the bot goes on', async () => {
    const [cat, dan] = [await person(daemon(), 'cat'), await person(daemon(), 'dan')]
    const { user_id } = await cat.call(bots.create, {
      full_name: 'Formulas',
      short_name: 'formulas',
      bot_type: 3,
      payload_url: server.url,
    })
    const reply = json({ content: '$$x$$ '.repeat(499) })
    const waiting: (() => void)[] = []
    server.answer = (response, received) => waiting.push(() => reply(response, received))
    const sent = 90
    for (let i = 0; i < sent; i++) await dan.call(messages.send, { type: 'direct', to: [user_id], content: 'again' })
    server.answer = reply
    for (const answer of waiting) answer()
    await until(() => server.received.length > 60)
    const isRefused = async () => (await dan.try(botStorage.put, { storage: { a: 'b' } })).status === 429
    await until(isRefused)
    await cat.call(messages.send, { type: 'direct', to: [dan.id!], content: 'hello' })
    const asked = server.received.length
    assert.ok(asked < sent, `${asked} of ${sent} messages were delivered`)
    await new Control(daemon()).advance('1h')
    await until(() => server.received.length === sent)
  })

  test('includes, for the owner of a webhook bot, the replies to messages that are delivered again; their sender goes on', async () => {
    const [eve, fay] = [await person(daemon(), 'eve'), await person(daemon(), 'fay')]
    const bot = { full_name: 'Again', short_name: 'again', bot_type: 3 as const, payload_url: server.url }
    const { user_id } = await eve.call(bots.create, bot)
    server.answer = json({ content: '$$x$$ '.repeat(499) })
    const before = server.received.length
    await fay.call(messages.send, { type: 'direct', to: [user_id], content: 'once' })
    await until(() => server.received.length > before)
    const { deliveries } = await eve.call(webhooks.log, { bot_id: user_id })
    for (let i = 0; i < 95; i++) await eve.try(webhooks.redeliver, { delivery_id: deliveries[0]!.id })
    await until(async () => (await eve.try(botStorage.put, { storage: { a: 'b' } })).status === 429)
    await fay.call(messages.send, { type: 'direct', to: [eve.id!], content: 'hello' })
  })
})
