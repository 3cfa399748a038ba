import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import {
  type Client,
  createClient,
  type Event,
  type EventOptions,
  type GapEvent,
  NatterError,
} from '../../daemon/client/index.ts'
import { type Natter, type Seed, startNatter } from '../../daemon/testing/index.ts'
import { Control } from '../support/control.ts'
import { launch } from '../support/daemon.ts'
import { freePort } from '../support/free-port.ts'
import { until } from '../support/until.ts'

describe('natter/testing', () => {
  test('a world in process, with everyone in it and gone at the end', async () => {
    let url: string
    {
      await using natter = await startNatter({ secret: 's' })
      url = natter.url
      assert.equal((await natter.as('amy').users.me()).full_name, 'Amy Adams')
      assert.equal((await natter.as('echo-bot').users.me()).is_bot, true)
      assert.equal((await natter.owner.users.me()).is_owner, true)
      assert.equal(natter.env('amy').ZULIP_EMAIL, 'amy@example.com')
      assert.throws(() => natter.as('nobody'), /there is no account "nobody"/)
    }
    await assert.rejects(fetch(`${url}/livez`))
  })

  test('a seed can be given as an object; two daemons do not know of each other', async () => {
    await using one = await startNatter({ preset: 'empty', seed: { users: [{ name: 'zoe' }] } })
    await using two = await startNatter({ preset: 'empty' })
    assert.equal((await one.as('zoe').users.me()).email, 'zoe@example.com')
    assert.throws(() => two.as('zoe'))
    await assert.rejects(startNatter({ seed: { users: [{ name: 'amy' }] } }), /is refused/)
    const seed = { users: [{ name: 'zoe' }, { name: 'yan', role: 'king' }] } as unknown as Seed
    await assert.rejects(startNatter({ preset: 'empty', seed }), /^TypeError: startNatter: seed: users\[1\]\.role /)
  })

  test('time, faults, snapshots and reset are at hand', async () => {
    await using natter = await startNatter({ clock: new Date('2030-01-01T00:00:00Z') })
    const amy = natter.as('amy')
    await natter.clock.advance('10m')
    await amy.savedSnippets.create({ title: 'a', content: 'b' })
    const { saved_snippets } = await amy.savedSnippets.list()
    assert.equal(saved_snippets[0]!.date_created, Date.UTC(2030, 0, 1, 0, 10) / 1000)
    natter.save('one')
    natter.faults.add({ kind: 'status', status: 503, endpoint: 'get-own-user', times: 1 })
    await assert.rejects(amy.users.me(), (error: NatterError) => error.status === 503)
    assert.equal(natter.requests().at(-1)!.fault, 'status')
    await natter.reset()
    assert.equal((await amy.savedSnippets.list()).saved_snippets.length, 0)
    assert.equal(natter.clock.now().toISOString(), '2030-01-01T00:00:00.000Z')
    await natter.restore('one')
    assert.equal((await amy.savedSnippets.list()).saved_snippets.length, 1)
  })

  test('waitForListener resolves when a poll of the account waits, in this process and in a space of another', async () => {
    await using natter = await startNatter()
    await using remote = await startNatter({ in: natter.url, controlToken: natter.controlToken })
    const env = await remote.env('echo-bot')
    const bots = [natter.env('echo-bot'), env].map(({ NATTER_SITE, NATTER_EMAIL, NATTER_API_KEY }) =>
      createClient({ site: NATTER_SITE!, email: NATTER_EMAIL!, apiKey: NATTER_API_KEY! }),
    )
    const stop = new AbortController()
    for (const [index, world] of [natter, remote].entries()) {
      await assert.rejects(world.waitForListener('echo-bot', { within: 0.05 }), {
        message: 'echo-bot did not poll for events within 0.05 s. Is the bot running, with the key of echo-bot?',
      })
      await assert.rejects(world.waitForListener('nobody'), /there is no account "nobody"/)
      await assert.rejects(world.waitForListener('echo-bot', { user: 'amy' } as never), /no option "user"/)
      const listening = world.waitForListener('echo-bot')
      const first = bots[index]!.events({ types: ['message'], signal: stop.signal }).next()
      await listening
      await world.waitForListener('echo-bot', { within: 0 })
      const amy = await world.as('amy')
      await amy.messages.send({ type: 'direct', to: ['echo-bot@example.com'], content: 'Hello' })
      assert.equal((await first).value?.message.content, 'Hello')
      const answer = { type: 'message', message: { sender_email: 'echo-bot@example.com' } }
      await assert.rejects(
        world.waitFor(answer, { within: 0 }),
        /await natter\.waitForListener\('echo-bot@example\.com'\)/,
      )
    }
    stop.abort()
  })

  test('waitFor finds what has happened and what will, and says what came closest', async () => {
    await using natter = await startNatter()
    const amy = natter.as('amy')
    const later = natter.waitFor(
      { type: 'saved_snippets', saved_snippet: { title: '/^dep/' } },
      { user: 'amy', within: '1m' },
    )
    await amy.savedSnippets.create({ title: 'deploy', content: 'b' })
    assert.equal((await later).saved_snippet.content, 'b')
    assert.equal((await natter.waitForCall({ endpoint: 'create-saved-snippet' })).status, 200)
    assert.equal((await natter.waitForCall({ path: '/api/v1/saved_snippets' })).method, 'POST')
    await assert.rejects(
      natter.waitFor({ type: 'saved_snippets', op: 'remove' }, { within: 0.05 }),
      /The closest were:\n {2}- event\.op: wanted "remove", was "add"/,
    )
  })
})

describe('natter/client', () => {
  test('a refusal is an error with the code of the API', async () => {
    await using natter = await startNatter()
    await assert.rejects(natter.as('amy').savedSnippets.delete({ saved_snippet_id: 9 }), (error: NatterError) => {
      return error instanceof NatterError && error.code === 'BAD_REQUEST' && error.status === 404
    })
    const stranger = createClient({ site: natter.url, email: 'amy@example.com', apiKey: 'wrong' })
    await assert.rejects(stranger.users.me(), { code: 'INVALID_API_KEY' })
    assert.equal((await natter.as('amy').request('get', '/users/me')).full_name, 'Amy Adams')
  })

  test('a call that is refused for its role is logged with endpoint and account', async () => {
    await using natter = await startNatter()
    await assert.rejects(natter.as('amy').request('PATCH', '/realm', { name: 'Mine' }))
    const { endpoint, user, code } = natter.requests().at(-1)!
    assert.deepEqual([endpoint, user, code], ['update-realm', 'amy@example.com', 'UNAUTHORIZED_PRINCIPAL'])
  })

  test('a rate limit is waited for', async () => {
    await using natter = await startNatter()
    natter.faults.add({ kind: 'rate-limit', seconds: 0, times: 2 })
    assert.equal((await natter.as('amy').users.me()).full_name, 'Amy Adams')
    assert.deepEqual(
      natter.requests().map(({ status }) => status),
      [429, 429, 200],
    )
  })

  test('events go on over a lost queue, a hung-up poll and a server in trouble; nothing comes twice', async () => {
    await using natter = await startNatter()
    const options = { types: ['saved_snippets'], gaps: true } as const
    natter.faults.add({ kind: 'reset-mid-body', endpoint: 'get-events', times: 1 })
    natter.faults.add({ kind: 'html-502', endpoint: 'get-events', after: 1, times: 1 })
    natter.faults.add({ kind: 'duplicate-event', after: 2, times: 5 })
    const seen: (Event<'saved_snippets'> | GapEvent)[] = []
    const stop = new AbortController()
    let ready = 0
    const reading = (async () => {
      for await (const event of natter.as('amy').events({ ...options, signal: stop.signal, onReady: () => ready++ })) {
        seen.push(event)
        if (seen.length === 2) natter.faults.add({ kind: 'expire-queue', times: 1 })
      }
    })()
    await until(() => ready === 1)
    for (const title of ['one', 'two']) await natter.as('amy').savedSnippets.create({ title, content: 'x' })
    await until(() => ready === 2)
    await until(() => seen.length === 3)
    await natter.as('amy').savedSnippets.create({ title: 'three', content: 'x' })
    await until(() => seen.length === 4)
    stop.abort()
    await reading
    assert.deepEqual(
      seen.map(event => (event.type === 'gap' ? 'gap' : event.saved_snippet.title)),
      ['one', 'two', 'gap', 'three'],
    )
    await noQueues(natter)
  })

  test('messages sent while there was no queue are fetched, in order, and none comes twice', async () => {
    await using natter = await startNatter()
    const say = sayer(natter)
    const heard = follow(natter, { types: ['message'] })
    await heard.ready(1)
    await say('one')
    await heard.count(1)
    // No poll gets through until the fault is taken away, and then its queue is gone.
    natter.faults.add({ kind: 'html-502', endpoint: 'get-events' })
    natter.faults.add({ kind: 'html-502', endpoint: 'register-queue', times: 1 })
    await expireQueues(natter)
    for (const content of ['two', 'three']) await say(content)
    natter.faults.add({ kind: 'duplicate-event', times: 5 })
    natter.faults.remove(1)
    await heard.ready(2)
    await say('four')
    await heard.count(4)
    await expireQueues(natter)
    await heard.ready(3)
    await say('five')
    await heard.count(5)
    assert.deepEqual(await heard.stop(), ['one', 'two', 'three', 'four', 'five'])
  })

  test('messages sent between the new queue and the look back are told once, and more than a page is fetched', async () => {
    await using natter = await startNatter()
    const say = sayer(natter)
    // Small pages: what takes several of them must not take thousands of messages.
    const small: typeof fetch = (url, init) => fetch(String(url).replace('num_after=1000', 'num_after=4'), init)
    const { email, apiKey } = natter.account('amy')
    const amy = createClient({ site: natter.url, email, apiKey, fetch: small })
    const heard = followed(amy, { types: ['message'], narrow: [['topic', 'gap']] })
    await heard.ready(1)
    natter.faults.add({ kind: 'latency', ms: 200, endpoint: 'get-messages' })
    const many = Array.from({ length: 12 }, (_, i) => `m${i}`)
    await expireQueues(natter, async () => {
      await natter.as('bob').messages.send({ type: 'channel', to: 'general', topic: 'other', content: 'elsewhere' })
      for (const content of many) await say(content)
    })
    await heard.ready(2)
    // The queue has these and the look back, which is slow, finds them too.
    for (const content of ['during', 'still']) await say(content)
    await heard.count(14)
    assert.deepEqual(await heard.stop(), [...many, 'during', 'still'])
  })

  test('with all public channels, those that one is not subscribed to are looked back on too', async () => {
    await using natter = await startNatter()
    const bot = natter.as('echo-bot')
    await natter.as('bob').subscriptions.subscribe({ subscriptions: [{ name: 'bobs' }] })
    const heard = follow(natter, { types: ['message'], allPublicStreams: true }, 'echo-bot')
    await heard.ready(1)
    const inPublic = (content: string) =>
      natter.as('bob').messages.send({ type: 'channel', to: 'bobs', topic: 't', content })
    const direct = (content: string) => natter.as('bob').messages.send({ type: 'direct', to: [bot.email!], content })
    await inPublic('one')
    await direct('two')
    await heard.count(2)
    await expireQueues(natter, async () => {
      await inPublic('three')
      await direct('four')
      await inPublic('five')
    })
    await heard.count(5)
    await inPublic('six')
    await heard.count(6)
    assert.deepEqual(await heard.stop(), ['one', 'two', 'three', 'four', 'five', 'six'])
  })

  test('a poll that is never answered is made again', async () => {
    await using natter = await startNatter()
    natter.faults.add({ kind: 'hang-poll', times: 1 })
    const heard = follow(natter, { types: ['message'], pollSeconds: 0.2 })
    await heard.ready(1)
    await until(() => natter.requests().some(({ fault }) => fault === 'hang-poll'))
    collectGarbage()
    await sayer(natter)('one')
    await heard.count(1)
    assert.deepEqual(await heard.stop(), ['one'])
  })

  test('after a reset messages are told although their numbers came before; the gap is marked', async () => {
    await using natter = await startNatter()
    const say = sayer(natter)
    const heard = follow(natter, { types: ['message'] })
    await heard.ready(1)
    for (const content of ['one', 'two']) await say(content)
    await heard.count(2)
    await natter.reset()
    await heard.ready(2)
    await say('three')
    await heard.count(4)
    assert.deepEqual(await heard.stop(), ['one', 'two', 'gap', 'three'])
  })

  test('a daemon that is killed and started again: nothing missed, nothing twice', async t => {
    const data = mkdtempSync(join(tmpdir(), 'natter-client-'))
    t.after(() => rmSync(data, { recursive: true, force: true }))
    const flags = ['--port', String(await freePort())]
    let daemon = await launch(data, { flags })
    const { url } = daemon
    const { email, key } = daemon.owner
    const client = createClient({ site: url, email: email!, apiKey: key! })
    const say = (content: string) => client.messages.send({ type: 'direct', to: [email!], content })
    const heard = followed(client, { types: ['message'] })
    await heard.ready(1)
    await say('one')
    await heard.count(1)
    await daemon.kill()
    daemon = await launch(data, { flags })
    await say('two')
    await heard.count(2)
    // Its queues do not survive this.
    await daemon.kill()
    daemon = await launch(data, { flags: [...flags, '--control'] })
    await say('three')
    await new Control(daemon).call('POST', '/queues/expire')
    await say('four')
    await heard.count(4)
    assert.deepEqual(await heard.stop(), ['one', 'two', 'three', 'four'])
    await daemon.stop()
  })

  test('leaving the loop deletes the queue', async () => {
    await using natter = await startNatter()
    const amy = natter.as('amy')
    const creating = () => amy.savedSnippets.create({ title: 'x', content: 'x' })
    for await (const event of amy.events({ types: ['saved_snippets'], onReady: () => void creating() })) {
      assert.equal(event.op, 'add')
      break
    }
    await noQueues(natter)
  })
})

/** What is not referenced is collected. */
function collectGarbage(): void {
  setFlagsFromString('--expose-gc')
  runInNewContext('gc')()
}

function sayer(natter: Natter): (content: string) => Promise<unknown> {
  return content => natter.as('bob').messages.send({ type: 'channel', to: 'general', topic: 'gap', content })
}

function follow(natter: Natter, options: EventOptions, as = 'amy') {
  return followed(natter.as(as), options)
}

/** What a reader of the events has heard so far. */
function followed(client: Client, options: EventOptions) {
  const heard: string[] = []
  const stop = new AbortController()
  let queues = 0
  const reading = (async () => {
    for await (const event of client.events({ ...options, gaps: true, signal: stop.signal, onReady: () => queues++ }))
      heard.push(event.message ? event.message.content : event.type)
  })()
  return {
    ready: (nth: number) => until(() => queues >= nth),
    count: (events: number) => until(() => heard.length >= events),
    async stop(): Promise<string[]> {
      // Whatever would come twice has the time to.
      await new Promise(resolve => setTimeout(resolve, 50))
      stop.abort()
      await reading
      return heard
    },
  }
}

/** While no client can register another. */
async function expireQueues(natter: Natter, meanwhile = async () => {}): Promise<void> {
  const closed = natter.faults.add({ kind: 'status', status: 503, endpoint: 'register-queue' })
  await fetch(`${natter.url}/control/v1/queues/expire`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${natter.controlToken}` },
  })
  await meanwhile()
  natter.faults.remove(closed.id)
}

async function noQueues(natter: Natter): Promise<void> {
  const reply = await fetch(`${natter.url}/control/v1/queues`, {
    headers: { Authorization: `Bearer ${natter.controlToken}` },
  })
  assert.deepEqual(((await reply.json()) as { queues: unknown[] }).queues, [])
}
