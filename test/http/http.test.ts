// The edge: who asks, where to, and an error body for everything.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { typing } from '../../daemon/api/messages/typing.ts'
import { users } from '../../daemon/api/people/users.ts'
import { Caller, sharedDaemon } from '../support/daemon.ts'
import { formOf, type HttpReply, send, sendBytes } from '../support/http.ts'
import { person } from '../support/world.ts'

const me = `/api/v1${users.me.path}`

function isError(reply: HttpReply, status: number, code: string, words: RegExp): void {
  assert.equal(reply.status, status, reply.text)
  assert.equal(reply.headers['content-type'], 'application/json')
  assert.equal(reply.body.result, 'error')
  assert.equal(reply.body.code, code)
  assert.match(reply.body.msg, words)
}

describe('HTTP Basic authentication', () => {
  const daemon = sharedDaemon({ flags: ['--memory', '--owner', 'Olive.Owner@Example.com'] })
  const asked = (authorization?: string) =>
    send(daemon().url + me, { headers: authorization === undefined ? {} : { authorization } })
  const basic = (text: string | Buffer) => `Basic ${Buffer.from(text).toString('base64')}`

  test('the user name is the email address, in any case', async () => {
    const { email, key } = daemon().owner
    assert.equal(email, 'Olive.Owner@Example.com')
    for (const name of [email, email?.toLowerCase(), email?.toUpperCase()]) {
      const reply = await asked(basic(`${name}:${key}`))
      assert.equal(reply.status, 200, reply.text)
      assert.equal(reply.body.email, email)
    }
  })

  test('the scheme is read in any case', async () => {
    const { email, key } = daemon().owner
    for (const scheme of ['basic', 'BASIC'])
      assert.equal((await asked(basic(`${email}:${key}`).replace('Basic', scheme))).status, 200)
  })

  test('no credentials are UNAUTHORIZED, with a challenge', async () => {
    const reply = await asked()
    isError(reply, 401, 'UNAUTHORIZED', /Authorization header/)
    assert.match(String(reply.headers['www-authenticate']), /^Basic realm="/)
  })

  test('credentials that cannot be read are UNAUTHORIZED', async () => {
    for (const header of [
      'Basic',
      'Basic ',
      'Basic !!!',
      basic('no colon'),
      basic(':key'),
      basic(Buffer.from([0xff, 0x3a, 0xfe])),
    ])
      isError(await asked(header), 401, 'UNAUTHORIZED', /Authorization header/)
  })

  test('another scheme is BAD_REQUEST', async () => {
    for (const header of ['Bearer abcdef', 'Digest username="x"', 'x'])
      isError(await asked(header), 400, 'BAD_REQUEST', /Basic/)
  })

  test('a wrong key and an unknown account look alike', async () => {
    const { email, key } = daemon().owner
    const replies = []
    for (const pair of [`${email}:${'x'.repeat(32)}`, `nobody@example.com:${key}`, `${email}:`, `${email}:${key}x`]) {
      const reply = await asked(basic(pair))
      isError(reply, 401, 'INVALID_API_KEY', /key/)
      replies.push(reply.text)
    }
    assert.equal(new Set(replies).size, 1)
  })

  test('another account’s key opens nothing', async () => {
    const amy = await person(daemon(), 'amy')
    const { email } = daemon().owner
    isError(await asked(basic(`${email}:${amy.key}`)), 401, 'INVALID_API_KEY', /key/)
    assert.equal((await amy.call(users.me, {})).user_id, amy.id)
  })
})

describe('paths and methods', () => {
  const daemon = sharedDaemon({ flags: ['--memory'] })

  test('an unknown path is 404 with an error body, for every method and inside /api/v1 or not', async () => {
    for (const path of [
      '/nothing',
      '/api',
      '/api/v1',
      '/api/v1/',
      '/api/v1/nothing',
      '/api/v1/users/me/x',
      '/api/v2/users/me',
    ])
      for (const method of ['GET', 'POST', 'PATCH', 'PUT', 'DELETE', 'OPTIONS', 'PURGE', 'PROPFIND'])
        isError(await daemon().owner.raw(method, path), 404, 'BAD_REQUEST', /^There is no endpoint at /)
  })

  test('something else than an integer where the path needs one is an unknown path', async () => {
    for (const id of ['x', '-1', '1.0', '1e3', '%31%20', '0x1', ''])
      isError(
        await daemon().owner.raw('DELETE', `/api/v1/saved_snippets/${id}`),
        id === '' ? 405 : 404,
        'BAD_REQUEST',
        /./,
      )
  })

  test('a method the path does not know is 405 and says which it knows', async () => {
    for (const method of ['POST', 'PATCH', 'PUT', 'DELETE', 'TRACE', 'PURGE', 'PROPFIND']) {
      const reply = await daemon().owner.raw(method, '/api/v1/server_settings')
      isError(reply, 405, 'BAD_REQUEST', new RegExp(method))
      assert.deepEqual(reply.body.allowed_methods, ['GET', 'HEAD'])
      assert.equal(reply.headers.allow, 'GET, HEAD')
    }
    const { body } = await daemon().owner.raw('GET', '/api/v1/typing')
    assert.deepEqual(body.allowed_methods, ['POST'])
  })

  test('HEAD answers as GET does, without the body', async () => {
    const get = await daemon().owner.raw('GET', me)
    const head = await daemon().owner.raw('HEAD', me)
    assert.equal(head.status, 200)
    assert.equal(head.text, '')
    assert.equal(head.headers['content-length'], get.headers['content-length'])
    assert.equal((await daemon().anonymous.raw('HEAD', me)).status, 401)
    assert.equal((await daemon().owner.raw('HEAD', '/api/v1/typing')).status, 405)
  })

  test('OPTIONS is 204 with Allow, and needs no account', async () => {
    const reply = await daemon().anonymous.raw('OPTIONS', '/api/v1/events')
    assert.equal(reply.status, 204)
    assert.equal(reply.text, '')
    assert.equal(reply.headers.allow, 'DELETE, GET, HEAD')
  })

  test('a slash at the end does not matter', async () => {
    assert.equal((await daemon().owner.raw('GET', `${me}/`)).status, 200)
  })

  test('a slash at the end of the name of a file is a part of it', async () => {
    const file = { filename: 'note.txt', contentType: 'text/plain', bytes: Buffer.from('text') }
    const { owner } = daemon()
    const { body } = await owner.raw('POST', '/api/v1/user_uploads', formOf('POST', new Map([['file', file]])))
    assert.equal((await owner.raw('GET', `/api/v1${body.url}`)).status, 200)
    isError(await owner.raw('GET', `/api/v1${body.url}/`), 404, 'BAD_REQUEST', /there is no file/)
  })

  test('bad percent-encoding in the path is refused', async () => {
    for (const path of ['/api/v1/users/%', '/api/v1/%zz', '/api/v1/saved_snippets/%ff'])
      isError(await daemon().owner.raw('DELETE', path), 400, 'BAD_REQUEST', /./)
  })

  test('answers are not to be cached', async () => {
    assert.match(String((await daemon().owner.raw('GET', me)).headers['cache-control']), /no-store|no-cache/)
  })

  test('every answer has a request ID of its own', async () => {
    const replies = await Promise.all(Array.from({ length: 50 }, () => daemon().owner.raw('GET', me)))
    const ids = replies.map(({ headers }) => headers['x-request-id'])
    assert.equal(new Set(ids).size, 50)
    assert.ok(ids.every(id => typeof id === 'string' && id !== ''))
    const missing = await daemon().owner.raw('GET', '/nothing', {
      headers: { 'request-id': 'mine', 'x-request-id': 'mine' },
    })
    assert.ok(missing.headers['x-request-id'] && missing.headers['x-request-id'] !== 'mine')
  })

  test('/livez and /readyz answer anyone', async () => {
    for (const path of ['/livez', '/readyz']) assert.equal((await daemon().anonymous.raw('GET', path)).status, 200)
    assert.deepEqual((await daemon().anonymous.raw('GET', '/readyz')).body, { ready: true })
  })

  test('what is not HTTP, or too large a header, gets an error body', async () => {
    for (const [bytes, status] of [
      ['nonsense\r\n\r\n', 400],
      ['GET /api/v1/users/me HTTP/1.1\r\nHost: x\r\nContent-Length: abc\r\n\r\n', 400],
      [`GET /api/v1/users/me HTTP/1.1\r\nHost: x\r\nX-Long: ${'x'.repeat(100_000)}\r\n\r\n`, 431],
      [`GET /api/v1/users/me?${'x'.repeat(100_000)} HTTP/1.1\r\nHost: x\r\n\r\n`, 431],
    ] as const) {
      const answer = await sendBytes(daemon().url, bytes)
      assert.match(answer, new RegExp(`^HTTP/1.1 ${status} `), answer)
      const { result, code, msg } = JSON.parse(answer.slice(answer.indexOf('\r\n\r\n')))
      assert.deepEqual([result, code, typeof msg], ['error', 'BAD_REQUEST', 'string'])
    }
  })

  test('half a request does no harm', async () => {
    await sendBytes(daemon().url, 'POST /api/v1/typing HTTP/1.1\r\nHost: x\r\nContent-Length: 50\r\n\r\nop=sta', 50)
    await sendBytes(daemon().url, 'GET /api/v1/us', 50)
    assert.equal((await daemon().owner.raw('GET', me)).status, 200)
  })

  test('it listens on the loopback address only', () => {
    assert.equal(new URL(daemon().url).hostname, '127.0.0.1')
  })
})

describe('bodies', () => {
  const daemon = sharedDaemon({ flags: ['--memory'] })
  const post = (body: string | Buffer, type?: string) =>
    daemon().owner.raw('POST', `/api/v1${typing.set.path}`, {
      body,
      headers: type === undefined ? {} : { 'Content-Type': type },
    })

  test('a body over the limit is 413, and the daemon goes on', async () => {
    const reply = await post(Buffer.alloc(102 * 1024 * 1024, 'x'), 'application/x-www-form-urlencoded')
    isError(reply, 413, 'BAD_REQUEST', /too large/)
    assert.equal((await daemon().owner.raw('GET', me)).status, 200)
  })

  test('of more than 1 MiB are refused unless they carry a file', async () => {
    const options = {
      body: Buffer.alloc(2 * 1024 * 1024, 'x'),
      headers: { 'Content-Type': 'application/x-www-form-urlencoded' },
    }
    isError(await daemon().anonymous.raw('POST', '/api/v1/fetch_api_key', options), 413, 'BAD_REQUEST', /limit: 1 MiB/)
    isError(await daemon().owner.raw('POST', '/api/v1/fetch_api_key', options), 413, 'BAD_REQUEST', /limit: 1 MiB/)
    isError(await daemon().owner.raw('POST', '/control/v1/reset', options), 413, 'BAD_REQUEST', /limit: 1 MiB/)
    const part = '--b\r\nContent-Disposition: form-data; name="file"; filename="f"\r\n\r\n'
    const body = Buffer.concat([Buffer.from(part), Buffer.alloc(2 * 1024 * 1024, 'x'), Buffer.from('\r\n--b--\r\n')])
    const file = { body, headers: { 'Content-Type': 'multipart/form-data; boundary=b' } }
    isError(await daemon().owner.raw('POST', '/api/v1/typing', file), 413, 'BAD_REQUEST', /limit: 1 MiB/)
    isError(await daemon().anonymous.raw('POST', '/api/v1/fetch_api_key', file), 413, 'BAD_REQUEST', /limit: 1 MiB/)
    assert.equal((await daemon().owner.raw('POST', '/api/v1/user_uploads', file)).status, 200)
  })

  test('a body that claims to be JSON and is not is INVALID_JSON', async () => {
    for (const body of ['{', 'op=start', '{"op":}', Buffer.from([0x22, 0xff, 0x22])])
      isError(await post(body, 'application/json'), 400, 'INVALID_JSON', /JSON/)
  })

  test('a body that is JSON is refused with the advice to send form fields', async () => {
    isError(await post('{"op":"start"}', 'application/json; charset=utf-8'), 400, 'BAD_REQUEST', /form fields/)
  })

  test('a body of another or no type is refused with the same advice', async () => {
    for (const type of ['text/plain', 'application/octet-stream', 'x', '', undefined])
      isError(await post('op=start', type), 400, 'BAD_REQUEST', /form fields/)
  })

  test('a multipart body that is cut off, or lies about its boundary, is refused', async () => {
    const whole = '--b\r\nContent-Disposition: form-data; name="op"\r\n\r\nstart\r\n--b--\r\n'
    for (const [body, type] of [
      [whole.slice(0, -8), 'multipart/form-data; boundary=b'],
      [whole, 'multipart/form-data; boundary=other'],
      [whole, 'multipart/form-data'],
      ['', 'multipart/form-data; boundary=b'],
      ['--b', 'multipart/form-data; boundary=b'],
      [whole.replace('\r\n\r\nstart', ''), 'multipart/form-data; boundary=b'],
    ] as const) {
      const reply = await post(body, type)
      assert.equal(reply.status, 400, `${type}: ${reply.text}`)
      assert.ok(['BAD_REQUEST', 'REQUEST_VARIABLE_MISSING'].includes(reply.body.code))
    }
  })

  test('no one without an account gets as far as the parameters', async () => {
    isError(await new Caller(daemon().url).raw('POST', '/api/v1/typing', { body: '{' }), 401, 'UNAUTHORIZED', /./)
  })
})
