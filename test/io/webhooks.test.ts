// Many outgoing webhooks at a time: which of them go first, and what is remembered of them.

import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { after, before, describe, test } from 'node:test'
import { bots } from '../../daemon/api/bots/bots.ts'
import { messages } from '../../daemon/api/messages/messages.ts'
import { Boundary } from '../../daemon/boundary.ts'
import { SteeredClock } from '../../daemon/clock.ts'
import { settle } from '../../daemon/domain/bots/webhooks/settle.ts'
import { limits } from '../../daemon/domain/limits.ts'
import type { User } from '../../daemon/domain/model/state.ts'
import type { Engine } from '../../daemon/engine.ts'
import { Webhooks } from '../../daemon/io/webhooks.ts'
import { BotServer, json } from '../support/bot-server.ts'
import { type Caller, startDaemon } from '../support/daemon.ts'
import { DomainWorld } from '../support/domain-world.ts'
import { until } from '../support/until.ts'
import { person } from '../support/world.ts'

const server = new BotServer()
before(() => server.listen())
after(() => server.close())

async function makeBot(owner: Caller, name: string): Promise<number> {
  const bot = { full_name: name, short_name: name, bot_type: 3, payload_url: server.url } as const
  return (await owner.call(bots.create, bot)).user_id
}

describe('deliveries that wait', () => {
  test('go out in turn: bots of one owner, however many, do not keep those of others waiting', async t => {
    const daemon = await startDaemon(t, { flags: ['--webhook-timeout', '60'] })
    const [owner, other] = [await person(daemon, 'many'), await person(daemon, 'one')]
    const held: ServerResponse[] = []
    server.answer = response => held.push(response)
    const slow: number[] = []
    for (let i = 0; i < 9; i++) slow.push(await makeBot(owner, `slow-${i}`))
    // 72 calls, of which 64 are made at a time.
    for (let i = 0; i < 8; i++) await owner.call(messages.send, { type: 'direct', to: slow, content: `hello ${i}` })
    await until(() => held.length === 64)
    const quick = await makeBot(other, 'quick')
    await other.call(messages.send, { type: 'direct', to: [quick], content: 'and mine?' })
    held[0]!.end('{}')
    await until(() => held.length === 65)
    assert.equal(server.received.at(-1)!.body.message.content, 'and mine?')
    server.answer = json({})
    for (const response of held.slice(1)) response.end('{}')
  })

  test('do not keep a stop waiting, nor what waits for them', async () => {
    const { state } = new DomainWorld()
    const boundary = new Boundary()
    const webhooks = new Webhooks({
      engine: { state, boundary } as Engine,
      clock: new SteeredClock(0, boundary),
      permitted: { loopback: true, private: true },
      timeout: 1000,
      surroundings: () => assert.fail('nothing is delivered'),
    })
    webhooks.start()
    await Promise.all([webhooks.stop(), webhooks.quiet()])
  })

  test('do not take the place of finished ones in the log', () => {
    const world = new DomainWorld()
    const owner = world.account('amy')
    const row = { botId: owner.id, messageId: 1, trigger: 'mention', queued: 1, attempts: 0 } as const
    const { webhookDeliveries } = world.state
    for (let id = 1; id <= 1500; id++) webhookDeliveries.put({ ...row, id, status: 'waiting', due: 1 })
    for (let id = 1; id <= 1001; id++)
      world.take(settle(world.context(owner), webhookDeliveries.get(id)!, { kind: 'pointless' }))
    const finished = webhookDeliveries.where('finished', 1).map(({ id }) => id)
    assert.deepEqual([finished.length, finished[0], webhookDeliveries.has(1)], [1000, 2, false])
    assert.equal(webhookDeliveries.where('waiting', 1).length, 499)
  })

  test('are bounded for the bots of one owner: what comes later is refused, and the log says so', () => {
    const world = new DomainWorld()
    const [owner, other] = [world.account('amy'), world.account('bob')]
    const makeBot = (user: User, short_name: string): number =>
      world.run(user, 'create-bot', {
        full_name: short_name,
        short_name,
        bot_type: 3,
        payload_url: 'https://bots.example.com/',
      }).user_id
    const [first, second, others] = [makeBot(owner, 'one'), makeBot(owner, 'two'), makeBot(other, 'three')]
    const { webhookDeliveries } = world.state
    const row = { botId: first, messageId: 1, trigger: 'mention', queued: 1, attempts: 0 } as const
    for (let id = 1; id < limits.waitingDeliveries; id++)
      webhookDeliveries.put({ ...row, id, status: 'waiting', due: 1 })
    const call = (...to: number[]) => {
      const before = webhookDeliveries.nextId
      world.run(other, 'send-message', { type: 'direct', to, content: 'hello' })
      const made = [...webhookDeliveries.values()].filter(({ id }) => id >= before)
      return made.map(({ botId, status, error }) => [botId, status, error])
    }
    const refused = 'Not sent: the bots of its owner have 10000 deliveries waiting'
    assert.deepEqual(call(first, second, others), [
      [first, 'waiting', undefined],
      [second, 'failed', refused],
      [others, 'waiting', undefined],
    ])
    const again = world.refused(owner, 'redeliver-webhook', { delivery_id: webhookDeliveries.nextId - 2 })
    assert.equal(again.message, 'delivery_id: the bots of its owner have 10000 deliveries waiting')
    for (let i = 0; i < 2001; i++) world.run(owner, 'send-message', { type: 'direct', to: [second], content: `${i}` })
    assert.equal(webhookDeliveries.where('finished', 1).length, 2000, 'the log does not grow without a bound either')
    world.take(settle(world.context(owner), webhookDeliveries.get(1)!, { kind: 'pointless' }))
    assert.equal(webhookDeliveries.where('finished', 1).length, 1000)
    assert.deepEqual(call(second), [[second, 'waiting', undefined]])
  })
})
