// A space that is flooded, or made to fail, and another one beside it. Counted in answers and not in time: what a call has to
// wait for is the work that came before it, and no more.

import assert from 'node:assert/strict'
import { Agent, request } from 'node:http'
import { describe, test } from 'node:test'
import { users } from '../../daemon/api/people/users.ts'
import { type Caller, sharedDaemon } from '../support/daemon.ts'
import { openSpace } from '../support/spaces.ts'
import { until } from '../support/until.ts'

// A login takes its time, as with a store: the queue of logins has to grow.
const daemon = sharedDaemon({ flags: ['--memory', '--preset', 'dev', '--password-cost', '16384'] })

const formHeaders = { 'Content-Type': 'application/x-www-form-urlencoded' }

/** Calls over and over again, by so many connections at once. */
class Flood {
  answers = 0
  readonly #agent: Agent
  readonly #lanes: Promise<void>[]
  #ending = false

  constructor(caller: Caller, path: string, connections: number) {
    this.#agent = new Agent({ keepAlive: true, maxSockets: connections })
    this.#lanes = Array.from({ length: connections }, () => this.#run(caller, path))
  }

  async end(): Promise<void> {
    this.#ending = true
    await Promise.all(this.#lanes)
    this.#agent.destroy()
  }

  async #run({ url, auth }: Caller, path: string): Promise<void> {
    while (!this.#ending) {
      await new Promise<void>((resolve, reject) => {
        const call = request(url + path, { agent: this.#agent, auth: auth! }, answer =>
          answer.resume().on('end', resolve).on('error', reject),
        )
        call.on('error', reject).end()
      })
      this.answers++
    }
  }
}

describe('a flood in one space', () => {
  test('delays a call in another by the calls that came before it, and no more', async () => {
    const [loud, quiet] = [await openSpace(daemon()), await openSpace(daemon())]
    const connections = 100
    const flood = new Flood(loud.owner, '/api/v1/users', connections)
    await until(() => flood.answers > connections)
    try {
      for (let i = 0; i < 10; i++) {
        const before = flood.answers
        await quiet.owner.call(users.me, {})
        // Once around for those that were sent before it, and once for what was read while the answer was on its way.
        assert.ok(
          flood.answers - before <= 4 * connections,
          `after ${flood.answers - before} answers in the other space`,
        )
      }
    } finally {
      await flood.end()
    }
  })

  test('of logins refuses no one in another, who is next after the one that is being checked', async () => {
    const seed = { users: [{ name: 'pat', password: 'correct horse battery' }] }
    const [loud, quiet] = [await openSpace(daemon(), { seed }), await openSpace(daemon(), { seed })]
    const login = { username: 'pat@example.com', password: 'correct horse battery' }
    const stop = new AbortController()
    const form = { body: new URLSearchParams(login).toString(), headers: formHeaders, signal: stop.signal }
    let [answered, refused] = [0, 0]
    for (let i = 0; i < 110; i++)
      loud.owner.raw('POST', '/api/v1/fetch_api_key', form).then(
        ({ status }) => (status === 200 ? answered++ : refused++),
        () => {},
      )
    await until(() => refused > 0)
    const before = answered
    const { status } = await quiet.owner.raw('POST', '/api/v1/fetch_api_key', { ...form })
    assert.equal(status, 200)
    assert.ok(answered - before <= 5, `after ${answered - before} logins in the other space`)
    stop.abort()
  })
})

describe('a fault in one space', () => {
  test('that keeps a call waiting keeps no one waiting in another', async () => {
    const [slow, quick] = [await openSpace(daemon()), await openSpace(daemon())]
    await slow.control.call('POST', '/faults', { kind: 'latency', ms: 600_000 })
    const stop = new AbortController()
    const waiting = slow.owner.raw('GET', '/api/v1/users/me', { signal: stop.signal }).then(
      () => 'answered',
      () => 'given up',
    )
    await until(async () => (await slow.control.call('GET', '/requests')).requests.length > 0)
    for (let i = 0; i < 20; i++) await quick.owner.call(users.me, {})
    const { requests } = await slow.control.call('GET', '/requests')
    assert.equal(requests[0].status, null, 'the call still waits')
    stop.abort()
    assert.equal(await waiting, 'given up')
  })
})
