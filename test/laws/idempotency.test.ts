// The law of idempotency keys: every endpoint that is no GET takes one, or refuses it and says why. A request that is sent again gets the
// same answer and changes nothing, and another request with its key is refused.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { bots } from '../../daemon/api/bots/bots.ts'
import type { Endpoint } from '../../daemon/api/define.ts'
import { events } from '../../daemon/api/events.ts'
import { keyHeader, replayedHeader, whyNoKey } from '../../daemon/api/idempotency.ts'
import { messages } from '../../daemon/api/messages/messages.ts'
import { users } from '../../daemon/api/people/users.ts'
import { encode } from '../../daemon/api/wire.ts'
import { BotServer, json } from '../support/bot-server.ts'
import { catalogueEndpoints } from '../support/catalogue.ts'
import { type Caller, sharedDaemon, type TestDaemon } from '../support/daemon.ts'
import { aboutPeople } from '../support/event-story/people.ts'
import { aboutOneself } from '../support/event-story/personal.ts'
import { aboutPlaces } from '../support/event-story/places.ts'
import { last, prepareRest, rest } from '../support/event-story/rest.ts'
import { at, people } from '../support/event-story/row.ts'
import { setStage } from '../support/event-story/stage.ts'
import { formOf, type HttpReply, send } from '../support/http.ts'

let daemon: TestDaemon
let operations: ReadonlySet<string>
/** How much of the journal has been read: it grows with every case. */
let seen = 0
/** Its answers end a delivery at the first attempt. Where no server listens, the attempts take half a minute. */
const server = new BotServer()
server.answer = json({}, 400)
before(() => server.listen())
after(() => server.close())
sharedDaemon({ flags: ['--durability', 'os'] }, async started => {
  daemon = started
  operations = new Set((await catalogueEndpoints()).map(({ endpoint }) => endpoint.id))
  await setStage(daemon)
})

/** A call with a key. With `more`, the same call with a parameter that it does not know. */
async function attempt(caller: Caller, endpoint: Endpoint, params: object, key: string, more = ''): Promise<HttpReply> {
  const { path, fields } = encode(endpoint, params as Record<string, unknown>)
  const form = formOf(endpoint.method, more === '' ? fields : new Map([...fields, ['another', more]]))
  const headers = { ...form.headers, [keyHeader]: key }
  return send(`${caller.url}/api/v1${path}`, { method: endpoint.method, auth: caller.auth, ...form, headers })
}

/** Entries that calls have made since the last look; the daemon adds its own meanwhile. */
function newEntries(): number {
  const text = readFileSync(join(daemon.data, 'journal.ndjson'), 'utf8').trimEnd()
  const lines = text.slice(seen).split('\n').filter(Boolean)
  seen = text.length
  return lines.filter(line => operations.has(JSON.parse(line).op)).length
}

const called = new Set<string>()
let keys = 0

async function holds(caller: Caller, endpoint: Endpoint, params: object): Promise<Record<string, any>> {
  const key = `key-${++keys}`
  called.add(endpoint.id)
  const first = await attempt(caller, endpoint, params, key)
  assert.equal(first.body.result, 'success', `${endpoint.id}: ${first.text}`)
  assert.equal(first.headers[replayedHeader.toLowerCase()], undefined)
  newEntries()
  const again = await attempt(caller, endpoint, params, key)
  assert.equal(again.text, first.text)
  assert.equal(again.headers[replayedHeader.toLowerCase()], 'true')
  const other = await attempt(caller, endpoint, params, key, 'x')
  assert.deepEqual([other.status, other.body.msg], [400, `${keyHeader}: you used this key for another request`])
  assert.equal(other.headers['natter-refusal'], 'conflict')
  assert.equal(newEntries(), 0, `${endpoint.id}: the journal has grown`)
  return first.body
}

const owner = () => people.o
describe('with an Idempotency-Key', () => {
  for (const [index, { by, endpoint, params, keep }] of [...aboutPeople, ...aboutPlaces, ...aboutOneself].entries())
    test(`${index + 1}. ${endpoint.method} ${endpoint.path} happens once`, async () => {
      const reply =
        whyNoKey(endpoint) === undefined
          ? await holds(people[by], endpoint, params())
          : await people[by].call(endpoint, params() as never)
      if (keep) at[keep[0]] = keep[1].split('.').reduce((inner, step) => inner[step], reply as any)
    })

  test('what the rest of the story needs is there', () => prepareRest(daemon, server.url))

  for (const [caller, endpoint, params, remember] of rest)
    test(`${endpoint.method} ${endpoint.path} happens once, ${endpoint.id}`, async () => {
      const reply = await holds(caller(), endpoint, params())
      remember?.(reply)
    })

  test('reporting a message and deleting a queue happen once', async () => {
    const said = { type: 'channel', to: at.garden!, topic: 'y', content: 'y' } as const
    const { id } = await people.a.call(messages.send, said)
    await holds(owner(), messages.report, { message_id: id, report_type: 'spam' })
    const { queue_id } = await owner().call(events.register, {})
    await holds(owner(), events.delete, { queue_id })
  })

  test('endpoints that take none refuse it and say why', async () => {
    for (const { endpoint } of await catalogueEndpoints()) {
      const why = whyNoKey(endpoint)
      if (why === undefined || endpoint.method === 'GET' || endpoint.served === 'outgoing') continue
      called.add(endpoint.id)
      const params = Object.entries(endpoint.params).filter(([, { presence }]) => presence !== 'defaulted')
      const some = Object.fromEntries(
        params.map(([name, { shape }]) => [name, shape.type === 'integer' ? at.bot : 'x']),
      )
      const given = endpoint.id === bots.create.id ? { full_name: 'x', short_name: 'x' } : some
      const caller = endpoint.access === 'user' ? owner() : daemon.anonymous
      const { body } = await attempt(caller, endpoint, endpoint.id === events.register.id ? {} : given, 'refused')
      assert.equal(body.msg, `${keyHeader}: ${why}; send no key here`, endpoint.id)
    }
  })

  test('a GET ignores it', async () => {
    const { body, headers } = await attempt(owner(), users.me, {}, 'key-1')
    assert.deepEqual([body.result, headers[replayedHeader.toLowerCase()]], ['success', undefined])
  })

  for (const [caller, endpoint] of last)
    test(`${endpoint.method} ${endpoint.path} happens once: then the account is gone`, async () => {
      called.add(endpoint.id)
      const first = await attempt(caller(), endpoint, {}, 'the-end')
      assert.equal(first.body.result, 'success', first.text)
      newEntries()
      const again = await attempt(caller(), endpoint, {}, 'the-end')
      assert.ok([401, 403].includes(again.status), again.text)
      assert.equal(newEntries(), 0)
    })

  test('every endpoint of the catalogue that is no GET is here', async () => {
    const all = (await catalogueEndpoints()).map(({ endpoint }) => endpoint)
    const writing = all.filter(({ method, served }) => method !== 'GET' && served !== 'outgoing')
    const ids = writing.map(({ id }) => id)
    assert.deepEqual(
      ids.filter(id => !called.has(id)),
      [],
    )
  })
})
