// The edge over time: rate limits, logs, and stopping well.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { describe, type TestContext, test } from 'node:test'
import { events } from '../../daemon/api/events.ts'
import { savedSnippets } from '../../daemon/api/messages/saved-snippets.ts'
import { server } from '../../daemon/api/organization/server.ts'
import { users } from '../../daemon/api/people/users.ts'
import { Control } from '../support/control.ts'
import { Caller, sharedDaemon, startDaemon, type TestDaemon } from '../support/daemon.ts'
import type { HttpReply } from '../support/http.ts'
import { until } from '../support/until.ts'
import { person } from '../support/world.ts'

describe('rate limits', () => {
  const daemon = sharedDaemon({ flags: ['--memory', '--rate-limit', '--clock', 'frozen@2030-01-01T00:00:00Z'] })
  const isHit = (reply: HttpReply, within: number) => {
    assert.equal(reply.status, 429, reply.text)
    assert.equal(reply.body.code, 'RATE_LIMIT_HIT')
    const wait = reply.body['retry-after']
    assert.ok(typeof wait === 'number' && wait > 0 && wait <= within, `retry-after ${wait}`)
    assert.equal(Number(reply.headers['retry-after']), Math.ceil(wait))
  }

  test('a user has 200 calls a minute, and every answer says what is left', async () => {
    const { owner } = daemon()
    for (let left = 199; left >= 0; left--) {
      const { status, headers } = await owner.try(users.me, {})
      assert.equal(status, 200)
      assert.equal(headers['x-ratelimit-limit'], '200')
      assert.equal(headers['x-ratelimit-remaining'], String(left))
      assert.equal(Number(headers['x-ratelimit-reset']), Date.UTC(2030, 0, 1, 0, 1) / 1000)
    }
    isHit(await owner.try(users.me, {}), 60)
    assert.equal((await owner.try(users.me, {})).headers['x-ratelimit-remaining'], '0')
  })

  test('polling has a budget of its own', async () => {
    const { status, headers } = await daemon().owner.try(events.get, { queue_id: 'x' })
    assert.equal(status, 400)
    assert.equal(headers['x-ratelimit-remaining'], '199')
    const gone = await daemon().owner.try(events.delete, { queue_id: 'x' })
    assert.equal(gone.headers['x-ratelimit-remaining'], '198')
  })

  test('a wrong password can be tried five times in half an hour, however the name is written and however fast', async () => {
    const names = ['amy@example.com', 'AMY@example.com', ' amy@example.com', 'amy@example.com ', 'Amy@Example.Com']
    const tries = [...names, ...names, ...names].map(username =>
      daemon().nobody.try(users.fetchApiKey, { username, password: 'guess' }),
    )
    const replies = await Promise.all(tries)
    assert.equal(replies.filter(({ body }) => body.code === 'AUTHENTICATION_FAILED').length, 5)
    for (const reply of replies.filter(({ status }) => status === 429)) isHit(reply, 1800)
  })

  test('guesses at one account count together, whichever of its addresses is given', async t => {
    const guarded = await startDaemon(t, { flags: ['--memory', '--rate-limit'] })
    const { email, user_id } = guarded.ready.owner
    const names = [email, ...Array.from({ length: 9 }, (_, zeros) => `user${'0'.repeat(zeros)}${user_id}@example.com`)]
    const codes: string[] = []
    for (const username of names)
      codes.push((await guarded.nobody.try(users.fetchApiKey, { username, password: 'guess' })).body.code)
    assert.equal(codes.filter(code => code === 'AUTHENTICATION_FAILED').length, 5, codes.join())
    assert.equal(codes.filter(code => code === 'RATE_LIMIT_HIT').length, 5, codes.join())
  })

  test('an address without an account has 100 calls a minute, wrong keys included', async () => {
    const stranger = new Caller(daemon().url, 'owner@example.com', 'x'.repeat(32))
    assert.equal((await stranger.try(users.me, {})).status, 401)
    let status = 200
    let calls = 0
    for (; status !== 429 && calls < 120; calls++) ({ status } = await daemon().nobody.try(server.settings, {}))
    // Fifteen passwords and one wrong key were counted before.
    assert.equal(calls, 100 - 15 - 1 + 1)
    isHit(await daemon().nobody.try(server.settings, {}), 60)
    assert.equal((await stranger.try(users.me, {})).status, 429)
  })

  test('health checks are not limited', async () => {
    assert.equal((await daemon().nobody.raw('GET', '/readyz')).status, 200)
  })

  test('on the loopback address there are none unless wanted', async t => {
    const free = await startDaemon(t, { flags: ['--memory'] })
    const { headers } = await free.owner.try(users.me, {})
    assert.equal(headers['x-ratelimit-limit'], undefined)
  })
})

describe('logs', () => {
  test('at the most talkative level they name every request, and never a key, a password or a parameter', async t => {
    const daemon = await startDaemon(t, { flags: ['--memory', '--log-level', 'trace', '--secret', 'hush-hush-secret'] })
    const { owner } = daemon
    const amy = await person(daemon, 'amy')
    await daemon.nobody.try(users.fetchApiKey, { username: 'amy@example.com', password: 'wrong-password-tried' })
    await owner.call(savedSnippets.create, { title: 'private-title', content: 'private-content' })
    await owner.raw('GET', '/api/v1/users/me?api_key=key-in-the-query&password=password-in-the-query')
    await owner.raw('POST', '/api/v1/typing', {
      body: '{"password":"in-json"',
      headers: { 'Content-Type': 'application/json' },
    })
    await owner.raw('GET', '/nothing?password=in-a-lost-query')
    await new Caller(daemon.url, 'owner@example.com', 'almost-a-key').try(users.me, {})
    await until(() => /users\/me"[^\n]*"status":401/.test(daemon.stderr))
    const basic = (caller: Caller) => Buffer.from(`${caller.email}:${caller.key}`).toString('base64')
    for (const secret of [
      owner.key!,
      amy.key!,
      basic(owner),
      basic(amy),
      'amy has a long password',
      'wrong-password-tried',
      'hush-hush-secret',
      'private-',
      'in-the-query',
      'in-json',
      'almost-a-key',
      'in-a-lost-query',
    ])
      assert.ok(!daemon.stderr.includes(secret), `the log holds ${secret}`)
    const lines = daemon.stderr
      .trim()
      .split('\n')
      .map(line => JSON.parse(line))
    assert.ok(lines.some(({ method, path, status }) => method === 'POST' && path === '/api/v1/users' && status === 200))
    assert.ok(lines.some(({ path, status }) => path === '/api/v1/typing' && status === 400))
  })
})

describe('SIGTERM', () => {
  /** Ends it as an administrator would, and tells how long that took. */
  async function terminate(daemon: TestDaemon): Promise<number> {
    const begun = performance.now()
    daemon.process.kill('SIGTERM')
    assert.equal(await daemon.closed, 0, daemon.stderr)
    return performance.now() - begun
  }

  /** A daemon that waits for something is slow every time; a busy machine is not. */
  async function quickly(attempt: () => Promise<number>): Promise<void> {
    const took = [await attempt()]
    while (took.at(-1)! >= 2000) {
      assert.ok(took.length < 5, `${took.join(', ')} ms`)
      took.push(await attempt())
    }
  }

  test('waiting polls are answered, open connections closed, and the daemon ends within a second or so', t =>
    quickly(() => endWhilePolled(t)))

  async function endWhilePolled(t: TestContext): Promise<number> {
    const daemon = await startDaemon(t, { flags: ['--control'] })
    const { owner } = daemon
    const queues = await Promise.all(Array.from({ length: 20 }, () => owner.call(events.register, {})))
    const polls = queues.map(({ queue_id }) => owner.call(events.get, { queue_id, last_event_id: -1 }))
    const idle = connect(Number(new URL(daemon.url).port), '127.0.0.1')
    await once(idle, 'connect')
    const hungUp = once(idle, 'close')
    idle.on('error', () => {})
    await new Control(daemon).waiting(...queues.map(({ queue_id }) => queue_id))
    const took = await terminate(daemon)
    for (const { events: heard } of await Promise.all(polls)) assert.deepEqual(heard, [])
    await hungUp
    return took
  }

  test('what is being written when it comes is written, and answered', t => quickly(() => endWhileWriting(t)))

  async function endWhileWriting(t: TestContext): Promise<number> {
    const daemon = await startDaemon(t)
    const answered: number[] = []
    let stopped = false
    const writers = Array.from({ length: 8 }, async (_, writer) => {
      for (let n = 0; !stopped; n++)
        try {
          const { saved_snippet_id } = await daemon.owner.call(savedSnippets.create, {
            title: `${writer}`,
            content: `${n}`,
          })
          answered.push(saved_snippet_id)
        } catch (error) {
          // Refused at the door is fine; cut off in the middle of an answer is not.
          if (!/ECONNREFUSED|ECONNRESET|EPIPE|socket hang up|SERVER_NOT_READY/.test(String(error))) throw error
          return
        }
    })
    await until(() => answered.length > 50)
    const took = await terminate(daemon)
    stopped = true
    await Promise.all(writers)
    const again = await startDaemon(t, { data: daemon.data })
    const { saved_snippets: kept } = await again.owner.call(savedSnippets.list, {})
    const ids = new Set(kept.map(({ id }) => id))
    for (const id of answered) assert.ok(ids.has(id), `snippet ${id} was answered and is gone`)
    assert.ok(ids.size - answered.length <= 0, `${ids.size - answered.length} writes were kept and not answered`)
    return took
  }
})
