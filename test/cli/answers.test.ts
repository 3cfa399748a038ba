// Answers in JSON that are none of a chat server, such as those of a proxy: no call was made, and nothing says so.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { accountAt, fakeServer, newShell } from '../support/cli.ts'

const changes = [
  ['send', '#general', '--topic', 'x', 'Hello'],
  ['messages', 'delete', '5', '--yes'],
  ['api', '--batch', '-'],
]

describe('an answer in JSON', () => {
  for (const [what, status, body] of [
    ['of a redirect', 302, '{"result":"success","moved":true}'],
    ['without a result', 200, '{"login":"/portal"}'],
  ] as const)
    test(`${what} is not that of a call that was made`, async t => {
      const url = await fakeServer(t, (request, response) => {
        request.resume()
        response.writeHead(status, { location: '/portal', 'content-type': 'application/json' }).end(body)
      })
      const input = '{"method":"POST","path":"/typing"}\n'
      for (const args of changes) {
        const { code, stdout, stderr } = await newShell(t, accountAt(url)).run(args, { input })
        assert.equal(code, 1, `${args.join(' ')}: ${stdout}${stderr}`)
        assert.match(stderr, /not a chat server|not as a chat server does|the server answered with status/)
      }
    })
})
