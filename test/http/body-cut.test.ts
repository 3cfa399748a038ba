// Bodies that end too early, of every kind, to every kind of endpoint: a refusal, and the daemon goes on.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { sharedDaemon } from '../support/daemon.ts'
import { sendBytes } from '../support/http.ts'

const part = (name: string, more = '') => `--b\r\nContent-Disposition: form-data; name="${name}"${more}\r\n\r\n`
const file = part('file', '; filename="a.txt"\r\nContent-Type: text/plain')
const multi = 'multipart/form-data; boundary=b'

/** Whole ones; each is cut at many places. */
const bodies: Readonly<Record<string, readonly [type: string, text: string]>> = {
  'a file': [multi, `${file}some bytes\r\n--b--\r\n`],
  'two files': [multi, `${file}some bytes\r\n${file.replace('"file"', '"other"')}more\r\n--b--\r\n`],
  'a field': [multi, `${part('op')}start\r\n--b--\r\n`],
  'a field and a file': [multi, `${part('op')}start\r\n${file}some bytes\r\n--b--\r\n`],
  'too many parts': [multi, `${Array.from({ length: 1002 }, (_, i) => `${part(`p${i}`)}x\r\n`).join('')}${file}x`],
  'no boundary': ['multipart/form-data', `${file}x\r\n--b--\r\n`],
  'a form': ['application/x-www-form-urlencoded', 'op=start&to=%5B2%5D'],
  JSON: ['application/json', '{"op":"start"}'],
}

const paths = [
  'POST /api/v1/user_uploads',
  'POST /api/v1/users/me/avatar',
  'POST /api/v1/typing',
  'POST /api/v1/register',
  'GET /api/v1/events',
  'GET /api/v1/server_settings',
  'POST /api/v1/fetch_api_key',
  'DELETE /api/v1/nowhere',
  'POST /control/v1/reset',
  'POST /livez',
]

describe('a body that ends too early', () => {
  const daemon = sharedDaemon({ alone: true, flags: ['--memory'] })
  const { head } = heads(() => daemon().ready.owner)

  for (const [kind, [type, text]] of Object.entries(bodies))
    test(`${kind}: announced as it is, cut anywhere`, async () => {
      for (const [n, path] of paths.entries())
        for (const [m, cut] of cuts(text).entries()) {
          const request = head(path, `Content-Type: ${type}`, `Content-Length: ${cut.length}`, 'Connection: close')
          // Each path and each cut comes with an account and without one.
          const sent = (n + m) % 2 === 0 ? request : anonymous(request)
          const answer = await sendBytes(daemon().url, sent + cut)
          assert.match(answer, /^HTTP\/1\.1 [234]\d\d /, `${path} with ${JSON.stringify(cut.slice(-40))}`)
        }
    })

  for (const [kind, [type, text]] of Object.entries(bodies))
    test(`${kind}: the client hangs up before the rest`, async () => {
      for (const [n, path] of paths.entries())
        for (const [m, cut] of cuts(text).entries()) {
          // Every second, so that each path has some and each cut has some.
          if ((n + m) % 2 === 0) continue
          const announced = `Content-Length: ${text.length + 10}`
          await sendBytes(daemon().url, head(path, `Content-Type: ${type}`, announced) + cut, 'hang up')
        }
      assert.equal((await daemon().owner.raw('GET', '/readyz')).status, 200)
    })

  test('the daemon answers as before after all of these', async () => {
    assert.equal((await daemon().owner.raw('GET', '/readyz')).status, 200)
    assert.equal(daemon().stderr, '')
  })
})

/** A few places: the start, around the end, and between. */
function cuts(text: string): string[] {
  const places = [1, 20, Math.floor(text.length / 2), text.length - 9, text.length - 6, text.length - 2, text.length]
  return [...new Set(places.filter(place => place > 0))].map(place => text.slice(0, place))
}

function heads(owner: () => { email: string; api_key: string }) {
  const head = (line: string, ...fields: string[]) => {
    const { email, api_key } = owner()
    const basic = Buffer.from(`${email}:${api_key}`).toString('base64')
    return [`${line} HTTP/1.1`, 'Host: 127.0.0.1', `Authorization: Basic ${basic}`, ...fields, '', ''].join('\r\n')
  }
  return { head }
}

function anonymous(request: string): string {
  return request.replace(/Authorization: .*\r\n/, '')
}
