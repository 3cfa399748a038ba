// `natter record` of a daemon that ends the recording before it is complete.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fakeServer, newShell } from '../support/cli.ts'

test('a recording that the daemon cut off is reported, with the exit code of the command if that failed', async t => {
  const text = '{"natter_recording":1}\n{"call":1}\n{"cut":1}\n'
  const url = await fakeServer(t, (request, response) =>
    response.end(request.method === 'GET' ? text : '{"result":"success","ended":0}'),
  )
  const shell = newShell(t, { NATTER_CONTROL_TOKEN: 'token' })
  for (const [command, wanted] of [
    ['true', 1],
    ['exit 7', 7],
  ] as const) {
    const { code, stderr } = await shell.natter(['record', 'talk', '--site', url, '--', 'sh', '-c', command])
    assert.equal(code, wanted, stderr)
    assert.match(stderr, /wrote talk, 1 call\n.*talk is not complete: the daemon answered calls faster/)
  }
  assert.equal(readFileSync(join(shell.home, 'talk'), 'utf8'), text)
})
