// `natter daemon logs`: the end of a log, and what is added to it.

import assert from 'node:assert/strict'
import { truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { newShell } from '../support/cli.ts'

test('daemon logs prints the last lines', async t => {
  const shell = newShell(t)
  assert.equal((await shell.run(['daemon', 'logs', '--data', shell.home])).code, 3)
  writeFileSync(join(shell.home, 'daemon.log'), 'one\ntwo\nthree\n')
  assert.equal((await shell.run(['daemon', 'logs', '--data', shell.home, '-n', '2'])).stdout, 'two\nthree\n')
  // It takes no room itself.
  truncateSync(join(shell.home, 'daemon.log'), 2 ** 32)
  writeFileSync(join(shell.home, 'daemon.log'), '\nlast\n', { flag: 'a' })
  assert.equal((await shell.run(['daemon', 'logs', '--data', shell.home, '-n', '1'])).stdout, 'last\n')
  const child = shell.spawn(['daemon', 'logs', '--data', shell.home, '-n', '0', '-f'])
  t.after(() => child.kill('SIGKILL'))
  const added = new Promise(resolve => child.stdout!.setEncoding('utf8').once('data', resolve))
  const adding = setInterval(() => writeFileSync(join(shell.home, 'daemon.log'), 'four\n', { flag: 'a' }), 300)
  t.after(() => clearInterval(adding))
  assert.match(String(await added), /^four\n/)
  clearInterval(adding)
})
