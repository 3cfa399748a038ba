// `natter record` of a daemon that ends the recording before it is complete, that gets no calls, or that cannot be reached.

import assert from 'node:assert/strict'
import { readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { environmentOf, fakeServer, newShell } from '../support/cli.ts'
import { startDaemon } from '../support/daemon.ts'

test('a recording that the daemon cut off is reported, with the exit code of the command if that failed', async t => {
  const text = '{"natter_recording":1}\n{"call":1}\n{"cut":1}\n'
  const url = await fakeServer(t, (request, response) =>
    response.end(request.method === 'GET' ? text : '{"result":"success","ended":0}'),
  )
  const shell = newShell(t, { NATTER_CONTROL_TOKEN: 'token' })
  // A link is replaced, and what it leads to stays.
  writeFileSync(join(shell.home, 'other'), 'mine')
  symlinkSync('other', join(shell.home, 'talk'))
  for (const [command, wanted] of [
    ['true', 1],
    ['exit 7', 7],
  ] as const) {
    const { code, stderr } = await shell.run(['record', 'talk', '--site', url, '--', 'sh', '-c', command])
    assert.equal(code, wanted, stderr)
    assert.match(stderr, /wrote talk, 1 call\n.*talk is not complete: the daemon answered calls faster/)
  }
  assert.equal(readFileSync(join(shell.home, 'talk'), 'utf8'), text)
  assert.equal(readFileSync(join(shell.home, 'other'), 'utf8'), 'mine')
})

test('a command that does not call the daemon is pointed out', async t => {
  const daemon = await startDaemon(t, { flags: ['--memory'] })
  const { stderr } = await newShell(t, environmentOf(daemon)).run(['record', 'talk', '--', 'true'])
  assert.match(stderr, /wrote talk, 0 calls\nthe command did not call this daemon; a test that uses startNatter\(\)/)
})

test('an earlier recording stays as it is until a daemon sends a new one', async t => {
  const refusing = await fakeServer(t, (_request, response) => {
    response.statusCode = 401
    response.end('{"result":"error","msg":"no","code":"UNAUTHORIZED"}')
  })
  const shell = newShell(t)
  const file = join(shell.home, 'talk')
  writeFileSync(file, 'earlier')
  for (const flags of [
    ['--site', 'http://127.0.0.1:9', '--control-token', 'token'],
    ['--site', 'http://127.0.0.1:9'],
    ['--site', refusing, '--control-token', 'token'],
  ]) {
    const { code, stderr } = await shell.run(['record', 'talk', ...flags, '--', 'true'])
    assert.notEqual(code, 0, stderr)
    assert.equal(readFileSync(file, 'utf8'), 'earlier')
  }
})

test('a recording that cannot be written is reported, and the command does not run', async t => {
  const url = await fakeServer(t, (_request, response) => void response.write('{"natter_recording":1}\n'))
  const shell = newShell(t, { NATTER_CONTROL_TOKEN: 'token' })
  const { code, stderr } = await shell.run(['record', 'none/talk', '--site', url, '--', 'sh', '-c', 'exit 7'])
  assert.equal(code, 1, stderr)
  assert.match(stderr, /^natter: cannot write none\/talk: ENOENT/)
})
