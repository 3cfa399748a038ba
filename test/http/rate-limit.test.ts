// Rate limits, by a frozen clock.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { events } from '../../daemon/api/events.ts'
import { server } from '../../daemon/api/organization/server.ts'
import { users } from '../../daemon/api/people/users.ts'
import { budgets, RateLimiter } from '../../daemon/http/rate-limit.ts'
import { Caller, sharedDaemon, startDaemon } from '../support/daemon.ts'
import type { HttpReply } from '../support/http.ts'

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

  test('go by the time that passes, however the clock of the machine is set', () => {
    let [now, elapsed] = [Date.UTC(2030, 0, 1), 5.5]
    const limiter = new RateLimiter({ now: () => now, elapsed: () => elapsed })
    const count = () => {
      const headers: string[] = []
      limiter.count(budgets.user, 1, headers)
      return headers.slice(3)
    }
    now += 3_600_000
    for (let left = 199; left >= 0; left--)
      assert.deepEqual(count(), [String(left), 'X-RateLimit-Reset', String(now / 1000 + 60)])
    now -= 3_600_000
    assert.throws(count, /rate limit/)
    elapsed += 60_000
    assert.equal(count()[0], '199')
  })

  test('polling has a budget of its own', async () => {
    const { status, headers } = await daemon().owner.try(events.get, { queue_id: 'x' })
    assert.equal(status, 400)
    assert.equal(headers['x-ratelimit-remaining'], '199')
    const gone = await daemon().owner.try(events.delete, { queue_id: 'x' })
    assert.equal(gone.headers['x-ratelimit-remaining'], '198')
  })

  test('requests to /mcp have a budget of their own', async () => {
    const headers = { Authorization: `Bearer ${daemon().ready.owner.api_key}` }
    const statuses: number[] = []
    for (let i = 0; i < 201; i++)
      statuses.push((await fetch(`${daemon().url}/mcp`, { method: 'POST', headers, body: '[]' })).status)
    assert.deepEqual(statuses, [...Array(200).fill(400), 429])
  })

  test('a wrong password can be tried five times in half an hour, however the name is written and however fast', async () => {
    const names = ['amy@example.com', 'AMY@example.com', ' amy@example.com', 'amy@example.com ', 'Amy@Example.Com']
    const tries = [...names, ...names, ...names].map(username =>
      daemon().anonymous.try(users.fetchApiKey, { username, password: 'guess' }),
    )
    const replies = await Promise.all(tries)
    assert.equal(replies.filter(({ body }) => body.code === 'AUTHENTICATION_FAILED').length, 5)
    for (const reply of replies.filter(({ status }) => status === 429)) isHit(reply, 1800)
  })

  test('an address without an account has 100 calls a minute, wrong keys included', async () => {
    const stranger = new Caller(daemon().url, 'owner@example.com', 'x'.repeat(32))
    assert.equal((await stranger.try(users.me, {})).status, 401)
    let status = 200
    let calls = 0
    for (; status !== 429 && calls < 120; calls++) ({ status } = await daemon().anonymous.try(server.settings, {}))
    // Fifteen passwords and one wrong key were counted before.
    assert.equal(calls, 100 - 15 - 1 + 1)
    isHit(await daemon().anonymous.try(server.settings, {}), 60)
    assert.equal((await stranger.try(users.me, {})).status, 429)
  })

  test('a webhook without a key, or with a wrong one, counts as a call of an unknown caller', async t => {
    const flags = ['--memory', '--rate-limit', '--clock', 'frozen@2030-01-01T00:00:00Z']
    const { anonymous } = await startDaemon(t, { flags })
    for (let left = 99; left >= 0; left--) {
      const query = left % 2 === 0 ? '' : '?api_key=wrong'
      const { status, headers } = await anonymous.raw('POST', `/api/v1/external/json${query}`)
      assert.equal(status, left % 2 === 0 ? 400 : 401)
      assert.equal(headers['x-ratelimit-remaining'], String(left))
    }
    for (const query of ['', '?api_key=wrong']) isHit(await anonymous.raw('POST', `/api/v1/external/json${query}`), 60)
  })

  test('health checks are not limited', async () => {
    assert.equal((await daemon().anonymous.raw('GET', '/readyz')).status, 200)
  })

  test('are off on the loopback address unless they are asked for', async t => {
    const free = await startDaemon(t, { flags: ['--memory'] })
    const { headers } = await free.owner.try(users.me, {})
    assert.equal(headers['x-ratelimit-limit'], undefined)
  })
})
