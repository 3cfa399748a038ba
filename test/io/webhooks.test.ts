// Many outgoing webhooks at a time: which of them go first, and what is remembered of them.

import assert from 'node:assert/strict'
import type { ServerResponse } from 'node:http'
import { after, before, describe, test } from 'node:test'
import { bots } from '../../daemon/api/bots/bots.ts'
import { messages } from '../../daemon/api/messages/messages.ts'
import { settle } from '../../daemon/domain/bots/webhooks/settle.ts'
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
})
