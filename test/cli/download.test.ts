// Files of a server that something else answers for.

import assert from 'node:assert/strict'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { accountAt, fakeServer, newShell } from '../support/cli.ts'

test('a page in place of a file is not saved as a snapshot, a seed or a recording', async t => {
  const cut = '{"format":3,"position":0,"time":1,"sections":{'
  for (const page of ['<html>Log in</html>', '', '{"result":"success"}', cut]) {
    const url = await fakeServer(t, (_request, response) => response.end(page))
    const shell = newShell(t, { ...accountAt(url), NATTER_CONTROL_TOKEN: 'token' })
    writeFileSync(join(shell.home, 'file'), 'before')
    for (const args of [
      ['snapshot', 'export', 'file'],
      ['seed', 'dump', 'file'],
      ['record', 'file', '--', 'true'],
    ]) {
      const { code, stderr } = await shell.run(args)
      assert.equal(code, 1, `${args.join(' ')}: ${stderr}`)
      assert.match(stderr, /the server did not answer with a (snapshot|seed|recording)/)
    }
    assert.deepEqual(readdirSync(shell.home), ['file'])
    assert.equal(readFileSync(join(shell.home, 'file'), 'utf8'), 'before')
  }
})
