// Targets of requests: what two readers could read differently is refused, by both ways in; texts in paths go on working.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { targetRefusal } from '../../daemon/http/target.ts'
import { sharedDaemon } from '../support/daemon.ts'
import { hostileTargets, sendRaw, statusOf } from '../support/hostile-targets.ts'
import { sendBytes } from '../support/http.ts'

const ways = ['short', 'node:http'] as const

describe('the target of a request', () => {
  const daemon = sharedDaemon()

  test('is refused with a sentence when it has dot segments, backslashes, control characters or a whole address', async () => {
    for (const way of ways)
      for (const method of ['POST', 'GET', 'DELETE'])
        for (const target of hostileTargets.refused) {
          const answer = await sendRaw(daemon().url, { target, method, way })
          assert.equal(statusOf(answer), 400, `${method} ${target}: ${answer}`)
          assert.match(answer, /"msg":"(The path has|Send a path|The request is not valid HTTP)/, target)
        }
  })

  test('leads nowhere when it names an address of a cluster', async () => {
    for (const way of ways)
      for (const target of hostileTargets.missing) {
        const status = statusOf(await sendRaw(daemon().url, { target, way }))
        assert.equal(status, 404, target)
      }
  })

  test('may hold dots, encoded characters and encoded slashes where a parameter is a text', () => {
    const accepted = [
      '/api/v1/users/iago%40zulip.com',
      '/api/v1/users/a%2Fb%40example.com',
      '/spaces/ci/api/v1/users/a%2Fb%40example.com',
      '/api/v1/realm/emoji/100%25',
      '/api/v1/realm/emoji/%E2%9C%94',
      '/api/v1/realm/domains/..example.com',
      '/api/v1/navigation_views/narrow%2Fis%2Fmentioned',
      '/avatar/a%2Fb%40example.com/medium',
      '/user_uploads/2/ab/name...with..dots.txt',
      '/user_uploads/2/ab/%D0%BE%D1%82%D1%87%D1%91%D1%82.pdf',
      '/api/v1/messages?anchor=../../x%00\\',
      '/spaces/a.b/',
      '/',
    ]
    for (const target of accepted) assert.equal(targetRefusal(target), undefined, target)
  })

  test('names an encoded slash as the reason why a path leads nowhere', async () => {
    const answer = await sendRaw(daemon().url, { target: '/api/v1/users%2fme', method: 'GET', way: 'short' })
    assert.match(answer, /^HTTP\/1\.1 400 .*encoded slash \(%2F\)/s)
  })
})

describe('the header Host', () => {
  const daemon = sharedDaemon()

  test('is refused when it is sent twice, by both ways in and whatever the second names', async () => {
    for (const target of ['/api/v1/server_settings', '/livez', '/'])
      for (const second of ['127.0.0.1', 'evil.example', '']) {
        const head = `GET ${target} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\nhOST: ${second}\r\n\r\n`
        assert.match(await sendBytes(daemon().url, head), /^HTTP\/1\.1 400 .*Send the header Host once\./s, target)
      }
  })
})
