// Calls of an account that keeps the process busy wait for their turn, and calls of others are made in between.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { describe, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { messages } from '../../daemon/api/messages/messages.ts'
import { HeldBytes } from '../../daemon/http/held-bytes.ts'
import { Share, Turns } from '../../daemon/http/turns.ts'
import { type Caller, startDaemon } from '../support/daemon.ts'
import { until } from '../support/until.ts'
import { person } from '../support/world.ts'

describe('turns', () => {
  const newShare = () => new Share(new HeldBytes(0))

  /** Work that takes milliseconds of a clock that only work moves. */
  function working() {
    let now = 0
    const made: string[] = []
    const turns = new Turns(() => now)
    const call = (share: Share, name: string, ms: number) =>
      turns.take(share, () => {
        now += ms
        made.push(name)
        return name
      })
    return { made, call, pass: (ms: number) => (now += ms) }
  }

  test('a call is made at once until its account has used up its share, then one in each turn if it takes long', async () => {
    const { made, call } = working()
    const share = newShare()
    for (let n = 0; n < 5; n++) void call(share, `a${n}`, 90)
    assert.deepEqual(made, ['a0', 'a1', 'a2'])
    await nextTurn()
    assert.deepEqual(made, ['a0', 'a1', 'a2', 'a3'])
    assert.equal(await call(share, 'a5', 1), 'a5')
    assert.deepEqual(made, ['a0', 'a1', 'a2', 'a3', 'a4', 'a5'])
  })

  test('calls of other accounts do not wait, and those that wait take turns', async () => {
    const { made, call } = working()
    const [busy, busier, other] = [newShare(), newShare(), newShare()]
    for (const share of [busy, busier]) void call(share, 'before', 300)
    const all = [
      ...['b1', 'b2', 'b3'].map(name => call(busy, name, 50)),
      ...['c1', 'c2'].map(name => call(busier, name, 50)),
    ]
    assert.equal(call(other, 'o', 50), 'o')
    await Promise.all(all)
    assert.deepEqual(made, ['before', 'before', 'o', 'b1', 'c1', 'b2', 'c2', 'b3'])
  })

  test('the next turn does not wait for passes of the event loop that take long', async () => {
    const { made, call, pass } = working()
    const share = newShare()
    for (let n = 0; n < 4; n++) void call(share, `${n}`, 300)
    for (let passes = 0; passes < 4; passes++) {
      await nextTurn()
      pass(20)
    }
    assert.equal(made.length, 4)
  })

  test('short calls are made together, and the share fills again', async () => {
    const { made, call, pass } = working()
    const share = newShare()
    void call(share, 'long', 300)
    for (let n = 0; n < 30; n++) void call(share, `${n}`, 1)
    await nextTurn()
    assert.equal(made.length, 11)
    await call(share, 'last', 0)
    pass(60_000)
    await call(share, 'after a minute', 0)
    assert.equal(call(share, 'now', 0), 'now')
  })

  test('the error of a call that waited is its own', async () => {
    const { call } = working()
    const [share, turns] = [newShare(), new Turns(() => 0)]
    void call(share, 'long', 300)
    const fails = turns.take(share, () => {
      throw new Error('refused')
    })
    await assert.rejects(async () => await fails, /refused/)
    assert.equal(await turns.take(share, () => 'next'), 'next')
  })
})

test('a call of another account is answered before the last of many long ones that one account has made', async t => {
  const daemon = await startDaemon(t, { alone: true, flags: ['--memory', '--log-level', 'info'] })
  const amy = await person(daemon, 'amy')
  const content = '**b** '.repeat(1500)
  for (let n = 0; n < 20; n++)
    await daemon.owner.call(messages.send, { type: 'direct', to: [daemon.owner.id!], content })
  const ask = ({ email, key }: Caller, path: string) =>
    `GET ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n` +
    `Authorization: Basic ${Buffer.from(`${email}:${key}`).toString('base64')}\r\n\r\n`
  const page = '/api/v1/messages?anchor=newest&num_before=100&num_after=0&narrow=%5B%5B%22search%22,%22b%22%5D%5D'
  const requests = [...Array.from({ length: 14 }, () => ask(daemon.owner, page)), ask(amy, '/api/v1/users/me')]
  const sockets = await Promise.all(requests.map(() => connected(daemon.url)))
  // All of them have arrived when the first is read.
  daemon.process.kill('SIGSTOP')
  for (const [n, socket] of sockets.entries()) await new Promise(sent => socket.write(requests[n]!, sent))
  const answered = Promise.all(sockets.map(socket => once(socket.resume(), 'close')))
  daemon.process.kill('SIGCONT')
  await answered
  const order = (): string[] => daemon.stderr.match(/"get-(?:messages|own-user)"/g) ?? []
  await until(() => order().length === requests.length)
  const place = order().indexOf('"get-own-user"')
  assert.ok(place < 11, `it came after ${place} of 14`)
})

async function connected(url: string): Promise<Socket> {
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  await once(socket, 'connect')
  // A daemon accepts one connection in each pass of its event loop. This one has been accepted when it is answered.
  socket.write('GET /livez HTTP/1.1\r\nHost: localhost\r\n\r\n')
  await once(socket, 'data')
  return socket
}
