// Tests of the bounds on what calls hold until they are answered: for an account, for an organization and for all spaces.

import assert from 'node:assert/strict'
import { setMaxListeners } from 'node:events'
import { describe, test } from 'node:test'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { events } from '../../daemon/api/events.ts'
import { typing } from '../../daemon/api/messages/typing.ts'
import { decode } from '../../daemon/api/wire.ts'
import { Boundary } from '../../daemon/boundary.ts'
import { SteeredClock } from '../../daemon/clock.ts'
import { Calls } from '../../daemon/control/calls.ts'
import { Faults } from '../../daemon/control/faults.ts'
import { watchCalls } from '../../daemon/control/watch.ts'
import type { Engine } from '../../daemon/engine.ts'
import type { Answering, KnownCall } from '../../daemon/http/exchange.ts'
import { HeldBytes, Hold } from '../../daemon/http/held-bytes.ts'
import { Shares } from '../../daemon/http/turns.ts'
import { type Caller, sharedDaemon } from '../support/daemon.ts'
import { openSpace } from '../support/spaces.ts'
import { until } from '../support/until.ts'

const MiB = 1024 * 1024

describe('held bytes', () => {
  test('an account has a quarter of what its organization may hold, never less than a usual call takes, and gets it back', () => {
    const shares = new Shares()
    const calls = [1, 2, 3, 4, 5].map(account => {
      const holds: Hold[] = []
      assert.throws(
        () => {
          for (;;) {
            holds.push(new Hold(shares.get(account).held))
            holds.at(-1)!.set(MiB)
          }
        },
        { code: 'SERVER_BUSY' },
      )
      return holds
    })
    assert.deepEqual(
      calls.map(holds => holds.filter(({ bytes }) => bytes > 0).length),
      [16, 16, 16, 16, 0],
    )
    const small = new Hold(shares.get(5).held)
    small.set(64 * 1024)
    for (const hold of [...calls.flat(), small]) hold.end()
    new Hold(shares.get(5).held).set(16 * MiB)
  })

  test('a call that has become smaller gives the rest back, and one that cannot grow keeps what it has', () => {
    const held = new HeldBytes(10)
    const [one, other] = [new Hold(held), new Hold(held)]
    one.set(10)
    one.set(4)
    other.set(6)
    assert.throws(() => one.set(5))
    assert.equal(one.bytes, 4)
    other.end()
    one.set(10)
  })
})

describe('calls that wait', () => {
  const daemon = sharedDaemon({ flags: ['--memory', '--preset', 'dev'] })
  const form = { 'Content-Type': 'application/x-www-form-urlencoded' }

  /** The answers of many calls that take long, as they come. */
  function sendAll(count: number, send: (signal: AbortSignal) => Promise<{ status: number; text: string }>) {
    const [answers, leaving]: [string[], AbortController] = [[], new AbortController()]
    setMaxListeners(0, leaving.signal)
    for (let n = 0; n < count; n++)
      send(leaving.signal).then(
        ({ text }) => answers.push(text),
        () => {},
      )
    return { answers, leave: () => leaving.abort() }
  }

  const send = (caller: Caller, path: string, body: string, signal?: AbortSignal) =>
    caller.raw('POST', path, { body, headers: form, ...(signal && { signal }) })

  test('for a fault of one space hold no more than its part, and calls of others are answered', async () => {
    const [full, other] = [await openSpace(daemon()), await openSpace(daemon())]
    await full.control.call('POST', '/faults', { kind: 'latency', endpoint: typing.set.id, ms: 600_000 })
    const body = `op=start&x=${'x'.repeat(MiB - 100)}`
    const { answers, leave } = sendAll(17, signal => send(full.owner, '/api/v1/typing', body, signal))
    await until(() => answers.length === 2)
    for (const answer of answers) assert.match(answer, /"code":"SERVER_BUSY"/)
    for (const { owner } of [full, other, daemon()])
      assert.equal((await owner.raw('GET', '/api/v1/users/me')).status, 200)
    leave()
  })

  test('for an event hold what they were sent until they are over, also when their clients have left', async () => {
    const space = await openSpace(daemon())
    const url = `${space.url}/control/v1/wait`
    const headers = { Authorization: `Bearer ${space.token}` }
    const wait = async (signal: AbortSignal | null) => {
      const body = `{"event":{"type":"typing"},"within":"600s"${' '.repeat(MiB - 100)}}`
      const answer = await fetch(url, { method: 'POST', headers, body, signal })
      return { status: answer.status, text: await answer.text() }
    }
    const { answers, leave } = sendAll(17, wait)
    await until(() => answers.length === 2)
    for (const answer of answers) assert.match(answer, /"code":"SERVER_BUSY"/)
    leave()
    assert.equal((await wait(null)).status, 503)
    await space.owner.call(typing.set, { op: 'start', to: [space.owner.id!] })
    const { met } = await space.control.call('POST', '/wait', { event: { type: 'typing' }, since: 0, within: '1s' })
    assert.equal(met, true)
    assert.equal((await wait(null)).status, 200)
  })

  test('for the hash of a password hold their parameters only', async () => {
    const body = `username=iago@example.com&password=wrong&x=${'x'.repeat(MiB - 100)}`
    const logins = Array.from({ length: 17 }, () => send(daemon().owner, '/api/v1/fetch_api_key', body))
    for (const { status } of await Promise.all(logins)) assert.notEqual(status, 503)
  })
})

describe('a poll', () => {
  test('names few of the parameters that mean nothing, and their beginnings', () => {
    const name = (n: number) => `x${String(n).padStart(2, '0')}`.padEnd(1000, 'x')
    const fields = new Map(Array.from({ length: 100 }, (_, n) => [name(99 - n), '']))
    const decoded = decode(events.get, {}, fields)
    assert.ok('ignored' in decoded)
    assert.deepEqual(
      decoded.ignored,
      Array.from({ length: 20 }, (_, n) => `${name(n).slice(0, 100)}…`),
    )
  })

  test('keeps none of its parameters in the control plane while it waits', async () => {
    setFlagsFromString('--expose-gc')
    const collect: () => void = runInNewContext('gc')
    const boundary = new Boundary()
    const calls = new Calls(new SteeredClock(0), boundary)
    const watch = watchCalls({
      engine: { boundary } as Engine,
      calls,
      faults: new Faults(() => 0),
      findings: undefined,
    })
    const watched = watch.arrive({ method: 'GET', path: '/api/v1/events', query: '', headers: {} })
    const admit = async () => {
      const fields = new Map([['queue_id', 'x']])
      const answering = { raw: { once() {} } } as unknown as Answering
      const known: KnownCall = { endpoint: events.get, actor: undefined, fields, sent: fields, path: {}, answering }
      assert.equal(await watched.admit(known), true)
      return new WeakRef(fields)
    }
    const fields = await admit()
    await new Promise(setImmediate)
    collect()
    assert.equal(fields.deref(), undefined)
    watched.pollWaits()
  })
})
