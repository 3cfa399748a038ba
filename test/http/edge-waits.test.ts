// Calls whose account changes while they wait, here for the rest of their body: they are decided for the account as it is then.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { json } from 'node:stream/consumers'
import { describe, test } from 'node:test'
import { subscriptions } from '../../daemon/api/channels/subscriptions.ts'
import { messages } from '../../daemon/api/messages/messages.ts'
import { users } from '../../daemon/api/people/users.ts'
import { Control } from '../support/control.ts'
import { type Caller, sharedDaemon } from '../support/daemon.ts'
import { multipart } from '../support/http.ts'
import { until } from '../support/until.ts'
import { person } from '../support/world.ts'

const publicQueue = new Map([
  ['all_public_streams', 'true'],
  ['event_types', '["message"]'],
])

describe('a call that waits for its body', () => {
  const daemon = sharedDaemon({ flags: ['--memory'] })
  const control = () => new Control(daemon())

  /** Sends all but the end of the body, and that when the daemon knows the caller and the change is made. */
  async function callDuring(
    caller: Caller,
    path: string,
    fields: ReadonlyMap<string, string>,
    change: () => Promise<unknown>,
  ): Promise<{ status: number; body: Record<string, any> }> {
    const { headers = {}, body } = multipart(fields)
    const sending = request(`${caller.url}${path}`, { method: 'POST', auth: caller.auth!, headers })
    const answered = once(sending, 'response')
    sending.write(body!.slice(0, -10))
    await until(async () => {
      const { requests } = await control().call('GET', '/requests')
      return requests.some(({ user_id, status }: any) => user_id === caller.id && status === null)
    })
    await change()
    sending.end(body!.slice(-10))
    const [answer] = (await answered) as [IncomingMessage]
    return { status: answer.statusCode!, body: (await json(answer)) as Record<string, any> }
  }

  async function postPublicly(): Promise<number> {
    const { owner } = daemon()
    await owner.call(subscriptions.subscribe, { subscriptions: [{ name: 'open' }] })
    return (await owner.call(messages.send, { type: 'channel', to: 'open', topic: 't', content: 'x' })).id
  }

  test('is refused when its account is gone after a reset, and leaves no queue behind', async () => {
    const amy = await person(daemon(), 'amy')
    const { status, body } = await callDuring(amy, '/api/v1/register', publicQueue, () =>
      control().call('POST', '/reset'),
    )
    assert.deepEqual([status, body.code], [401, 'INVALID_API_KEY'])
    assert.deepEqual((await control().call('GET', '/queues')).queues, [])
    assert.ok((await postPublicly()) > 0)
  })

  test('is refused when its account has been deactivated', async () => {
    const ben = await person(daemon(), 'ben')
    const { body } = await callDuring(ben, '/api/v1/register', publicQueue, () =>
      daemon().owner.call(users.deactivate, { user_id: ben.id }),
    )
    assert.equal(body.code, 'USER_DEACTIVATED')
    assert.deepEqual((await control().call('GET', '/queues')).queues, [])
  })

  test('is decided by the role that its account has by then', async () => {
    const cat = await person(daemon(), 'cat')
    const { status, body } = await callDuring(cat, '/api/v1/register', publicQueue, () =>
      daemon().owner.call(users.update, { user_id: cat.id, role: 600 }),
    )
    assert.equal(status, 400, JSON.stringify(body))
    assert.match(body.msg, /public channels/)
  })

  test('is refused when its key has been replaced', async () => {
    const dan = await person(daemon(), 'dan')
    const { body } = await callDuring(dan, '/api/v1/register', publicQueue, () =>
      dan.raw('POST', '/api/v1/users/me/api_key/regenerate'),
    )
    assert.equal(body.code, 'INVALID_API_KEY')
  })
})
