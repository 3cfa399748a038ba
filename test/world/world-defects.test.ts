// Defects in what runs without a caller, and in applying facts: they end their space, or stop the daemon, and say so.

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { bots } from '../../daemon/api/bots/bots.ts'
import { events } from '../../daemon/api/events.ts'
import { messages } from '../../daemon/api/messages/messages.ts'
import { savedSnippets } from '../../daemon/api/messages/saved-snippets.ts'
import { users } from '../../daemon/api/people/users.ts'
import { Boundary } from '../../daemon/boundary.ts'
import { Refusal } from '../../daemon/domain/refusal.ts'
import { BotServer } from '../support/bot-server.ts'
import { newShell } from '../support/cli.ts'
import { Control } from '../support/control.ts'
import { type Caller, launch, newStoreFolder, sharedDaemon } from '../support/daemon.ts'
import { openSpace, type TestSpace } from '../support/spaces.ts'
import { until } from '../support/until.ts'

const env = { NODE_OPTIONS: `--import ${pathToFileURL(join(import.meta.dirname, '../support/defects.mjs'))}` }
const broken = { headers: { 'X-Defect': 'yes' } }
const poison = { title: 'defect: apply', content: 'x' }

async function registered(caller: Caller): Promise<string> {
  return (await caller.call(events.register, {})).queue_id!
}

const pollPath = (queueId: string) => `/api/v1/events?queue_id=${queueId}&last_event_id=-1`

describe('a defect in a space', () => {
  const daemon = sharedDaemon({
    flags: ['--memory', '--preset', 'dev', '--plain-http', '--heartbeat', '1', '--log-level', 'error'],
    env,
  })
  const control = () => new Control(daemon())

  async function isEnded({ name, owner, control: own }: TestSpace, reason: string): Promise<void> {
    const find = async () => (await control().call('GET', '/spaces')).spaces.find((space: any) => space.name === name)
    await until(async () => (await find()).ended !== null)
    assert.equal((await find()).ended, reason)
    for (const reply of [
      await owner.raw('GET', '/api/v1/users/me'),
      await owner.raw('GET', '/user_avatars/x'),
      await own.try('GET', '/clock'),
      await control().try('GET', `/spaces/${name}`),
      await control().try('POST', '/spaces', { from: name }),
    ]) {
      assert.deepEqual([reply.status, reply.body.code], [503, 'SERVER_NOT_READY'], reply.text)
      assert.match(
        String(reply.body.msg),
        new RegExp(`has ended the space ${name}; .* Delete the space and create it again`),
      )
      assert.equal(reply.headers['retry-after'], undefined)
    }
    assert.equal((await owner.raw('GET', '/readyz')).status, 503)
    const logged = [
      new RegExp(`a defect ended the space ${name}: ${reason}`),
      new RegExp(`"stack":"TypeError: ${reason}[^"]*defects.mjs`),
    ]
    // Lines of the log may come after the answers.
    for (const line of logged) await until(() => line.test(daemon().stderr))
  }

  async function othersGoOn(other: TestSpace): Promise<void> {
    await other.owner.call(users.me, {})
    await daemon().owner.call(users.me, {})
    assert.equal(daemon().process.exitCode, null)
  }

  test('in a timer ends that space with all polls and waits in it, and no other', async () => {
    const [space, other] = [await openSpace(daemon()), await openSpace(daemon())]
    const amy = space.as('amy')
    const [first, second] = [await registered(amy), await registered(space.owner)]
    const waiting = space.control.try('POST', '/wait', { call: { status: 999 }, within: 600 })
    // The heartbeat of this one is a second away, and its own cannot be written.
    const parked = amy.raw('GET', pollPath(first), broken).then(
      () => 'answered',
      () => 'cut off',
    )
    await space.control.waiting(first)
    const polling = space.owner.raw('GET', pollPath(second))
    assert.equal(await parked, 'cut off')
    await isEnded(space, 'the poll cannot be answered')
    const replies = await Promise.all([polling, waiting])
    assert.deepEqual(
      replies.map(({ body }) => body.code),
      ['SERVER_NOT_READY', 'SERVER_NOT_READY'],
    )
    await othersGoOn(other)
  })

  test('in applying a fact ends that space, since memory is half-way between two states', async () => {
    const [space, other] = [await openSpace(daemon()), await openSpace(daemon())]
    const queue = await registered(space.owner)
    const polling = space.owner.raw('GET', pollPath(queue))
    await space.control.waiting(queue)
    const { body } = await space.owner.try(savedSnippets.create, poison)
    assert.equal(body.code, 'SERVER_NOT_READY')
    assert.equal((await polling).body.code, 'SERVER_NOT_READY')
    await isEnded(space, 'the row cannot be put')
    await othersGoOn(other)
  })

  test('in a task beside the traffic ends that space', async t => {
    const server = new BotServer()
    await server.listen()
    t.after(() => server.close())
    const [space, other] = [await openSpace(daemon()), await openSpace(daemon())]
    const bot = { full_name: 'Hook', short_name: 'hook', bot_type: 3, payload_url: server.url }
    const { user_id } = await space.owner.call(bots.create, bot as never)
    await space.owner.call(messages.send, { type: 'direct', to: [user_id], content: 'defect: webhook' })
    await isEnded(space, 'the webhook cannot be read')
    await othersGoOn(other)
  })

  test('in a call is answered with an error, and the space goes on', async () => {
    const space = await openSpace(daemon())
    await assert.rejects(space.owner.raw('GET', '/api/v1/users/me', { ...broken, signal: AbortSignal.timeout(2000) }))
    await space.owner.call(users.me, {})
  })

  test('leaves a space that is listed with the reason, and can be deleted and made again', async t => {
    const space = await openSpace(daemon(), { name: 'again' })
    await space.owner.try(savedSnippets.create, poison)
    await isEnded(space, 'the row cannot be put')
    const shell = newShell(t, { NATTER_SITE: daemon().url, NATTER_CONTROL_TOKEN: daemon().ready.control_token! })
    const { stdout } = await shell.run(['spaces', 'list'])
    assert.match(stdout, /again .*the row cannot be put/)
    await control().call('DELETE', '/spaces/again')
    const next = await openSpace(daemon(), { name: 'again' })
    await next.owner.call(users.me, {})
  })
})

describe('a defect in the main world', () => {
  for (const [name, provoke, reason] of [
    [
      'in applying a fact',
      async (owner: Caller) => {
        assert.equal((await owner.try(savedSnippets.create, poison)).body.code, 'SERVER_NOT_READY')
      },
      'the row cannot be put',
    ],
    [
      'in a timer',
      async (owner: Caller) => {
        await owner.raw('GET', pollPath(await registered(owner)), broken).catch(() => {})
      },
      'the poll cannot be answered',
    ],
  ] as const)
    test(`${name} stops the daemon with a message, and the next start has everything that was answered`, async () => {
      const data = newStoreFolder()
      const options = { env, flags: ['--plain-http', '--heartbeat', '1'] }
      const daemon = await launch(data, options)
      await daemon.owner.call(savedSnippets.create, { title: 'kept', content: 'x' })
      await provoke(daemon.owner)
      assert.equal(await daemon.closed, 1)
      assert.match(
        daemon.stderr,
        new RegExp(`natterd: a defect ended the organization \\(${reason}\\)\\. Everything answered`),
      )
      // The defect is still there, and the fact that met it is not: it was never written.
      const next = await launch(data, options)
      const { saved_snippets } = await next.owner.call(savedSnippets.list, {})
      assert.deepEqual(
        saved_snippets.map(({ title }) => title),
        ['kept'],
      )
      await next.stop()
    })
})

describe('a boundary', () => {
  test('takes exceptions and rejections of everything that runs inside it, and runs nothing after the first', async () => {
    for (const start of [
      (inside: Boundary, work: () => unknown) => inside.run(work),
      (inside: Boundary, work: () => unknown) => inside.guard(work)(),
      (inside: Boundary, work: () => unknown) => inside.nextTurn(work),
      (inside: Boundary, work: () => unknown) => inside.after(0, work),
      (inside: Boundary, work: () => unknown) => inside.every(1, work),
    ])
      for (const fail of [
        () => {
          throw new Error('inside')
        },
        () => Promise.reject(new Error('inside')),
        () => Promise.reject('inside'),
      ]) {
        const defects: string[] = []
        const boundary = new Boundary(({ message }) => defects.push(message))
        start(boundary, fail)
        await until(() => defects.length > 0)
        boundary.run(assert.fail)
        assert.deepEqual(defects, ['inside'])
      }
  })

  test('does not treat a refusal as a defect', async () => {
    const boundary = new Boundary(assert.fail)
    boundary.run(() => Promise.reject(new Refusal('The daemon is stopping.')))
    boundary.run(() => {
      throw new Refusal('The daemon is stopping.')
    })
    let ran = false
    await new Promise(resolve => setImmediate(resolve))
    boundary.run(() => {
      ran = true
    })
    assert.ok(ran)
  })
})
