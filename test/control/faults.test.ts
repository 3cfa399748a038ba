import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { events } from '../../daemon/api/events.ts'
import { savedSnippets } from '../../daemon/api/messages/saved-snippets.ts'
import { users } from '../../daemon/api/people/users.ts'
import { Control } from '../support/control.ts'
import { type Caller, sharedDaemon } from '../support/daemon.ts'
import { until } from '../support/until.ts'
import { person } from '../support/world.ts'

const snippet = { title: 'a', content: 'b' }

describe('faults', () => {
  const daemon = sharedDaemon({ flags: ['--control', '--random', 'one'] })
  const control = () => new Control(daemon())

  /** With these rules and no others. */
  async function given(...rules: object[]): Promise<Caller> {
    await control().call('POST', '/reset')
    for (const rule of rules) await control().call('POST', '/faults', rule)
    return daemon().owner
  }

  async function statuses(owner: Caller, times: number): Promise<number[]> {
    const seen: number[] = []
    for (let i = 0; i < times; i++) seen.push((await owner.raw('GET', '/api/v1/users/me')).status)
    return seen
  }

  test('rate-limit answers 429 with Retry-After, as often as said', async () => {
    const owner = await given({ kind: 'rate-limit', endpoint: 'get-own-user', times: 2, after: 1, seconds: 3 })
    assert.deepEqual(await statuses(owner, 5), [200, 429, 429, 200, 200])
    const { faults } = await control().call('GET', '/faults')
    assert.deepEqual([faults[0].seen, faults[0].hits], [5, 2])
    await control().call('POST', '/faults', { kind: 'rate-limit', seconds: 3 })
    const { headers, body } = await owner.raw('GET', '/api/v1/users/me')
    assert.equal(headers['retry-after'], '3')
    assert.deepEqual([body.code, body['retry-after']], ['RATE_LIMIT_HIT', 3])
  })

  test('status and html-502 are answers of a server in trouble; nothing is carried out', async () => {
    const owner = await given(
      { kind: 'status', status: 503, endpoint: 'POST /saved_snippets', times: 1 },
      { kind: 'html-502', endpoint: 'GET /saved_snippets', times: 1 },
    )
    assert.equal((await owner.raw('POST', '/api/v1/saved_snippets?title=a&content=b')).status, 503)
    const page = await owner.raw('GET', '/api/v1/saved_snippets')
    assert.equal(page.status, 502)
    assert.equal(page.headers['content-type'], 'text/html')
    assert.match(page.text, /^<html>/)
    assert.deepEqual((await owner.call(savedSnippets.list, {})).saved_snippets, [])
  })

  test('a rule for one user leaves the others alone', async () => {
    const owner = await given()
    const amy = await person(daemon(), 'amy')
    for (const user of ['AMY@example.com', 'amy', amy.id]) {
      const { fault } = await control().call('POST', '/faults', { kind: 'status', user })
      assert.deepEqual(await statuses(owner, 2), [200, 200])
      assert.deepEqual(await statuses(amy, 2), [500, 500])
      await control().call('DELETE', `/faults/${fault.id}`)
    }
  })

  test('a rule with a probability strikes some of the calls', async () => {
    const owner = await given({ kind: 'status', endpoint: 'get-own-user', probability: 0.5 })
    const seen = await statuses(owner, 30)
    const failed = seen.filter(status => status === 500).length
    assert.ok(failed > 3 && failed < 27, String(failed))
  })

  test('latency delays', async () => {
    const owner = await given({ kind: 'latency', ms: 150, times: 1 })
    const began = performance.now()
    await owner.call(users.me, {})
    assert.ok(performance.now() - began >= 149)
  })

  test('drop-after-write carries the call out and loses the answer', async () => {
    const owner = await given({ kind: 'drop-after-write', endpoint: 'create-saved-snippet', times: 1 })
    await assert.rejects(owner.call(savedSnippets.create, snippet))
    assert.equal((await owner.call(savedSnippets.list, {})).saved_snippets.length, 1)
    const { requests } = await control().call('GET', '/requests?endpoint=create-saved-snippet')
    assert.deepEqual([requests[0].lost, requests[0].status, requests[0].fault], [true, null, 'drop-after-write'])
  })

  test('reset-mid-body breaks off in the middle of the answer', async () => {
    const owner = await given({ kind: 'reset-mid-body', endpoint: 'get-own-user', times: 1 })
    await assert.rejects(owner.call(users.me, {}))
    await owner.call(users.me, {})
  })

  test('hang-poll never answers', async () => {
    const owner = await given({ kind: 'hang-poll', times: 1 })
    const { queue_id } = await owner.call(events.register, { event_types: ['saved_snippets'] })
    await owner.call(savedSnippets.create, snippet)
    const query = `queue_id=${queue_id}&last_event_id=-1`
    const leaving = new AbortController()
    const hung = assert.rejects(owner.raw('GET', '/api/v1/events', { query, signal: leaving.signal }))
    await until(async () => (await control().call('GET', '/faults')).faults[0].hits === 1)
    // The queue has an event: a poll that is answered at all would be by now.
    await owner.call(users.me, {})
    leaving.abort()
    await hung
    assert.equal((await owner.call(events.get, { queue_id, last_event_id: -1 })).events.length, 1)
  })

  test('expire-queue and duplicate-event strike polls', async () => {
    const owner = await given({ kind: 'duplicate-event', times: 1 }, { kind: 'expire-queue', after: 1, times: 1 })
    const { queue_id } = await owner.call(events.register, { event_types: ['saved_snippets'] })
    await owner.call(savedSnippets.create, snippet)
    const { events: told } = await owner.call(events.get, { queue_id, last_event_id: -1 })
    assert.equal(told.length, 2)
    assert.deepEqual(told[0], told[1])
    await owner.refused(events.get, { queue_id, last_event_id: -1 }, 'BAD_EVENT_QUEUE_ID')
  })

  test('several of one kind strike a poll like one: an event is there twice, not 2 to the 30th times', async () => {
    const owner = await given(
      ...Array.from({ length: 30 }, () => ({ kind: 'duplicate-event' })),
      { kind: 'reorder' },
      { kind: 'reorder' },
    )
    const { queue_id } = await owner.call(events.register, { event_types: ['saved_snippets'] })
    for (const title of ['a', 'b']) await owner.call(savedSnippets.create, { title, content: 'c' })
    const { events: told } = await owner.call(events.get, { queue_id, last_event_id: -1 })
    assert.deepEqual(
      told.map((event: any) => event.saved_snippet.title),
      ['b', 'b', 'a', 'a'],
    )
  })

  test('reorder answers a poll with the newest event first', async () => {
    const owner = await given({ kind: 'reorder', times: 1 })
    const { queue_id } = await owner.call(events.register, { event_types: ['saved_snippets'] })
    for (const title of ['a', 'b']) await owner.call(savedSnippets.create, { title, content: 'c' })
    const titles = async () =>
      (await owner.call(events.get, { queue_id, last_event_id: -1 })).events.map(
        (event: any) => event.saved_snippet.title,
      )
    assert.deepEqual(await titles(), ['b', 'a'])
    assert.deepEqual(await titles(), ['a', 'b'])
  })

  test('stale-queue answers a poll with acknowledged events, and only to the account that has read them', async () => {
    const owner = await given({ kind: 'stale-queue', times: 1 })
    const amy = await person(daemon(), 'amy')
    const { queue_id } = await owner.call(events.register, { event_types: ['saved_snippets'] })
    await owner.call(savedSnippets.create, snippet)
    const first = await owner.call(events.get, { queue_id, last_event_id: -1 })
    const acknowledged = { queue_id, last_event_id: first.events[0]!.id, dont_block: true }
    await amy.refused(events.get, acknowledged, 'BAD_EVENT_QUEUE_ID')
    assert.deepEqual((await owner.call(events.get, acknowledged)).events, first.events)
    assert.deepEqual((await owner.call(events.get, acknowledged)).events, [])
    const { faults } = await control().call('GET', '/faults')
    assert.equal(faults[0].hits, 1)
  })

  test('slow-heartbeat holds back a heartbeat, and nothing else', async () => {
    const owner = await given({ kind: 'slow-heartbeat', ms: 200 })
    const { queue_id } = await owner.call(events.register, { event_types: ['saved_snippets'] })
    const poll = owner.call(events.get, { queue_id, last_event_id: -1 })
    await control().waiting(queue_id)
    const begin = performance.now()
    await control().advance('2m')
    const [heartbeat] = (await poll).events
    assert.equal(heartbeat!.type, 'heartbeat')
    assert.ok(performance.now() - begin >= 190, 'it came at once')
    await control().call('POST', '/faults', { kind: 'slow-heartbeat', ms: 600_000 })
    await owner.call(savedSnippets.create, snippet)
    assert.equal((await owner.call(events.get, { queue_id, last_event_id: heartbeat!.id })).events.length, 1)
  })

  test('a rule can be taken away, and a wrong one is refused', async () => {
    const owner = await given()
    const { fault } = await control().call('POST', '/faults', { kind: 'status' })
    assert.deepEqual(await statuses(owner, 1), [500])
    await control().call('DELETE', `/faults/${fault.id}`)
    assert.deepEqual(await statuses(owner, 1), [200])
    assert.equal((await control().try('DELETE', `/faults/${fault.id}`)).status, 404)
    const wrong: [rule: object, told: RegExp][] = [
      [{}, /^kind: required: one of rate-limit, /],
      [{ kind: 'fire' }, /^kind: must be "rate-limit", /],
      [{ kind: 'status', status: 200 }, /^status: must be an integer from 400 to 599/],
      [{ kind: 'status', status: 500.5 }, /^status: must be an integer/],
      [{ kind: 'status', endpoint: '/messages' }, /^endpoint: there is no endpoint "\/messages"/],
      [{ kind: 'status', times: 0 }, /^times: must be an integer from 1 /],
      [{ kind: 'status', probability: 2 }, /^probability: must be a number from 0 to 1/],
      [{ kind: 'status', colour: 'red' }, /^colour: unknown parameter/],
      [{ kind: 'reorder', ms: 2 }, /^ms: belongs to latency and slow-heartbeat, not to reorder/],
      [{ kind: 'latency', seconds: 2 }, /^seconds: belongs to rate-limit, not to latency/],
      [{ kind: 'status', user: {} }, /^user: must be a/],
      [{ kind: 'status', user: 'zed' }, /^user: there is no account "zed"/],
    ]
    for (const [rule, told] of wrong)
      assert.match((await control().try('POST', '/faults', rule)).body.msg, told, JSON.stringify(rule))
    assert.deepEqual((await control().call('GET', '/faults')).faults, [])
  })
})
