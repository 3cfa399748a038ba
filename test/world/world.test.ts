// Worlds side by side in one process, under one server: each with its own clock, secret, facts, queues and logs.

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { subscriptions } from '../../daemon/api/channels/subscriptions.ts'
import { events } from '../../daemon/api/events.ts'
import { messages } from '../../daemon/api/messages/messages.ts'
import { server as serverApi } from '../../daemon/api/organization/server.ts'
import { invitations } from '../../daemon/api/people/invitations.ts'
import { users } from '../../daemon/api/people/users.ts'
import type { SteeredClock } from '../../daemon/clock.ts'
import { buildServer, type HttpServer } from '../../daemon/http/server.ts'
import { readConfig } from '../../daemon/start/config.ts'
import { memoryStore } from '../../daemon/store.ts'
import { World } from '../../daemon/world/world.ts'
import { Caller } from '../support/daemon.ts'

interface Place {
  readonly world: World
  readonly url: string
  readonly owner: Caller
}

let server: HttpServer
let origin: string
let left: Place
let right: Place

before(async () => {
  server = buildServer({ bodyLimit: 1024 * 1024, logLevel: 'silent' })
  origin = await server.listen({ host: '127.0.0.1', port: 0 })
  left = await open('/spaces/left', '2030-01-01T00:00:00Z')
  right = await open('/spaces/right', '2040-01-01T00:00:00Z')
  server.mount('', left.world.site)
})

after(async () => {
  await Promise.all([left.world.stop(), right.world.stop(() => server.close())])
})

function build(time: string, secret: string, ...flags: string[]): World {
  const settings = readConfig(['--memory', '--clock', `frozen@${time}`, '--secret', secret, ...flags], {})
  const store = memoryStore(settings.secret)
  return new World({ settings, store, host: server, onFailure: assert.fail })
}

async function open(prefix: string, time: string): Promise<Place> {
  const world = build(time, `secret of ${prefix}`, '--preset', 'dev', '--org', prefix)
  server.mount(prefix, world.site)
  const url = `${origin}${prefix}`
  await world.start(url)
  const { email } = world.owner
  return { world, url, owner: new Caller(url, email, world.keys.deriveKey(world.owner)) }
}

async function control({ world, url }: Place, method: string, path: string, body?: object): Promise<any> {
  const answer = await fetch(`${url}/control/v1${path}`, {
    method,
    headers: { Authorization: `Bearer ${world.keys.controlToken}`, 'Content-Type': 'application/json' },
    ...(body && { body: JSON.stringify(body) }),
  })
  return answer.json()
}

/** Everything that can be read of a world. */
async function everything(place: Place): Promise<unknown> {
  const { engine, clock } = place.world
  const sections = Object.entries(engine.save()).map(([name, rows]) => [name, [...rows]])
  const [requests, events, outbox, faults] = await Promise.all(
    ['/requests', '/events', '/outbox', '/faults'].map(path => control(place, 'GET', path)),
  )
  return JSON.parse(
    JSON.stringify({ now: clock.now(), position: engine.position, sections, requests, events, outbox, faults }),
  )
}

describe('two worlds in one process', () => {
  test('answer under paths of their own, with facts of their own', async () => {
    for (const [place, name] of [
      [left, '/spaces/left'],
      [right, '/spaces/right'],
    ] as const) {
      const settings = await place.owner.call(serverApi.settings, {})
      assert.equal(settings.realm_name, name)
      assert.equal(settings.realm_url, place.url)
    }
  })

  test('derive different keys, and do not accept those of the other', async () => {
    const key = left.world.keys.deriveKey(left.world.owner)
    assert.equal(left.world.owner.id, right.world.owner.id)
    assert.notEqual(key, right.world.keys.deriveKey(right.world.owner))
    const stranger = new Caller(right.url, right.world.owner.email, key)
    await stranger.refused(users.me, {}, 'INVALID_API_KEY')
    assert.notEqual(left.world.keys.controlToken, right.world.keys.controlToken)
  })

  test('have clocks that move apart, and date their answers by them', async () => {
    await control(left, 'POST', '/clock/advance', { by: '1d' })
    assert.equal(new Date(left.world.clock.now()).toISOString(), '2030-01-02T00:00:00.000Z')
    assert.equal(new Date(right.world.clock.now()).toISOString(), '2040-01-01T00:00:00.000Z')
    const date = async ({ url }: Place) => (await fetch(`${url}/api/v1/server_settings`)).headers.get('Date')
    assert.equal(await date(left), 'Wed, 02 Jan 2030 00:00:00 GMT')
    assert.equal(await date(right), 'Sun, 01 Jan 2040 00:00:00 GMT')
  })

  test('nothing that happens in one changes a byte of the other', async () => {
    const before = await everything(right)
    const queue = await left.owner.call(events.register, { event_types: ['message'] })
    const channel = { name: 'only here', description: '' }
    await left.owner.call(subscriptions.subscribe, { subscriptions: [channel] })
    const content = ':smile: @**all** https://example.com'
    const sent = await left.owner.call(messages.send, { type: 'channel', to: 'only here', topic: 'x', content })
    await left.owner.call(invitations.send, { invitee_emails: 'new@example.com', stream_ids: [] })
    await control(left, 'POST', '/faults', { kind: 'status', endpoint: 'get-own-user', status: 503 })
    await control(left, 'POST', '/clock/advance', { by: '1m' })
    const poll = { queue_id: queue.queue_id!, last_event_id: -1 }
    const heard = await left.owner.call(events.get, poll)
    assert.ok(heard.events.some((event: any) => event.message.id === sent.id))
    assert.equal((await left.owner.raw('GET', '/api/v1/users/me')).status, 503)
    assert.ok((await control(left, 'GET', '/outbox')).mails.length > 0)
    assert.deepEqual(await everything(right), before)
    await right.owner.call(users.me, {})
    await right.owner.refused(events.get, poll, 'BAD_EVENT_QUEUE_ID')
  })

  test('reset takes back one of them only', async () => {
    await right.owner.call(messages.send, { type: 'direct', to: [right.world.owner.id], content: 'kept' })
    const before = right.world.engine.state.messages.count
    await control(left, 'POST', '/reset')
    assert.equal(right.world.engine.state.messages.count, before)
    assert.equal((left.world.clock as SteeredClock).now(), Date.parse('2030-01-01T00:00:00Z'))
  })
})

describe('a server', () => {
  test('sends what is below no known prefix to the main world', async () => {
    const main = new Caller(origin, left.world.owner.email, left.world.keys.deriveKey(left.world.owner))
    assert.equal((await main.call(serverApi.settings, {})).realm_name, '/spaces/left')
    assert.equal((await fetch(`${origin}/spaces/nobody/api/v1/server_settings`)).status, 404)
  })

  test('replaces a world by another one under the same prefix, and refuses requests to the old one', async () => {
    const first = await open('/spaces/again', '2030-01-01T00:00:00Z')
    const { queue_id } = await first.owner.call(events.register, { event_types: ['message'] })
    const poll = first.owner.call(events.get, { queue_id: queue_id!, last_event_id: -1 })
    await waitForPoll(first.world)
    const second = build('2035-05-05T00:00:00Z', 'another secret', '--org', 'second')
    server.mount('/spaces/again', second.site)
    await first.world.stop()
    assert.deepEqual((await poll).events, [], 'a waiting poll is answered when its world ends')
    await second.start(first.url)
    await first.owner.refused(users.me, {}, 'INVALID_API_KEY')
    const owner = new Caller(first.url, second.owner.email, second.keys.deriveKey(second.owner))
    assert.equal((await owner.call(serverApi.settings, {})).realm_name, 'second')
    server.mount('/spaces/again', first.world.site)
    const late = await owner.raw('GET', '/api/v1/users/me')
    assert.equal(late.status, 503)
    assert.equal(late.body.code, 'SERVER_NOT_READY')
    assert.throws(() => first.world.engine.run('late', null, () => ({ reply: {} })), /stopping/)
    server.unmount('/spaces/again')
    await second.stop()
  })

  test('says of each world whether it is ready', async () => {
    const world = build('2030-01-01T00:00:00Z', 'late secret')
    server.mount('/spaces/late', world.site)
    const ready = async () => (await fetch(`${origin}/spaces/late/readyz`)).status
    assert.equal(await ready(), 503)
    const waiting = fetch(`${origin}/spaces/late/api/v1/server_settings`)
    await world.start(`${origin}/spaces/late`)
    assert.equal((await waiting).status, 200, 'a request that came too early is answered when the world is open')
    assert.equal(await ready(), 200)
    await world.stop()
    assert.equal(await ready(), 503)
    server.unmount('/spaces/late')
  })
})

/** Resolves when a poll waits in this world. */
async function waitForPoll({ engine }: World): Promise<void> {
  while (![...engine.queues.values()].some(({ waiter }) => waiter)) await new Promise(resolve => setImmediate(resolve))
}
