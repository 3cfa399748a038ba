// Webhooks and requests in progress when a reset or restore replaces the organization: they must not come to their end in the other state, where the
// same IDs can be those of other accounts and messages.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type IncomingMessage, request, type ServerResponse } from 'node:http'
import { after, before, beforeEach, describe, test } from 'node:test'
import { bots } from '../../daemon/api/bots/bots.ts'
import { webhooks } from '../../daemon/api/bots/webhooks.ts'
import { uploads } from '../../daemon/api/files/uploads.ts'
import { messages } from '../../daemon/api/messages/messages.ts'
import { users } from '../../daemon/api/people/users.ts'
import { BotServer } from '../support/bot-server.ts'
import { Control } from '../support/control.ts'
import { sharedDaemon } from '../support/daemon.ts'
import { until } from '../support/until.ts'
import { person } from '../support/world.ts'

const replaced = 'A reset or restore replaced the organization while your request was in progress. Nothing was changed.'

const daemon = sharedDaemon({ flags: ['--memory', '--webhook-timeout', '600', '--password-cost', '16384'] })
const control = () => new Control(daemon())

/** The calls in the log whose accounts are known, by their endpoint. */
async function countCalls(endpoint: string): Promise<number> {
  const { requests } = await control().call('GET', `/requests?endpoint=${endpoint}`)
  return requests.filter(({ user }: { user: string | null }) => user !== null).length
}

describe('a webhook in progress', () => {
  const server = new BotServer()
  const held: ServerResponse[] = []
  before(async () => {
    await server.listen()
    server.answer = response => held.push(response)
  })
  after(() => server.close())

  const makeBot = async () => {
    const bot = { full_name: 'Hook', short_name: 'hook', bot_type: 3, payload_url: server.url } as const
    return (await daemon().owner.call(bots.create, bot)).user_id
  }
  const ask = (bot: number, content: string) =>
    daemon().owner.call(messages.send, { type: 'direct', to: [bot], content })

  test('is given up at a reset, and nothing of it is in the new state', async () => {
    const started = held.length
    const bot = await makeBot()
    await ask(bot, 'before the reset')
    const call = await until(() => held[started])
    await control().call('POST', '/reset')
    await until(() => call.destroyed)
    await control().advance('1h')
    assert.deepEqual((await control().call('GET', '/webhooks')).deliveries, [])
  })

  test('is not taken for one with the same ID in the state that was restored', async () => {
    const started = held.length
    const bot = await makeBot()
    await control().call('POST', '/snapshots', { name: 'with-bot' })
    await ask(bot, 'before the restore')
    const old = await until(() => held[started])
    await control().call('POST', '/snapshots/with-bot/restore')
    await ask(bot, 'after the restore')
    const call = await until(() => held[started + 1])
    old.end(JSON.stringify({ content: 'the old answer' }))
    const [waiting] = (await control().call('GET', '/webhooks')).deliveries
    assert.deepEqual([waiting.status, waiting.request.body.data], ['waiting', 'after the restore'])
    call.end(JSON.stringify({ content: 'the new answer' }))
    const { deliveries } = await until(async () => {
      const log = await daemon().owner.call(webhooks.log, {})
      return log.deliveries[0]?.status === 'delivered' && log
    })
    assert.equal(deliveries.length, 1)
    const narrow = [{ operator: 'dm', operand: [bot] }]
    const page = { anchor: 'newest', num_before: 10, num_after: 0, narrow, apply_markdown: false }
    const read = (await daemon().owner.call(messages.list, page)).messages
    assert.deepEqual(
      read.map(({ content }) => content),
      ['after the restore', 'the new answer'],
    )
  })
})

describe('a request in progress', () => {
  beforeEach(() => control().call('POST', '/reset'))

  test('does not become one of the account that has the same ID after a reset', async () => {
    const sender = await person(daemon(), 'sender')
    const upload = request(`${daemon().url}/api/v1/user_uploads`, {
      method: 'POST',
      auth: sender.auth!,
      headers: { 'Content-Type': 'multipart/form-data; boundary=b' },
    })
    upload.write('--b\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\nsome')
    await until(async () => (await countCalls(uploads.upload.id)) === 1)
    await control().call('POST', '/reset')
    const other = await person(daemon(), 'other')
    assert.equal(other.id, sender.id)
    upload.end(' bytes\r\n--b--\r\n')
    const [answer] = (await once(upload, 'response')) as [IncomingMessage]
    const body = JSON.parse((await answer.setEncoding('utf8').toArray()).join(''))
    assert.deepEqual([answer.statusCode, body.code, body.msg], [400, 'BAD_REQUEST', replaced])
    assert.deepEqual((await other.call(uploads.list, {})).attachments, [])
  })

  test('changes nothing after a reset, if it waited for the hash of a password', async () => {
    const { owner } = daemon()
    const before = (await owner.call(users.list, {})).members.length
    const creating = Array.from({ length: 12 }, (_, i) =>
      owner.try(users.create, {
        email: `new-${i}@example.com`,
        password: `a long password ${i}`,
        full_name: `New ${i}`,
      }),
    )
    await until(async () => (await countCalls(users.create.id)) === creating.length)
    await control().call('POST', '/reset')
    for (const { body } of await Promise.all(creating))
      assert.ok(body.result === 'success' || body.msg === replaced, JSON.stringify(body))
    assert.equal((await owner.call(users.list, {})).members.length, before)
  })
})
