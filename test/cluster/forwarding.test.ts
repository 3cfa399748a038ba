// Calls that a follower sends on to a leader that takes them and does not answer.

import assert from 'node:assert/strict'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { describe, type TestContext, test } from 'node:test'
import { LeaderForwarding, wasNeverSent } from '../../daemon/cluster/forwarding.ts'
import { Recorder } from '../../daemon/cluster/messages.ts'
import { Peers } from '../../daemon/cluster/peers.ts'
import { createAnswering } from '../../daemon/http/answer.ts'
import { usualBounds } from '../../daemon/http/bounds.ts'
import type { Response } from '../../daemon/http/exchange.ts'
import { fakeServer } from '../support/cli.ts'
import { freePort } from '../support/free-port.ts'
import { until } from '../support/until.ts'

/** Takes connections, as the kernel does for a process that is paused, and says only what it is told to. */
async function silentLeader(t: TestContext, said = ''): Promise<string> {
  const sockets: Socket[] = []
  const server = createServer(socket => {
    sockets.push(socket.on('error', () => {}))
    socket.write(said)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

function newPeers(t: TestContext): Peers {
  const peers = new Peers('secret')
  t.after(() => peers.close())
  return peers
}

/** What the client gets for a call of this path. */
async function answerTo(t: TestContext, path: string, url: string): Promise<{ headers: string[]; body: any }> {
  const parts = {
    peers: newPeers(t),
    newId: () => 'req-1',
    leads: () => false,
    leader: async () => url,
    leaderNow: () => url,
    committed: () => 1,
    reach: async () => true,
    catchUp: async () => true,
  }
  const forwarding = new LeaderForwarding(parts, 100)
  let answer: { headers: string[]; body: any } | undefined
  let headers: string[] = []
  const response = {
    headersSent: false,
    destroyed: false,
    writeHead: (_status: number, given: string[]) => {
      headers = given
    },
    end: (text: string) => {
      answer = { headers, body: JSON.parse(text) }
    },
  } as unknown as Response
  const call = { method: 'POST', path, headers: {}, ip: '127.0.0.1', account: 1, body: undefined }
  await forwarding.forward(call, createAnswering({ method: 'POST', id: 'req-1' }, response))
  return answer!
}

test('many large facts go to the leader in calls that it takes', async t => {
  const sizes: number[] = []
  const url = await fakeServer(t, (_request, response, body) => {
    sizes.push(Buffer.byteLength(body))
    response.end('{"position":1}')
  })
  const recorder = new Recorder(
    newPeers(t),
    async () => url,
    async () => true,
  )
  const fact = { type: 'queue.removed', queueId: '\u0001'.repeat(2000), reason: 'deleted' } as const
  await Promise.all(Array.from({ length: 190 }, () => recorder.record({ op: 'x', actor: 1, facts: [fact] })))
  assert.ok(sizes.length < 10, sizes.join())
  for (const size of sizes) assert.ok(size <= usualBounds.bodyBytes, sizes.join())
  sizes.length = 0
  const largest = { ...fact, queueId: 'x'.repeat(600_000) }
  await Promise.all([1, 2].map(() => recorder.record({ op: 'x', actor: 1, facts: [largest] })))
  assert.equal(sizes.length, 2)
})

test('a call may be made again if no connection was made, not if one was lost', () => {
  const failed = (code: string, syscall: string) => Object.assign(new Error(code), { code, syscall })
  for (const code of ['ECONNREFUSED', 'EHOSTUNREACH']) assert.ok(wasNeverSent(failed(code, 'connect')))
  assert.ok(wasNeverSent(new AggregateError([failed('ECONNREFUSED', 'connect')])))
  assert.ok(wasNeverSent(failed('ENOTFOUND', 'getaddrinfo')))
  for (const [code, syscall] of [
    ['EHOSTUNREACH', 'read'],
    ['ENETUNREACH', 'write'],
  ] as const)
    assert.equal(wasNeverSent(failed(code, syscall)), false)
  assert.equal(wasNeverSent(new Error('no answer in time')), false)
})

describe('a leader that does not answer', () => {
  test('ends a write when its time is up: the change may have been saved', async t => {
    const { headers, body } = await answerTo(t, '/api/v1/messages', await silentLeader(t))
    assert.equal(body.code, 'SERVER_NOT_READY')
    assert.match(body.msg, /may or may not have been saved/)
    assert.ok(!headers.includes('Retry-After'))
  })

  test('ends a registration when its time is up: it can be repeated', async t => {
    const { headers, body } = await answerTo(t, '/api/v1/register?x=1', await silentLeader(t))
    assert.equal(body.code, 'SERVER_NOT_READY')
    assert.ok(headers.includes('Retry-After'))
  })

  test('is given up also in the middle of its answer', async t => {
    const half = 'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{"result"'
    const { body } = await answerTo(t, '/api/v1/messages', await silentLeader(t, half))
    assert.equal(body.code, 'SERVER_NOT_READY')
  })

  test('and that no connection is made to is named in the log, and the client is told that it was not reached', async t => {
    const said = t.mock.method(process.stderr, 'write', () => true)
    const url = `http://127.0.0.1:${await freePort()}`
    const { headers, body } = await answerTo(t, '/api/v1/messages', url)
    assert.match(body.msg, /^The leader of the cluster cannot be reached/)
    assert.ok(headers.includes('Retry-After'))
    const lines = said.mock.calls.map(({ arguments: [line] }) => String(line))
    assert.ok(lines.some(line => line.includes(`cannot be reached at ${url}: `)))
  })

  test('holds up facts that wait behind others no longer than those', async t => {
    const refused: number[] = []
    let asked = 0
    let fail = () => {}
    const leader = async () => {
      asked++
      await new Promise<void>(resolve => {
        fail = resolve
      })
      return undefined
    }
    const recorder = new Recorder(newPeers(t), leader, async () => true)
    const first = recorder.record({ op: 'first', actor: null, facts: [] }).catch(() => refused.push(1))
    await until(() => asked === 1)
    const second = recorder.record({ op: 'second', actor: null, facts: [] }).catch(() => refused.push(2))
    fail()
    await Promise.all([first, second])
    assert.deepEqual(refused, [1, 2])
    assert.equal(asked, 1)
  })
})
