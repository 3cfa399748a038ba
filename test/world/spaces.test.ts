// Spaces of a real daemon: how they are made, what works in them, and how they end.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { bots } from '../../daemon/api/bots/bots.ts'
import { events } from '../../daemon/api/events.ts'
import { uploads } from '../../daemon/api/files/uploads.ts'
import { messages } from '../../daemon/api/messages/messages.ts'
import { savedSnippets } from '../../daemon/api/messages/saved-snippets.ts'
import { server } from '../../daemon/api/organization/server.ts'
import { avatars } from '../../daemon/api/people/avatars.ts'
import { invitations } from '../../daemon/api/people/invitations.ts'
import { users } from '../../daemon/api/people/users.ts'
import { startDaemon as startHere } from '../../daemon/daemon.ts'
import { readConfig } from '../../daemon/start/config.ts'
import { BotServer, json } from '../support/bot-server.ts'
import { Control } from '../support/control.ts'
import { type Caller, sharedDaemon, startDaemon } from '../support/daemon.ts'
import { send } from '../support/http.ts'
import { pixel } from '../support/images.ts'
import { openSpace, spaceOf } from '../support/spaces.ts'
import { until } from '../support/until.ts'

const daemon = sharedDaemon({ flags: ['--memory', '--preset', 'dev', '--max-spaces', '60'] })
const control = () => new Control(daemon())

async function titles(caller: Caller): Promise<string[]> {
  return (await caller.call(savedSnippets.list, {})).saved_snippets.map(({ title }) => title)
}

describe('POST /spaces', () => {
  test('makes an organization with an address, accounts and a token of its own', async () => {
    const made = await control().call('POST', '/spaces', { name: 'first' })
    assert.equal(made.url, `${daemon().url}/spaces/first`)
    assert.equal(made.inspector, `${made.url}/#token=${made.control_token}`)
    assert.ok(made.accounts.some(({ email }: any) => email === 'amy@example.com'))
    const space = spaceOf(made)
    assert.equal((await space.owner.call(server.settings, {})).realm_url, space.url)
    assert.equal((await space.as('amy').call(users.me, {})).full_name, 'Amy Adams')
    await daemon().owner.call(savedSnippets.create, { title: 'outside', content: 'x' })
    assert.deepEqual(await titles(space.owner), [])
    const stranger = { ...daemon().ready, control_token: space.token }
    const refused = await new Control({ url: daemon().url, ready: stranger }).try('GET', '/spaces')
    assert.equal(refused.body.code, 'UNAUTHORIZED', 'the token of a space opens that space only')
    await control().call('DELETE', '/spaces/first')
  })

  test('chooses a name that is free', async () => {
    const next = await openSpace(daemon())
    const after = await openSpace(daemon(), { name: String(Number(next.name) + 1) })
    const last = await openSpace(daemon())
    assert.equal(new Set([next.name, after.name, last.name]).size, 3)
  })

  test('takes a preset, and a seed as an object or as text', async () => {
    const empty = await control().call('POST', '/spaces', { preset: 'empty' })
    assert.equal(empty.accounts.length, 1)
    const seeded = await openSpace(daemon(), { preset: 'empty', seed: { users: [{ name: 'zoe' }] } })
    assert.equal((await seeded.as('zoe').call(users.me, {})).email, 'zoe@example.com')
    const written = await openSpace(daemon(), { preset: 'empty', seed: 'users:\n  - name: yan\n' })
    assert.equal((await written.as('yan').call(users.me, {})).email, 'yan@example.com')
    const wrong = await control().try('POST', '/spaces', { preset: 'empty', seed: 'users:\n  - nom: yan\n' })
    assert.match(wrong.body.msg, /^seed: the seed, line 2: users\[0\]/)
    const same = await control().try('POST', '/spaces', { preset: 'empty', seed: { users: [{ nom: 'yan' }] } })
    assert.match(same.body.msg, /^seed: users\[0\]/)
    const owner = { email: 'welcome-bot@example.com' }
    const taken = await control().try('POST', '/spaces', { preset: 'empty', seed: { owner } })
    assert.match(taken.body.msg, /^seed: owner\.email is refused: .* is already in use/)
  })

  test('takes little YAML, and says where long JSON is wrong without its line: both take long to read', async () => {
    const long = `${'# YAML\n'.repeat(10_000)}users: []\n`
    const refused = await control().try('POST', '/spaces', { preset: 'empty', seed: long })
    assert.match(refused.body.msg, /^seed: the seed has more than 65536 characters of YAML; send it as JSON/)
    const json = `${' '.repeat(70_000)}{"users":[{"nom":"yan"}]}`
    const wrong = await control().try('POST', '/spaces', { preset: 'empty', seed: json })
    assert.match(wrong.body.msg, /^seed: the seed: users\[0\]/)
  })

  test('begins with a snapshot, or as a copy of another space or of the daemon', async () => {
    const first = await openSpace(daemon(), { clock: 'frozen@2030-01-01T00:00:00Z' })
    const note = { filename: 'note.txt', contentType: 'text/plain', bytes: Buffer.from('kept in a file') }
    const { url: file } = await first.owner.call(uploads.upload, { file: note })
    await first.owner.call(savedSnippets.create, { title: 'one', content: `[note](${file})` })
    await first.control.call('POST', '/snapshots', { name: 'with-one' })
    await first.owner.call(savedSnippets.create, { title: 'two', content: 'x' })
    await first.control.call('POST', '/clock/advance', { by: '1h' })
    const copy = await openSpace(daemon(), { from: first.name })
    assert.deepEqual(await titles(copy.owner), ['one', 'two'])
    assert.equal((await copy.control.call('GET', '/clock')).time, '2030-01-01T01:00:00.000Z')
    const earlier = await openSpace(daemon(), { from: first.name, snapshot: 'with-one' })
    assert.deepEqual(await titles(earlier.owner), ['one'])
    assert.equal((await earlier.control.call('GET', '/clock')).time, '2030-01-01T00:00:00.000Z')
    const later = await openSpace(daemon(), { from: first.name, clock: 'frozen@2040-01-01T00:00:00Z' })
    assert.equal((await later.control.call('GET', '/clock')).time, '2040-01-01T00:00:00.000Z')
    await control().call('DELETE', `/spaces/${first.name}`)
    assert.equal((await copy.owner.raw('GET', file!)).text, 'kept in a file', 'files outlive the space they came from')
    await copy.owner.call(savedSnippets.create, { title: 'three', content: 'x' })
    await copy.control.call('POST', '/reset')
    assert.deepEqual(await titles(copy.owner), ['one', 'two'], 'a reset goes back to what the space began with')
    await daemon().owner.call(savedSnippets.create, { title: 'of the daemon', content: 'x' })
    const main = await openSpace(daemon(), { from: 'main' })
    assert.ok((await titles(main.owner)).includes('of the daemon'))
    await control().call('POST', '/snapshots', { name: 'saved' })
    assert.ok((await titles((await openSpace(daemon(), { snapshot: 'saved' })).owner)).includes('of the daemon'))
  })

  test('leaves behind what is for the world that it copies: webhooks that wait, and answers to idempotency keys', async () => {
    const hook = new BotServer()
    hook.answer = () => {}
    await hook.listen()
    try {
      const first = await openSpace(daemon())
      const bot = { full_name: 'Hook', short_name: 'hook', bot_type: 3, payload_url: hook.url } as const
      const { user_id } = await first.owner.call(bots.create, bot)
      const ask = { type: 'direct', to: [user_id], content: 'asked once' } as const
      const key = { 'Idempotency-Key': 'one' }
      const sent = await first.owner.try(messages.send, ask, key)
      await until(() => hook.received.length === 1)
      const copy = await openSpace(daemon(), { from: first.name })
      const again = await copy.owner.try(messages.send, { ...ask, content: 'asked in the copy' }, key)
      assert.equal(again.body.id, sent.body.id + 1, JSON.stringify(again.body))
      await until(() => hook.received.length === 2)
      assert.equal(hook.received[1]!.body.data, 'asked in the copy')
      const { deliveries } = await copy.control.call('GET', '/webhooks')
      assert.deepEqual(
        deliveries.map(({ status, error }: any) => [status, error]),
        [
          ['failed', 'Not sent: it waited when the organization was copied'],
          ['waiting', null],
        ],
      )
      assert.equal((await first.control.call('GET', '/webhooks')).deliveries[0].status, 'waiting')
    } finally {
      await hook.close()
    }
  })

  test('derives keys and queue IDs from a secret, and speaks the dialect that is asked for', async () => {
    const asked = { secret: 'known in advance', clock: 'frozen@2030-01-01T00:00:00Z', dialect: 'zulip' }
    const [one, two] = [await openSpace(daemon(), asked), await openSpace(daemon(), asked)]
    assert.equal(one.owner.key, two.owner.key)
    assert.equal(one.token, two.token)
    const register = async ({ owner }: typeof one) => (await owner.raw('POST', '/api/v1/register')).body
    const [left, right] = [await register(one), await register(two)]
    assert.equal(left.queue_id, right.queue_id)
    assert.equal(typeof left.zulip_version, 'string')
  })

  test('refuses names that cannot be part of an address, names in use, and what does not go together', async () => {
    const refusal = async (params: object) => (await control().try('POST', '/spaces', params)).body.msg
    for (const name of ['', '.', '..', '.hidden', '-x', 'a/b', 'a b', 'ä', '%2e', 'a?b', 'a#b', 'x'.repeat(65)])
      assert.match(await refusal({ name }), /^name: must be up to 64 letters/, JSON.stringify(name))
    assert.match(await refusal({ name: 'x'.repeat(101) }), /^name: must be at most 100 characters/)
    assert.match(await refusal({ name: 7 }), /^name: must be a string/)
    assert.match(await refusal({ name: 'main' }), /^name: main is the daemon’s own world/)
    await openSpace(daemon(), { name: 'in-use' })
    assert.equal(await refusal({ name: 'in-use' }), 'name: "in-use" is already in use')
    assert.match(await refusal({ from: 'nobody' }), /^from: there is no space "nobody"/)
    assert.match(await refusal({ snapshot: 'nothing' }), /^snapshot: there is no snapshot "nothing"/)
    assert.equal(await refusal({ from: 'in-use', preset: 'dev' }), 'Give only one of preset and from.')
    assert.equal(await refusal({ seed: {}, snapshot: 'saved' }), 'Give only one of seed and snapshot.')
    assert.match(await refusal({ clock: 'yesterday' }), /^clock: must be real, frozen or frozen@TIME/)
    assert.match(await refusal({ preset: 'huge' }), /^preset: /)
    assert.match(await refusal({ names: 'x' }), /^names: unknown parameter/)
  })

  test('refuses one more than --max-spaces allows, and has room again when one is deleted', async t => {
    const own = await startDaemon(t, { flags: ['--memory', '--max-spaces', '2'] })
    const [first] = await Promise.all([openSpace(own), openSpace(own)])
    const full = await new Control(own).try('POST', '/spaces')
    assert.equal(full.body.msg, 'name: there are already 2 spaces, the most that --max-spaces allows; delete one first')
    await new Control(own).call('DELETE', `/spaces/${first.name}`)
    await openSpace(own)
    assert.equal((await new Control(own).call('GET', '/spaces')).spaces.length, 2)
  })
})

describe('a space', () => {
  test('serves API, files, avatars, probes, control plane and events below its address', async () => {
    const space = await openSpace(daemon())
    const { owner, url } = space
    const note = { filename: 'note.txt', contentType: 'text/plain', bytes: Buffer.from('of the space') }
    const { url: file } = await owner.call(uploads.upload, { file: note })
    assert.equal((await owner.raw('GET', file!)).text, 'of the space')
    assert.equal((await daemon().owner.raw('GET', file!)).status, 404)
    const picture = { filename: 'me.png', contentType: 'image/png', bytes: pixel.png }
    await owner.call(avatars.upload, { file: picture })
    const redirect = await owner.raw('GET', `/avatar/${owner.id}`)
    assert.match(String(redirect.headers.location), new RegExp(`^/spaces/${space.name}/user_avatars/`))
    assert.equal(
      (await send(new URL(String(redirect.headers.location), url).href)).headers['content-type'],
      'image/png',
    )
    assert.equal((await send(`${url}/readyz`)).body.ready, true)
    const { queue_id } = await owner.call(events.register, { event_types: ['message'] })
    await owner.call(messages.send, { type: 'channel', to: 'general', topic: 't', content: 'in the space' })
    const heard = await owner.call(events.get, { queue_id: queue_id!, last_event_id: -1 })
    assert.equal((heard.events[0] as any).message.content, 'in the space')
    const { requests } = await space.control.call('GET', '/requests?endpoint=send-message')
    assert.deepEqual(
      requests.map(({ path }: any) => path),
      ['/api/v1/messages'],
    )
  })

  test('has the inspector as its page, also without the slash at the end', async () => {
    const { url, name } = await openSpace(daemon())
    const bare = await send(`${url}?x=1`)
    assert.deepEqual([bare.status, bare.headers.location], [302, `${name}/?x=1`])
    const page = await send(`${url}/`)
    assert.match(page.text, /<title>Natter inspector<\/title>/)
    assert.equal((await send(`${url}/inspector/app.js`)).status, 200)
  })

  test('has its own clock, faults, requests, outbox, webhooks, snapshots and queues', async () => {
    const [left, right] = [await openSpace(daemon()), await openSpace(daemon())]
    await left.control.call('POST', '/clock/freeze', { at: '2040-01-01T00:00:00Z' })
    await left.control.call('POST', '/faults', { kind: 'status', endpoint: 'get-own-user', status: 503 })
    await left.control.call('POST', '/snapshots', { name: 'left' })
    await left.owner.call(invitations.send, { invitee_emails: 'new@example.com', stream_ids: [] })
    await left.owner.call(events.register, {})
    assert.equal((await left.owner.raw('GET', '/api/v1/users/me')).status, 503)
    assert.equal((await left.control.call('GET', '/outbox')).mails.length, 1)
    assert.equal((await right.owner.raw('GET', '/api/v1/users/me')).status, 200)
    assert.equal((await right.control.call('GET', '/clock')).frozen, false)
    for (const [path, field] of Object.entries({
      '/faults': 'faults',
      '/outbox': 'mails',
      '/snapshots': 'snapshots',
      '/queues': 'queues',
      '/webhooks': 'deliveries',
    }))
      assert.deepEqual((await right.control.call('GET', path))[field], [], path)
    const { requests } = await right.control.call('GET', '/requests')
    assert.deepEqual(
      requests.map(({ endpoint, id }: any) => [endpoint, id]),
      [['get-own-user', 1]],
    )
  })

  test('calls the server of its own bots, whose reply stays in the space', async t => {
    const bot = new BotServer()
    await bot.listen()
    t.after(() => bot.close())
    bot.answer = json({ content: 'done' })
    const [left, right] = [await openSpace(daemon()), await openSpace(daemon())]
    const deploy = { full_name: 'Deploy', short_name: 'deploy-hook', bot_type: 3 as const, payload_url: bot.url }
    for (const { owner } of [left, right]) await owner.call(bots.create, deploy)
    const content = 'ship it, @**Deploy**'
    const sent = await left.owner.call(messages.send, { type: 'channel', to: 'general', topic: 'deploy', content })
    const delivered = { webhook: { status: 'delivered' }, within: 60 }
    const { webhook } = await left.control.call('POST', '/wait', delivered)
    assert.deepEqual([webhook.message_id, webhook.trigger, webhook.attempts], [sent.id, 'mention', 1])
    assert.deepEqual(
      bot.received.map(({ body }) => [body.message.content, body.trigger]),
      [[content, 'mention']],
    )
    const event = { type: 'message', message: { content: 'done', sender_full_name: 'Deploy' } }
    assert.equal((await left.control.call('POST', '/wait', { event, within: 60 })).met, true)
    assert.deepEqual((await right.control.call('GET', '/webhooks')).deliveries, [])
    assert.equal((await right.control.call('POST', '/wait', { event, within: 0 })).met, false)
  })

  test('has no spaces of its own', async () => {
    const space = await openSpace(daemon())
    for (const method of ['GET', 'POST']) {
      const refused = await space.control.try(method, '/spaces')
      assert.equal(refused.status, 404)
      assert.match(refused.body.msg, /^A space has no spaces of its own\. .* run `natter profile use -` first\.$/)
    }
  })

  test('counts its requests by itself', async () => {
    const space = await openSpace(daemon(), { name: 'counted' })
    await daemon().owner.call(users.me, {})
    const replies = [await space.owner.raw('GET', '/api/v1/users/me'), await space.owner.raw('GET', '/api/v1/users/me')]
    assert.deepEqual(
      replies.map(({ headers }) => headers['x-request-id']),
      ['req-counted-1', 'req-counted-2'],
    )
  })
})

describe('GET /spaces', () => {
  test('lists spaces with their tokens, and whether someone waits in them', async () => {
    const space = await openSpace(daemon(), { name: 'listed' })
    const { spaces, most } = await control().call('GET', '/spaces')
    const found = spaces.find(({ name }: any) => name === 'listed')
    assert.deepEqual([found.url, found.control_token, found.busy, most], [space.url, space.token, false, 60])
    assert.equal(found.expires, found.last_used + 3_600_000)
    assert.deepEqual((await control().call('GET', '/spaces/listed')).control_token, space.token)
    assert.equal((await control().try('GET', '/spaces/nobody')).body.msg, 'name: there is no space "nobody"')
  })
})

describe('DELETE /spaces/{name}', () => {
  test('answers waiting polls and waits, and then there is no such space', async () => {
    const space = await openSpace(daemon(), { name: 'short-lived' })
    const { queue_id } = await space.owner.call(events.register, { event_types: ['message'] })
    const poll = space.owner.call(events.get, { queue_id: queue_id!, last_event_id: -1 })
    const wait = space.control.call('POST', '/wait', { event: { type: 'nothing' }, within: '10m' })
    const live = space.control.call('GET', '/live?events=0&requests=1000&within=60')
    await until(async () => (await control().call('GET', '/spaces')).spaces.some(({ busy }: any) => busy))
    await space.control.waiting(queue_id!)
    await control().call('DELETE', '/spaces/short-lived')
    assert.deepEqual((await poll).events, [])
    assert.equal((await wait).met, false)
    assert.equal((await live).result, 'success')
    for (const path of ['/api/v1/users/me', '/control/v1/clock', '/', ''])
      assert.deepEqual(
        [(await space.owner.raw('GET', path)).status, (await space.owner.raw('GET', path)).body.msg],
        [404, 'There is no space "short-lived". It was deleted, it expired, or it never existed.'],
      )
    assert.equal(
      (await control().try('DELETE', '/spaces/short-lived')).body.msg,
      'name: there is no space "short-lived"',
    )
    const again = await openSpace(daemon(), { name: 'short-lived' })
    assert.notEqual(again.token, space.token)
    assert.equal((await space.owner.raw('GET', '/api/v1/users/me')).body.code, 'INVALID_API_KEY')
  })

  test('refuses an upload that is under way, and says why', async () => {
    const space = await openSpace(daemon(), { name: 'receiving' })
    const { email, key } = space.owner
    const body = new TransformStream<Uint8Array, Uint8Array>()
    const writer = body.writable.getWriter()
    const write = (text: string) => writer.write(new TextEncoder().encode(text))
    const answer = fetch(`${space.url}/api/v1/user_uploads`, {
      method: 'POST',
      headers: {
        Authorization: `Basic ${btoa(`${email}:${key}`)}`,
        'Content-Type': 'multipart/form-data; boundary=b',
      },
      body: body.readable,
      duplex: 'half',
    } as RequestInit)
    await write('--b\r\nContent-Disposition: form-data; name="f"; filename="a.txt"\r\n\r\nhalf of it, ')
    await until(async () =>
      (await space.control.call('GET', '/requests')).requests.some(({ path }: any) => path.endsWith('/user_uploads')),
    )
    const deletion = control().call('DELETE', '/spaces/receiving')
    await until(async () => (await control().try('GET', '/spaces/receiving')).status !== 200)
    await write('and the rest\r\n--b--\r\n')
    await writer.close()
    const response = await answer
    const { code, msg } = (await response.json()) as Record<string, unknown>
    assert.deepEqual([response.status, code, msg], [503, 'SERVER_NOT_READY', 'This space has been deleted.'])
    await deletion
  })
})

describe('natterd --space-idle', () => {
  test('deletes a space that no one uses, and keeps one in which someone waits', async t => {
    const own = await startDaemon(t, { flags: ['--memory', '--space-idle', '1'] })
    // On a machine that is busy for a second, a space can be gone before a client waits in it: then another one is made.
    const { used, poll } = await until(async () => {
      const used = await openSpace(own)
      const { queue_id } = (await used.owner.raw('POST', '/api/v1/register')).body
      const poll = used.owner.raw('GET', `/api/v1/events?queue_id=${queue_id}&last_event_id=-1`)
      const busy = until(async () =>
        (await new Control(own).call('GET', '/spaces')).spaces.some(
          (space: any) => space.name === used.name && space.busy,
        ),
      )
      const waits = await Promise.race([busy.then(() => true), poll.then(() => false)])
      return waits && { used, poll }
    })
    const unused = await openSpace(own)
    const names = async () => (await new Control(own).call('GET', '/spaces')).spaces.map(({ name }: any) => name)
    await until(async () => !(await names()).includes(unused.name))
    assert.deepEqual(await names(), [used.name])
    assert.match((await unused.owner.raw('GET', '/api/v1/users/me')).body.msg, /^There is no space/)
    await used.owner.call(messages.send, { type: 'direct', to: [used.owner.id], content: 'still here' })
    assert.equal((await poll).body.events.length, 1)
    await until(async () => (await names()).length === 0)
  })
})

describe('a daemon that stops', () => {
  test('leaves no space behind that was being made', async () => {
    const own = await startHere(readConfig(['--memory', '--port', '0', '--no-profile'], {}), () => {})
    const spaces = await own.spaces()
    const making = assert.rejects(spaces.open({}), /The daemon is stopping/)
    await own.stop()
    await making
    assert.deepEqual(spaces.list().spaces, [])
  })

  test('answers the polls that wait in its spaces', async t => {
    const own = await startDaemon(t, { flags: ['--memory'] })
    const space = await openSpace(own)
    const { queue_id } = await space.owner.call(events.register, { event_types: ['message'] })
    const poll = space.owner.call(events.get, { queue_id: queue_id!, last_event_id: -1 })
    await space.control.waiting(queue_id!)
    await own.stop()
    assert.deepEqual((await poll).events, [])
  })
})
