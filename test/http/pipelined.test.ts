// Requests that a client sends before it has the answers to those before them.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { PassThrough } from 'node:stream'
import { describe, type TestContext, test } from 'node:test'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import fc from 'fast-check'
import { usualBounds } from '../../daemon/http/bounds.ts'
import { createListener } from '../../daemon/http/listener.ts'
import { Pieces } from '../../daemon/http/pieces.ts'
import { monotonicMs } from '../../daemon/local/monotonic.ts'
import { sharedDaemon } from '../support/daemon.ts'
import { until } from '../support/until.ts'

const request = 'GET /x HTTP/1.1\r\nHost: a\r\n\r\n'

type Take = (request: IncomingMessage, response: ServerResponse) => void

async function listen(t: TestContext, take: Take, bounds = usualBounds) {
  const { server, closeAll } = createListener({ bounds, bodyLimit: 1e6, newId: () => '', take })
  t.after(() => {
    server.close()
    closeAll()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return async () => {
    const socket = connect(port, '127.0.0.1')
    t.after(() => socket.destroy())
    await once(socket, 'connect')
    return socket
  }
}

/** Reads on; returns what has arrived so far. */
function gather(socket: Socket): () => string {
  let text = ''
  socket.setEncoding('latin1').on('data', (more: string) => (text += more))
  return () => text
}

describe('requests that are sent ahead', () => {
  const daemon = sharedDaemon({ alone: true })

  test('are answered, however many there are behind one that takes long', async t => {
    const { host, hostname, port } = new URL(daemon().url)
    const socket = connect(Number(port), hostname)
    t.after(() => socket.destroy())
    await once(socket, 'connect')
    const text = gather(socket)
    const form = 'username=nobody%40example.com&password=wrong'
    const first = `Host: ${host}\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: ${form.length}`
    socket.write(`POST /api/v1/fetch_api_key HTTP/1.1\r\n${first}\r\n\r\n${form}`)
    // More than one read, while the first is being answered.
    const count = 5000
    socket.write(`GET /nope HTTP/1.1\r\nHost: ${host}\r\n\r\n`.repeat(count))
    const statuses = () => [...text().matchAll(/HTTP\/1\.1 (\d+) /g)].map(([, status]) => Number(status))
    await until(() => statuses().length > count)
    const [login, ...others] = statuses()
    assert.equal(login, 401)
    assert.ok(others.every(status => status === 404))
  })

  test('of any kind, in any pieces, by clients that read or do not, leave the daemon as it was', async () => {
    const { host, hostname, port } = new URL(daemon().url)
    const to = (line: string, headers = '') => `${line} HTTP/1.1\r\nHost: ${host}\r\n${headers}\r\n`
    const key = `Authorization: Basic ${Buffer.from(daemon().owner.auth!).toString('base64')}\r\n`
    const post = (path: string, body: string, type = 'application/x-www-form-urlencoded') =>
      to(`POST /api/v1${path}`, `${key}Content-Type: ${type}\r\nContent-Length: ${body.length}\r\n`) + body
    const part = '--b\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\n'
    const chunked = to('POST /api/v1/messages', `${key}Transfer-Encoding: chunked\r\n`)
    const kinds = [
      to('GET /api/v1/users/me', key),
      to('GET /nope').repeat(1500),
      to('GET /').repeat(100),
      post('/fetch_api_key', 'username=a&password=b'),
      post('/messages', `type=direct&to=[${daemon().owner.id}]&content=${'a'.repeat(3000)}`),
      post('/user_uploads', part + 'x'.repeat(60_000), 'multipart/form-data; boundary=b'),
      `${chunked}${'1\r\na\r\n'.repeat(1000)}0\r\n\r\n`,
      to('GET /nope', 'Connection: Upgrade\r\nUpgrade: websocket\r\n'),
    ]
    const streams = fc.record({
      bytes: fc
        .array(fc.constantFrom(...kinds), { minLength: 2, maxLength: 8 })
        .map(parts => Buffer.from(parts.join(''))),
      piece: fc.integer({ min: 500, max: 100_000 }),
      pause: fc.integer({ min: 0, max: 3 }),
      reads: fc.boolean(),
      ends: fc.boolean(),
    })
    await fc.assert(
      fc.asyncProperty(fc.array(streams, { minLength: 20, maxLength: 20 }), async together => {
        const talk = async ({ bytes, piece, pause, reads, ends }: (typeof together)[number]) => {
          const socket = connect(Number(port), hostname).on('error', () => {})
          if (reads) socket.resume()
          for (let at = 0; at < bytes.length && !socket.destroyed; at += piece) {
            socket.write(bytes.subarray(at, at + piece))
            await sleep(pause)
          }
          if (ends) socket.end()
          await sleep(100)
          socket.destroy()
        }
        await Promise.all(together.map(talk))
        assert.equal((await fetch(`${daemon().url}/livez`)).status, 200)
      }),
      { numRuns: 6 },
    )
  })

  test('by many clients at once leave other work its turn', async () => {
    const pieces = new Pieces({ count: () => 1, isInBody: () => false })
    let total = 0
    let inTurn = 0
    let most = 0
    const parse = (bytes: Buffer) => {
      total += bytes.length
      most = Math.max(most, ++inTurn)
      for (const end = monotonicMs() + 5; monotonicMs() < end; );
    }
    const sockets = Array.from({ length: 20 }, () => new PassThrough().on('data', parse))
    for (const socket of sockets) pieces.take(socket as unknown as Socket)
    for (const socket of sockets) socket.write(Buffer.alloc(10_000))
    while (total < 20 * 10_000) {
      await nextTurn()
      inTurn = 0
    }
    // 20 ms when the bytes arrive, 20 ms in the turn after it, and what was begun then.
    assert.ok(most <= 10, `${most} pieces in one turn`)
  })

  test('wait unread behind some that have no answer', async t => {
    const waiting: ServerResponse[] = []
    const open = await listen(t, (_request, response) => waiting.push(response))
    const socket = await open()
    const text = gather(socket)
    socket.write(request.repeat(2000))
    await until(() => waiting.length >= 25)
    await sleep(50)
    assert.ok(waiting.length < 100, `${waiting.length} were taken`)
    for (let i = 0; i < 2000; i++) {
      await until(() => waiting.length > i)
      waiting[i]!.end(`answer ${i}.`)
    }
    await until(() => text().includes('answer 1999.'))
    const answers = [...text().matchAll(/answer (\d+)\./g)].map(([, number]) => Number(number))
    assert.deepEqual(
      answers,
      Array.from({ length: 2000 }, (_, i) => i),
    )
  })

  test('of a client that takes no answers are not read on, and are when it does', async t => {
    let total = 0
    const open = await listen(t, (_request, response) => {
      total++
      response.end(Buffer.alloc(10_000))
    })
    const socket = await open()
    const count = 5000
    socket.pause().write(request.repeat(count))
    await until(() => total > 0)
    await sleep(200)
    assert.ok(total < count / 2, `${total} were taken`)
    socket.resume()
    await until(() => total === count)
  })

  test('whose answers are held for an earlier one are closed, where those are too much', {
    timeout: 60_000,
  }, async t => {
    const unsentBytes = 1_000_000
    let first: ServerResponse | undefined
    const answer = (_request: IncomingMessage, response: ServerResponse) => {
      if (first) response.end(Buffer.alloc(200_000))
      else first = response
    }
    const open = await listen(t, answer, { ...usualBounds, unsentBytes })
    const socket = await open()
    socket
      .on('error', () => {})
      .resume()
      .write(request.repeat(10))
    await once(socket, 'close')
    assert.equal(first!.writableEnded, false)
  })

  test('have bodies of any size between them', async t => {
    const sizes = [0, 1, 1023, 1024, 1025, 100_000, 3, 65_536, 0, 20_000]
    const seen: number[] = []
    const open = await listen(t, async (request, response) => {
      let size = 0
      for await (const bytes of request) size += (bytes as Buffer).length
      seen.push(size)
      response.end('done')
    })
    const socket = await open()
    const text = gather(socket)
    const head = (size: number) => `POST /x HTTP/1.1\r\nHost: a\r\nContent-Length: ${size}\r\n\r\n`
    const whole = sizes.map(size => head(size) + 'b'.repeat(size)).join('')
    socket.write(whole.repeat(20))
    await until(() => text().split('done').length === 20 * sizes.length + 1)
    const sum = sizes.reduce((sum, size) => sum + size)
    assert.deepEqual([seen.length, seen.reduce((sum, size) => sum + size)], [20 * sizes.length, 20 * sum])
  })
})
