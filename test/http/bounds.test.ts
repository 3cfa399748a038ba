// Bounds and deadlines on every way in: what is slow, too much or not read is refused in words or cut off, and others go on.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { events } from '../../daemon/api/events.ts'
import { uploads } from '../../daemon/api/files/uploads.ts'
import { startDaemon, type TestDaemon } from '../support/daemon.ts'
import { megabytesKept, reportingHeap } from '../support/heap.ts'
import { sendBytes } from '../support/http.ts'
import { until } from '../support/until.ts'

const MiB = 1024 * 1024

function authorization({ ready: { owner } }: TestDaemon): string {
  return `Authorization: Basic ${Buffer.from(`${owner.email}:${owner.api_key}`).toString('base64')}`
}

function open({ url }: TestDaemon): Socket {
  const socket = connect(Number(new URL(url).port), '127.0.0.1')
  socket.on('error', () => {})
  return socket
}

/** The answer as text, when the daemon hangs up. */
function hungUp(socket: Socket): Promise<string> {
  let text = ''
  socket.on('data', chunk => {
    text += chunk
  })
  return new Promise(resolve => socket.once('close', () => resolve(text)))
}

describe('--receive-timeout', () => {
  test('a head that does not arrive is refused, and nothing at all is hung up on', async t => {
    const daemon = await startDaemon(t, { flags: ['--memory', '--receive-timeout', '1'] })
    assert.match(await sendBytes(daemon.url, 'GET /api/v1/users/me HTTP/1.1\r\nHost: '), /^HTTP\/1\.1 408 .*in time/s)
    assert.equal(await hungUp(open(daemon)), '')
  })

  test('a body that does not arrive is refused, of every kind', async t => {
    const daemon = await startDaemon(t, { flags: ['--memory', '--receive-timeout', '1'] })
    for (const [path, type] of [
      ['/api/v1/typing', 'application/x-www-form-urlencoded'],
      ['/api/v1/user_uploads', 'multipart/form-data; boundary=b'],
      ['/control/v1/reset', 'application/json'],
    ]) {
      const fields = `Content-Type: ${type}\r\nContent-Length: 100000`
      const request = `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n${authorization(daemon)}\r\n${fields}\r\n\r\n--b`
      assert.match(await sendBytes(daemon.url, request), /^HTTP\/1\.1 408 .*"code":"BAD_REQUEST"/s, path)
    }
  })

  test('a waiting poll is not a slow client', async t => {
    const daemon = await startDaemon(t, { flags: ['--memory', '--receive-timeout', '1', '--heartbeat', '3'] })
    const { queue_id } = await daemon.owner.call(events.register, {})
    const reply = await daemon.owner.call(events.get, { queue_id: queue_id!, last_event_id: -1 })
    assert.equal(reply.events[0]!.type, 'heartbeat')
  })

  test('a client that does not take its answers is cut off', async t => {
    const daemon = await startDaemon(t, { flags: ['--memory', '--receive-timeout', '1'] })
    const { url } = await daemon.owner.call(uploads.upload, {
      file: { filename: 'a', contentType: 'text/plain', bytes: Buffer.alloc(16 * MiB, 'x') },
    })
    const socket = open(daemon)
    const closed = new Promise(resolve => socket.once('close', resolve))
    socket.write(`GET ${url} HTTP/1.1\r\nHost: 127.0.0.1\r\n${authorization(daemon)}\r\n\r\n`)
    // One piece is read, then nothing until the daemon must have given up.
    await new Promise(resolve => socket.once('readable', resolve))
    await until(async () => {
      socket.write('GET /livez HTTP/1.1\r\n\r\n')
      return socket.destroyed || socket.errored !== null
    })
    socket.destroy()
    await closed
    assert.equal((await daemon.owner.raw('GET', '/readyz')).status, 200)
  })
})

describe('--max-connections', () => {
  test('one more is refused in words, and there is room again when one has gone', async t => {
    const daemon = await startDaemon(t, { flags: ['--memory', '--max-connections', '5'] })
    const sockets = Array.from({ length: 5 }, () => open(daemon))
    await Promise.all(sockets.map(socket => new Promise(resolve => socket.once('connect', resolve))))
    const request = 'GET /livez HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n'
    await until(async () => /^HTTP\/1\.1 503 .*"code":"SERVER_BUSY"/s.test(await sendBytes(daemon.url, request)))
    sockets[0]!.destroy()
    await until(async () => (await sendBytes(daemon.url, request)).startsWith('HTTP/1.1 200'))
    for (const socket of sockets) socket.destroy()
  })
})

describe('unfinished bodies', () => {
  for (const path of ['/api/v1/typing', '/mcp', '/join/x'])
    test(`of many clients together are bounded: the next is refused, and who sends a whole one is not: ${path}`, async t => {
      const daemon = await startDaemon(t, { flags: ['--memory'] })
      const announced = `Content-Type: application/x-www-form-urlencoded\r\nContent-Length: ${MiB}`
      const head = `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n${authorization(daemon)}\r\n${announced}\r\n\r\n`
      const body = Buffer.alloc(MiB - 1, 'x')
      const refusals: string[] = []
      const sockets = Array.from({ length: 80 }, () => {
        const socket = open(daemon)
        socket.on('data', text => refusals.push(String(text)))
        socket.write(head)
        socket.write(body)
        return socket
      })
      await until(() => refusals.length >= 10)
      for (const refusal of refusals) assert.match(refusal, /^HTTP\/1\.1 503 .*"code":"SERVER_BUSY"/s)
      assert.equal((await daemon.owner.raw('GET', '/api/v1/users/me')).status, 200)
      for (const socket of sockets) socket.destroy()
      const again = { body: Buffer.alloc(MiB, 'x'), headers: { 'Content-Type': 'application/x-www-form-urlencoded' } }
      await until(async () => (await daemon.owner.raw('POST', path, again)).status < 500)
    })

  for (const type of ['application/x-www-form-urlencoded', 'multipart/form-data; boundary=b'])
    test(`that are too large are read on after the refusal, so that a client that is still sending gets it: ${type}`, async t => {
      const daemon = await startDaemon(t, { flags: ['--memory'] })
      const socket = connect({ port: Number(new URL(daemon.url).port), host: '127.0.0.1', allowHalfOpen: true })
      let failure: Error | undefined
      socket.on('error', error => {
        failure = error
      })
      const answer = hungUp(socket)
      const announced = `Content-Type: ${type}\r\nContent-Length: ${100_000 * MiB}`
      socket.write(
        `POST /api/v1/user_uploads HTTP/1.1\r\nHost: 127.0.0.1\r\n${authorization(daemon)}\r\n${announced}\r\n\r\n`,
      )
      await once(socket, 'end')
      // A connection that is reset fails the second piece at the latest.
      for (const _ of ['first', 'second'])
        await new Promise(resolve => socket.write(Buffer.alloc(MiB, 'x'), () => setTimeout(resolve, 50)))
      socket.end()
      assert.match(await answer, /^HTTP\/1\.1 413 .*too large/s)
      assert.equal(failure, undefined)
    })

  test('an upload goes to the disk as it arrives, and one that is cut off leaves nothing there', async t => {
    const daemon = await startDaemon(t)
    const folder = join(daemon.data, 'files')
    const names = () => {
      try {
        return readdirSync(folder)
      } catch {
        return []
      }
    }
    const announced = `Content-Type: multipart/form-data; boundary=b\r\nContent-Length: ${50 * MiB}`
    const head = `POST /api/v1/user_uploads HTTP/1.1\r\nHost: 127.0.0.1\r\n${authorization(daemon)}\r\n${announced}\r\n\r\n`
    const part = '--b\r\nContent-Disposition: form-data; name="file"; filename="f"\r\n\r\n'
    const socket = open(daemon)
    socket.write(head + part)
    socket.write(Buffer.alloc(2 * MiB, 'x'))
    await until(() => names().length === 1)
    socket.destroy()
    await until(() => names().length === 0)
    const bytes = Buffer.alloc(2 * MiB, 'y')
    const { url } = await daemon.owner.call(uploads.upload, {
      file: { filename: 'f', contentType: 'text/plain', bytes },
    })
    assert.equal((await daemon.owner.raw('GET', url)).text, bytes.toString())
    assert.equal(names().length, 1)
    assert.match(names()[0]!, /^[0-9a-f]{64}$/)
  })

  test('of uploads count in --upload-quota: they are refused as they arrive', async t => {
    const daemon = await startDaemon(t, { flags: ['--upload-quota', '4'] })
    const announced = `Content-Type: multipart/form-data; boundary=b\r\nContent-Length: ${50 * MiB}`
    const head = `POST /api/v1/user_uploads HTTP/1.1\r\nHost: 127.0.0.1\r\n${authorization(daemon)}\r\n${announced}\r\n\r\n`
    const part = '--b\r\nContent-Disposition: form-data; name="file"; filename="f"\r\n\r\n'
    const unfinished = [open(daemon), open(daemon)]
    const refused = Promise.race(unfinished.map(socket => once(socket, 'data')))
    for (const socket of unfinished) {
      socket.write(head + part)
      socket.write(Buffer.alloc(3 * MiB, 'x'))
    }
    assert.match(String(await refused), /^HTTP\/1\.1 400 .*"code":"REALM_UPLOAD_QUOTA"/s)
    for (const socket of unfinished) socket.destroy()
    const whole = { filename: 'f', contentType: 'text/plain', bytes: Buffer.alloc(3 * MiB, 'y') }
    await until(async () => (await daemon.owner.try(uploads.upload, { file: whole })).status === 200)
  })
})

describe('GET /user_uploads/…', () => {
  test('large files that no one takes are not held in memory', async t => {
    const heap = join(mkdtempSync(join(tmpdir(), 'natter-heap-')), 'heap')
    t.after(() => rmSync(join(heap, '..'), { recursive: true }))
    const daemon = await startDaemon(t, { env: reportingHeap(heap) })
    const size = 16 * MiB
    const { url } = await daemon.owner.call(uploads.upload, {
      file: { filename: 'a', contentType: 'text/plain', bytes: Buffer.alloc(size, 'x') },
    })
    const before = await megabytesKept(daemon, heap)
    const readers = Array.from({ length: 8 }, () => open(daemon))
    for (const socket of readers) {
      socket.write(`GET ${url} HTTP/1.1\r\nHost: 127.0.0.1\r\n${authorization(daemon)}\r\n\r\n`)
      // The head has come; what follows it stays where it is.
      await new Promise(resolve => socket.once('readable', resolve))
    }
    assert.ok((await megabytesKept(daemon, heap)) < before + 16, 'less than one of eight files')
    for (const socket of readers) socket.destroy()
  })
})
