// Answers as batches read them: every form HTTP/1.1 has, in whatever pieces they come.

import assert from 'node:assert/strict'
import { createServer, type Server, type Socket } from 'node:net'
import { describe, type TestContext, test } from 'node:test'
import fc from 'fast-check'
import { BrokenReply, ReplyReader } from '../../cli/transport/reply-reader.ts'
import { accountAt, fakeServer, newShell } from '../support/cli.ts'

/** Feeds the pieces: all of them, and no less, must be needed for the answer. */
function read(pieces: readonly Buffer[], { method = 'POST', ends = false } = {}) {
  const reader = new ReplyReader(method)
  const replies = pieces.map(piece => reader.push(piece))
  const reply = ends ? reader.end() : replies.pop()
  assert.ok(reply && replies.every(early => early === undefined))
  return { ...reply, reusable: reader.reusable }
}

function cut(bytes: Buffer, places: readonly number[]): Buffer[] {
  const ends = [...new Set(places.map(place => place % bytes.length))].sort((a, b) => a - b)
  return [0, ...ends].map((begin, index) => bytes.subarray(begin, ends[index])).filter(piece => piece.length > 0)
}

function chunked(bytes: Buffer, sizes: readonly number[]): Buffer {
  const parts: Buffer[] = []
  for (let at = 0, i = 0; at < bytes.length; at += sizes[i % sizes.length]!, i++) {
    const piece = bytes.subarray(at, at + sizes[i % sizes.length]!)
    parts.push(
      Buffer.from(`${piece.length.toString(16)}${i % 2 ? ' ;name=value' : ''}\r\n`),
      piece,
      Buffer.from('\r\n'),
    )
  }
  return Buffer.concat([...parts, Buffer.from('0\r\nX-Trailer: x\r\n\r\n')])
}

const body = fc.string({ unit: 'grapheme', minLength: 1 })
const places = fc.array(fc.nat(2000), { maxLength: 12 })

describe('an answer', () => {
  test('of a stated length is complete with its last byte', () => {
    const any = fc.record({ body, places, status: fc.constantFrom(200, 404, 429), interim: fc.boolean() })
    fc.assert(
      fc.property(any, ({ body, places, status, interim }) => {
        const before = interim ? 'HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: <x>\r\n\r\n' : ''
        const length = Buffer.byteLength(body)
        const head = `HTTP/1.1 ${status} Some Words\r\nRetry-After: 2.5\r\ncontent-LENGTH:  ${length} \r\n\r\n`
        const reply = read(cut(Buffer.from(`${before}${head}${body}`), places))
        const retryAfter = status === 429 ? 2.5 : undefined
        assert.deepEqual(reply, { status, retryAfter, text: body, reusable: true })
      }),
    )
  })

  test('in chunks is complete with its trailer', () => {
    const sizes = fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1 })
    fc.assert(
      fc.property(body, places, sizes, (body, places, sizes) => {
        const head = Buffer.from('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n')
        const reply = read(cut(Buffer.concat([head, chunked(Buffer.from(body), sizes)]), places))
        assert.deepEqual([reply.text, reply.reusable], [body, true])
      }),
    )
  })

  test('without a length ends with its connection, which cannot be used again', () => {
    fc.assert(
      fc.property(body, places, (body, places) => {
        const reply = read(cut(Buffer.from(`HTTP/1.1 502 Bad Gateway\r\n\r\n${body}`), places), { ends: true })
        assert.deepEqual([reply.status, reply.text, reply.reusable], [502, body, false])
      }),
    )
  })

  test('has no body after HEAD, with 204 and with 304', () => {
    const head = (status: number) => [Buffer.from(`HTTP/1.1 ${status} X\r\nContent-Length: 5\r\n\r\n`)]
    assert.equal(read(head(200), { method: 'HEAD' }).text, '')
    for (const status of [204, 304]) assert.equal(read(head(status)).status, status)
  })

  test('says when its connection will be closed', () => {
    const rest = 'Content-Length: 0\r\n\r\n'
    assert.equal(read([Buffer.from(`HTTP/1.1 200 OK\r\nConnection: Close\r\n${rest}`)]).reusable, false)
    assert.equal(read([Buffer.from(`HTTP/1.0 200 OK\r\n${rest}`)]).reusable, false)
    assert.equal(read([Buffer.from(`HTTP/1.1 200\r\n${rest}`)]).reusable, true)
  })

  test('that is none, or ends too early, is refused with a sentence', () => {
    const wrong: readonly (readonly [string, RegExp])[] = [
      ['SSH-2.0-OpenSSH_9.2\r\n\r\n', /does not speak HTTP/],
      ['x'.repeat(70_000), /does not speak HTTP/],
      ['HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nabc', /longer than it says/],
      ['HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nabc', /ended before the answer was complete/],
      ['HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n', /ended before the answer was complete/],
      ['HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nabcdefghi\r\n', /has no length/],
      ['HTTP/1.1 200 OK\r\n', /ended before the answer was complete/],
    ]
    for (const [text, reason] of wrong)
      assert.throws(
        () => read([Buffer.from(text)], { ends: true }),
        error => error instanceof BrokenReply && reason.test(error.message),
        text.slice(0, 80),
      )
  })
})

describe('a batch', () => {
  const batch = async (t: TestContext, url: string, lines: readonly object[], ...flags: string[]) => {
    const input = lines.map(line => JSON.stringify(line)).join('\n')
    const { code, stdout } = await newShell(t, accountAt(url)).natter(['api', '--batch', '-', ...flags], { input })
    const results = stdout.split('\n').filter(line => line !== '')
    return { code, results: results.map(line => JSON.parse(line)) }
  }

  test('sends paths as one call would, fields in the query or in the body', async t => {
    const got: string[] = []
    const url = await fakeServer(t, (request, response, body) => {
      got.push(`${request.method} ${request.url} ${request.headers['content-length']} ${body}`)
      response.end('{"result":"success"}')
    })
    const lines = [
      { path: '/a b/ä?x=1', params: { q: 'c d' } },
      { method: 'POST', path: 'x', params: { a: 'é', list: [1] } },
      { method: 'DELETE', path: '/api/v1/y' },
    ]
    assert.equal((await batch(t, `${url}/below/`, lines, '--parallel', '1')).code, 0)
    assert.deepEqual(got, [
      'GET /below/api/v1/a%20b/%C3%A4?x=1&q=c%20d undefined ',
      'POST /below/api/v1/x 21 a=%C3%A9&list=%5B1%5D',
      'DELETE /below/api/v1/y 0 ',
    ])
  })

  test('opens a connection anew when the other side closes it, and says which call got no answer', async t => {
    let connections = 0
    // The first answer of each connection is good, the second is cut off.
    const url = await rawServer(t, socket => {
      connections++
      let calls = 0
      socket.on('data', () => {
        const answer = 'HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\n{"result":"success"}'
        if (++calls === 1) socket.write(answer)
        else socket.end(answer.slice(0, -5))
      })
    })
    const lines = Array.from({ length: 6 }, () => ({ path: '/x' }))
    const { code, results } = await batch(t, url, lines, '--parallel', '1', '--keep-going')
    assert.deepEqual([code, connections], [1, 3])
    assert.deepEqual(
      results.map(({ line, http, msg }) => [line, http, /the connection ended before the answer/.test(msg)]),
      [1, 2, 3, 4, 5, 6].map(line => (line % 2 ? [line, 200, false] : [line, null, true])),
    )
  })

  test('gives up a call that is not answered in time, and goes on', async t => {
    let calls = 0
    const url = await rawServer(t, socket => {
      socket.on('data', () => {
        if (calls++ > 0) socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}')
      })
    })
    const lines = [{ path: '/x' }, { path: '/x' }]
    const { code, results } = await batch(t, url, lines, '--parallel', '1', '--keep-going', '--timeout', '1s')
    assert.deepEqual([code, results.map(({ http }) => http)], [1, [null, 200]])
    assert.match(results[0].msg, /did not answer within 1 s/)
  })
})

async function rawServer(t: TestContext, serve: (socket: Socket) => void): Promise<string> {
  const sockets = new Set<Socket>()
  const server: Server = createServer(socket => {
    sockets.add(socket.on('error', () => {}))
    serve(socket)
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as { port: number }).port}`
}
