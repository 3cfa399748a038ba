// Batches, over connections that are used again and again: answers in every form HTTP/1.1 has, in whatever pieces they come.

import assert from 'node:assert/strict'
import { createServer, type Server, type Socket } from 'node:net'
import { describe, type TestContext, test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { accountAt, fakeServer, newShell } from '../support/cli.ts'

interface Line {
  readonly method?: string
  readonly path: string
  readonly params?: object
}

async function batch(t: TestContext, url: string, lines: readonly Line[], ...flags: string[]) {
  const input = lines.map(line => JSON.stringify(line)).join('\n')
  const { code, stdout } = await newShell(t, accountAt(url)).run(['api', '--batch', '-', ...flags], { input })
  const results = stdout.split('\n').filter(line => line !== '')
  return { code, results: results.map(line => JSON.parse(line)) }
}

/** The result of one call to a server that answers with these bytes, a few at a time, and then hangs up or not. */
async function resultOf(t: TestContext, answer: string, { ends = false, method = 'POST', size = 7 } = {}) {
  const url = await rawServer(t, socket => {
    socket.once('data', async () => {
      for (let at = 0; at < answer.length; at += size) {
        socket.write(answer.slice(at, at + size))
        await turn()
      }
      if (ends) socket.end()
    })
  })
  const { results } = await batch(t, url, [{ method, path: '/x' }], '--keep-going', '--timeout', '5s')
  return results[0]
}

const success = '{"result":"success","text":"hé"}'
const length = Buffer.byteLength(success)

describe('an answer to a batch', () => {
  test('with Content-Length is complete with its last byte, after interim answers', async t => {
    const interim = 'HTTP/1.1 102 Processing\r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: <x>\r\n\r\n'
    for (const before of ['', interim]) {
      const { http, text } = await resultOf(
        t,
        `${before}HTTP/1.1 200 Some Words\r\ncontent-LENGTH:  ${length} \r\n\r\n${success}`,
      )
      assert.deepEqual([http, text], [200, 'hé'])
    }
  })

  test('in chunks is complete with its trailer', async t => {
    const chunked =
      'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n9;name=value\r\n{"result"\r\nb\r\n:"success"}\r\n0\r\nX: y\r\n\r\n'
    assert.equal((await resultOf(t, chunked)).result, 'success')
  })

  test('without a length ends with its connection', async t => {
    const { http, result } = await resultOf(t, `HTTP/1.1 502 Bad Gateway\r\n\r\n${success}`, { ends: true })
    assert.deepEqual([http, result], [502, 'success'])
  })

  test('has no body with 204', async t => {
    assert.equal((await resultOf(t, 'HTTP/1.1 204 No Content\r\n\r\n')).http, 204)
  })

  test('has no body to HEAD, whatever length it states, nor with 304; the next call gets its own', async t => {
    const whole = `HTTP/1.1 200 OK\r\nContent-Length: ${length}\r\n\r\n${success}`
    for (const [method, status, field] of [
      ['HEAD', 200, 'Content-Length: 5000\r\n'],
      ['GET', 304, 'ETag: "x"\r\n'],
    ] as const) {
      let calls = 0
      const url = await rawServer(t, socket => {
        const head = `HTTP/1.1 ${status} So\r\n${field}\r\n`
        socket.on('data', () => socket.write(calls++ === 0 ? head : whole))
      })
      const lines = [{ method, path: '/x' }, { path: '/x' }]
      const { results } = await batch(t, url, lines, '--parallel', '1', '--keep-going')
      assert.deepEqual([results[0].http, results[1].http, results[1].text], [status, 200, 'hé'], method)
    }
  })

  test('of HTTP/1.0 ends with its connection, and the next call opens another', async t => {
    let connections = 0
    const url = await rawServer(t, socket => {
      connections++
      socket.on('data', () => socket.end(`HTTP/1.0 200 OK\r\n\r\n${success}`))
    })
    const lines = [{ path: '/x' }, { path: '/x' }]
    const { code, results } = await batch(t, url, lines, '--parallel', '1')
    assert.deepEqual([code, connections, results.map(({ text }) => text)], [0, 2, ['hé', 'hé']])
  })

  test('that is not HTTP, or ends too early, is refused with a sentence', async t => {
    const wrong: readonly (readonly [string, RegExp])[] = [
      ['SSH-2.0-OpenSSH_9.2\r\n\r\n', /does not speak HTTP/],
      ['HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nabc', /ended before the answer was complete/],
      ['HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n', /ended before the answer was complete/],
      ['HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nxyz\r\n', /does not speak HTTP/],
      ['HTTP/1.1 200 OK\r\n', /ended before the answer was complete/],
    ]
    for (const [answer, reason] of wrong) {
      const { http, msg } = await resultOf(t, answer, { ends: true })
      assert.equal(http, null, answer)
      assert.match(msg, reason, answer)
    }
  })

  test('that is longer than its Content-Length does not damage the next one', async t => {
    const url = await rawServer(t, socket => {
      socket.on('data', () => socket.write('HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}extra'))
    })
    const { results } = await batch(t, url, [{ path: '/x' }, { path: '/x' }], '--parallel', '1', '--keep-going')
    for (const { http } of results) assert.ok(http === 200 || http === null)
    assert.equal(results.length, 2)
  })
})

describe('a batch', () => {
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
      'DELETE /below/api/v1/y undefined ',
    ])
  })

  test('opens a new connection when the other side closes it, and says which call got no answer', async t => {
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
