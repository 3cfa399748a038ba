import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { events } from '../../daemon/api/events.ts'
import { drafts } from '../../daemon/api/messages/drafts.ts'
import { savedSnippets } from '../../daemon/api/messages/saved-snippets.ts'
import { organization } from '../../daemon/api/organization/organization.ts'
import { users } from '../../daemon/api/people/users.ts'
import { Control } from '../support/control.ts'
import { type Caller, newStoreFolder, sharedDaemon, startDaemon } from '../support/daemon.ts'
import { until } from '../support/until.ts'
import { person } from '../support/world.ts'

const snippet = { title: 'a', content: 'b' }

function titles(caller: Caller): Promise<string[]> {
  return caller.call(savedSnippets.list, {}).then(reply => reply.saved_snippets.map(({ title }) => title))
}

describe('the control plane', () => {
  test('is off unless --control or --memory is given', async t => {
    const daemon = await startDaemon(t)
    assert.deepEqual(Object.keys(daemon.ready), ['url', 'pid', 'owner', 'inspector', 'level'])
    assert.equal((await new Control(daemon).try('GET', '/clock', undefined, 'x')).status, 404)
  })

  test('is open with --memory, to who has the token of the ready file', async t => {
    const daemon = await startDaemon(t, { flags: ['--memory'] })
    const control = new Control(daemon)
    assert.equal((await control.call('GET', '/clock')).frozen, false)
    for (const token of ['', 'x', daemon.ready.owner.api_key]) {
      const { status, body } = await control.try('GET', '/clock', undefined, token)
      assert.equal(status, 401)
      assert.equal(body.code, 'UNAUTHORIZED')
    }
  })
})

describe('reset and snapshots', () => {
  const daemon = sharedDaemon({ flags: ['--control'] })
  const control = () => new Control(daemon())

  test('reset puts everything back, and answers who polls', async () => {
    const { owner } = daemon()
    await owner.call(savedSnippets.create, snippet)
    const amy = await person(daemon(), 'amy')
    const { queue_id } = await owner.call(events.register, { event_types: ['saved_snippets'] })
    const poll = owner.call(events.get, { queue_id, last_event_id: -1 })
    await control().waiting()
    await control().call('POST', '/reset')
    assert.deepEqual((await poll).events, [])
    await owner.refused(events.get, { queue_id, last_event_id: -1 }, 'BAD_EVENT_QUEUE_ID')
    assert.deepEqual(await titles(owner), [])
    await amy.refused(users.me, {}, 'INVALID_API_KEY')
  })

  test('an organization that --reactivate made active is active after a reset', async t => {
    const data = newStoreFolder()
    const flags = ['--control']
    const first = await startDaemon(t, { data, flags })
    await first.owner.call(organization.deactivate, {})
    await first.stop()
    const again = await startDaemon(t, { data, flags: [...flags, '--reactivate'] })
    await new Control(again).call('POST', '/reset')
    assert.equal((await again.owner.call(users.me, {})).user_id, first.owner.id)
  })

  test('after a reset IDs begin where they began', async () => {
    const { owner } = daemon()
    const { saved_snippet_id: first } = await owner.call(savedSnippets.create, snippet)
    await control().call('POST', '/reset')
    assert.deepEqual(await owner.call(savedSnippets.create, snippet), {
      result: 'success',
      msg: '',
      saved_snippet_id: first,
    })
    await control().call('POST', '/reset')
  })

  test('a snapshot of time that ran ahead runs ahead again', async () => {
    await control().call('POST', '/clock/advance', { by: '30d' })
    const { snapshot } = await control().call('POST', '/snapshots', { name: 'ahead' })
    await control().call('POST', '/reset')
    assert.ok((await control().call('GET', '/clock')).now < snapshot.time)
    await control().call('POST', '/snapshots/ahead/restore')
    assert.ok((await control().call('GET', '/clock')).now >= snapshot.time)
    await control().call('DELETE', '/snapshots/ahead')
    await control().call('POST', '/reset')
  })

  test('a snapshot can be gone back to, more than once', async () => {
    const { owner } = daemon()
    await owner.call(savedSnippets.create, { ...snippet, title: 'kept' })
    await control().call('POST', '/snapshots', { name: 'one' })
    for (const title of ['lost', 'lost too']) {
      await owner.call(savedSnippets.create, { ...snippet, title })
      await control().call('POST', '/snapshots/one/restore')
      assert.deepEqual(await titles(owner), ['kept'])
    }
    const { snapshots } = await control().call('GET', '/snapshots')
    assert.deepEqual(
      snapshots.map(({ name }: { name: string }) => name),
      ['one'],
    )
    await control().call('DELETE', '/snapshots/one')
    assert.equal((await control().try('POST', '/snapshots/one/restore')).status, 404)
    for (const name of ['../x', '..', '.'])
      assert.equal((await control().try('POST', '/snapshots', { name })).status, 400, name)
  })
})

describe('the clock', () => {
  const daemon = sharedDaemon({ flags: ['--control', '--clock', 'frozen@2030-01-01T00:00:00Z'] })
  const control = () => new Control(daemon())

  test('advance fires what falls due: a poll gets its heartbeat, an idle queue expires', async () => {
    const { owner } = daemon()
    const { queue_id } = await owner.call(events.register, { event_types: [] })
    const poll = owner.call(events.get, { queue_id, last_event_id: -1 })
    await control().waiting()
    await control().call('POST', '/clock/advance', { by: '1m' })
    assert.deepEqual(
      (await poll).events.map(({ type }) => type),
      ['heartbeat'],
    )
    await control().call('POST', '/clock/advance', { by: 660 })
    await owner.refused(events.get, { queue_id, last_event_id: -1 }, 'BAD_EVENT_QUEUE_ID')
  })

  test('a move by 70 years sends a client that keeps polling one heartbeat, not one a minute, and its queue lives on', async () => {
    const { owner } = daemon()
    const { queue_id } = await owner.call(events.register, { event_types: ['saved_snippets'] })
    const heard: string[] = []
    const follow = async () => {
      for (let last = -1; !heard.includes('saved_snippets'); ) {
        const { events: news } = await owner.call(events.get, { queue_id, last_event_id: last })
        heard.push(...news.map(({ type }) => type))
        last = news.at(-1)!.id
      }
    }
    const following = follow()
    await control().waiting()
    await control().call('POST', '/clock/set', { to: '2100-01-01T00:00:00Z' })
    await owner.call(savedSnippets.create, snippet)
    await following
    assert.deepEqual(heard, ['heartbeat', 'saved_snippets'])
  })

  test('set goes forward only, and reset brings the beginning back', async () => {
    await control().call('POST', '/reset')
    const { time } = await control().call('POST', '/clock/set', { to: '2030-01-02T00:00:00Z' })
    assert.equal(time, '2030-01-02T00:00:00.000Z')
    const { body } = await control().try('POST', '/clock/set', { to: '2029-01-02T00:00:00Z' })
    assert.match(body.msg, /^to: must not be before the daemon's time, 2030/)
    assert.equal((await control().call('POST', '/reset')).time, '2030-01-01T00:00:00.000Z')
  })

  test('what happens while the clock is frozen has that time', async () => {
    await control().call('POST', '/clock/advance', { by: '90s' })
    await daemon().owner.call(savedSnippets.create, snippet)
    const reply = await daemon().owner.call(savedSnippets.list, {})
    assert.equal(reply.saved_snippets[0]!.date_created, Date.parse('2030-01-01T00:01:30Z') / 1000)
  })

  test('resume lets it run, freeze stops it', async () => {
    await control().call('POST', '/clock/resume')
    const running = await control().call('GET', '/clock')
    await until(async () => (await control().call('GET', '/clock')).now > running.now)
    const later = await control().call('POST', '/clock/freeze')
    assert.ok(!running.frozen && later.frozen)
    assert.equal((await control().call('GET', '/clock')).now, later.now)
    for (const by of ['soon', -1, null, undefined])
      assert.equal((await control().try('POST', '/clock/advance', { by })).status, 400)
  })
})

describe('requests', () => {
  const daemon = sharedDaemon({ flags: ['--control'] })
  const control = () => new Control(daemon())

  test('every call is logged with parameters and outcome, without its secrets', async () => {
    await daemon().owner.call(savedSnippets.create, snippet)
    await daemon().owner.refused(savedSnippets.delete, { saved_snippet_id: 99 }, 'BAD_REQUEST')
    const login = { username: 'owner@example.com', password: 'wrong wrong' }
    await daemon().anonymous.refused(users.fetchApiKey, login, 'AUTHENTICATION_FAILED')
    const { requests } = await control().call('GET', '/requests')
    const seen = requests.map(({ endpoint, user, params, status, code }: any) => ({
      endpoint,
      user,
      params,
      status,
      code,
    }))
    const user = 'owner@example.com'
    assert.deepEqual(seen, [
      { endpoint: 'create-saved-snippet', user, params: snippet, status: 200, code: null },
      { endpoint: 'delete-saved-snippet', user, params: { saved_snippet_id: 99 }, status: 404, code: 'BAD_REQUEST' },
      {
        endpoint: 'fetch-api-key',
        user: null,
        params: { username: 'owner@example.com', password: '***' },
        status: 401,
        code: 'AUTHENTICATION_FAILED',
      },
    ])
    assert.ok(requests.every((call: any) => call.duration_ms > 0 && call.time > 0))
    assert.equal((await control().call('GET', '/requests?status=404')).requests.length, 1)
    assert.equal((await control().call('GET', `/requests?since=${requests[0].id}`)).requests.length, 2)
    await control().call('DELETE', '/requests')
    assert.deepEqual((await control().call('GET', '/requests')).requests, [])
  })

  test('a call can be waited for', async () => {
    const wait = control().call('POST', '/wait', { call: { endpoint: 'get-own-user', status: 200 }, within: '1m' })
    await daemon().owner.call(users.me, {})
    const { met, call } = await wait
    assert.ok(met)
    assert.equal(call.user, 'owner@example.com')
  })

  test('a call can be waited for by the fields that lists take', async () => {
    await daemon().owner.call(users.me, {})
    const { met, call } = await control().call('POST', '/requests/wait', { endpoint: 'get-own-user', user: 'owner' })
    assert.deepEqual([met, call.status], [true, 200])
    const none = await control().call('POST', '/requests/wait', { endpoint: 'get-own-user', status: 429, within: 0 })
    assert.deepEqual([none.met, none.near[0].differs], [false, ['status: wanted 429, was 200']])
  })

  test('a body that is no object, or nested too deep, is refused', async () => {
    const headers = { Authorization: `Bearer ${daemon().ready.control_token}`, 'Content-Type': 'application/json' }
    for (const body of ['[]', '1', '{', `{"event":${'['.repeat(5000)}${']'.repeat(5000)}}`]) {
      const reply = await daemon().anonymous.raw('POST', '/control/v1/wait', { headers, body })
      assert.deepEqual([reply.status, reply.body.code], [400, 'INVALID_JSON'], body.slice(0, 20))
    }
  })

  test('a method that a path does not take is 405, an unknown path 404', async () => {
    const wrong = await control().try('DELETE', '/clock')
    assert.deepEqual([wrong.status, wrong.body.allowed_methods], [405, ['GET']])
    assert.equal((await control().try('GET', '/clocks')).status, 404)
  })

  test('an event can be waited for, also one that has happened', async () => {
    await daemon().owner.call(savedSnippets.create, { ...snippet, title: 'waited for' })
    const wanted = { type: 'saved_snippets', saved_snippet: { title: '/^waited/' } }
    const reply = await control().call('POST', '/wait', { event: wanted, user: 'owner', within: 1 })
    assert.ok(reply.met)
    assert.equal(reply.event.event.op, 'add')
  })

  test('people are known by name here, and what is not understood is refused', async () => {
    await daemon().owner.call(savedSnippets.list, {})
    const { requests } = await control().call('GET', '/requests?user=owner&limit=1')
    assert.equal(requests[0].user, 'owner@example.com')
    const call = { endpoint: 'get-saved-snippets', user: 'owner' }
    const byRoute = { ...call, endpoint: 'GET /saved_snippets' }
    for (const wanted of [call, byRoute, { ...call, endpoint: '/saved-snippets$/' }])
      assert.equal((await control().call('POST', '/wait', { call: wanted, within: 1 })).met, true)
    const listed = await control().call('GET', '/requests?endpoint=GET%20/saved_snippets&limit=1')
    assert.equal(listed.requests[0].endpoint, 'get-saved-snippets')
    const mistakes: [method: string, path: string, body: object | undefined, told: RegExp][] = [
      ['GET', '/requests?enpoint=x', undefined, /^enpoint: unknown parameter\. Did you mean endpoint\?$/],
      ['GET', '/requests?endpoint=x', undefined, /^endpoint: there is no endpoint/],
      ['GET', '/requests?user=x', undefined, /^user: there is no account/],
      ['GET', '/requests?limit=x', undefined, /^limit\b.*integer/],
      ['GET', '/events?typ=x', undefined, /^typ: unknown parameter/],
      ['GET', '/outbox?form=x', undefined, /^form: unknown parameter/],
      ['POST', '/queues/expire', { queue: 'x' }, /^queue: unknown parameter/],
      ['POST', '/queues/expire', { queue_id: 'x' }, /^queue_id: there is no queue/],
      ['POST', '/wait', { evnt: {} }, /^evnt: unknown parameter/],
      ['POST', '/wait', { event: {}, call: {} }, /^event: give exactly one of event, call or webhook/],
      [
        'POST',
        '/wait',
        { call: { endpoint: 'send-mesage' } },
        /^call: there is no endpoint "send-mesage"\. Did you mean send-message/,
      ],
      ['POST', '/wait', { event: [] }, /^event\b.*object/],
      ['POST', '/clock/freeze', { at: 'x' }, /^at: must be UNIX seconds/],
      ['POST', '/clock/freeze', { at: 1 }, /^at: must not be before the daemon's time/],
      ['POST', '/clock/advance', {}, /^by: required/],
      ['POST', '/clock/set', {}, /^to: required/],
      ['POST', '/clock/set', { to: '2030-01-01T00:00:00Z', too: 1 }, /^too: unknown parameter/],
      ['POST', '/snapshots', { name: 5 }, /^name: must be a string/],
      ['POST', '/snapshots', { name: 'x'.repeat(101) }, /^name: must be at most 100 characters/],
      ['POST', '/requests/wait', { endpoint: 'x' }, /^endpoint: there is no endpoint/],
      ['POST', '/webhooks/wait', { bot: 'x', within: 'soon' }, /^within: must be a duration/],
      ['DELETE', '/faults?id=7', undefined, /^id: there is no fault/],
      ['DELETE', '/faults/7', undefined, /^id: there is no fault/],
      ['GET', '/accounts?name=x', undefined, /^name: there is no account/],
    ]
    for (const [method, path, body, told] of mistakes) {
      const reply = await control().try(method, path, body)
      assert.match(reply.body.msg, told, path)
    }
    assert.equal((await control().call('GET', '/clock')).frozen, false)
  })

  test('what did not come is told with what came closest', async () => {
    const wanted = { type: 'saved_snippets', op: 'add', saved_snippet: { title: 'other' } }
    const { met, near } = await control().call('POST', '/wait', { event: wanted, within: '50ms' })
    assert.equal(met, false)
    assert.deepEqual(near[0].differs, ['event.saved_snippet.title: wanted "other", was "waited for"'])
    for (const sent of [{}, { event: 1 }, { event: { type: '/(/' } }, { event: {}, within: 'x' }])
      assert.equal((await control().try('POST', '/wait', sent)).status, 400)
  })
})

describe('queues, outbox and accounts', () => {
  const daemon = sharedDaemon({ flags: ['--control'] })
  const control = () => new Control(daemon())

  test('queues are listed and can be made to expire', async () => {
    const { owner } = daemon()
    const { queue_id } = await owner.call(events.register, { event_types: ['drafts'] })
    await owner.call(drafts.create, { drafts: [{ type: '', to: [], topic: '', content: 'x' }] })
    const { queues } = await control().call('GET', '/queues')
    assert.equal(queues.length, 1)
    const { user, event_types, pending, waiting } = queues[0]
    assert.deepEqual([user, event_types, pending, waiting], ['owner@example.com', ['drafts'], 1, false])
    const amy = await person(daemon(), 'queue-amy')
    assert.equal((await control().call('GET', '/queues?user=owner')).queues.length, 1)
    assert.deepEqual((await control().call('GET', `/queues?user=${amy.id}`)).queues, [])
    assert.match((await control().try('GET', '/queues?user=zed')).body.msg, /^user: there is no account "zed"/)
    assert.deepEqual((await control().call('POST', '/queues/expire', { user: 'owner' })).expired, [queue_id])
    await owner.refused(events.get, { queue_id, last_event_id: -1 }, 'BAD_EVENT_QUEUE_ID')
  })

  test('accounts come with their keys', async () => {
    const amy = await person(daemon(), 'amy')
    const { account } = await control().call('GET', '/accounts/amy')
    assert.deepEqual([account.user_id, account.email, account.api_key], [amy.id, amy.email, amy.key])
    assert.equal((await control().try('GET', '/accounts/nobody')).status, 404)
    assert.equal((await control().call('GET', '/accounts')).accounts.length, 3)
    assert.deepEqual((await control().call('GET', '/outbox')).mails, [])
    assert.deepEqual((await control().call('GET', '/webhooks')).deliveries, [])
  })
})
