// `natter replay --fresh`: against a daemon that begins as the recording did.

import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { newShell, Watched } from '../support/cli.ts'
import { until } from '../support/until.ts'

test('a replay --fresh that a signal ends leaves nothing in the temporary folder', async t => {
  for (const [signal, code] of [
    ['SIGTERM', 143],
    ['SIGINT', 130],
  ] as const) {
    const shell = newShell(t)
    const folder = join(shell.home, 'tmp')
    mkdirSync(folder)
    const call = { call: 1, time: 0, user: 'amy@example.com', method: 'GET', path: '/api/v1/users/me', sent: {} }
    const lines = [{ natter_recording: 1 }, { ...call, endpoint: 'get-own-user', status: 200, answer: {} }, { end: 1 }]
    writeFileSync(join(shell.home, 'talk.ndjson'), lines.map(line => `${JSON.stringify(line)}\n`).join(''))
    const env = { TMPDIR: folder }
    const replay = new Watched(
      t,
      newShell(t, env).spawn(['replay', join(shell.home, 'talk.ndjson'), '--against', 'natter', '--fresh']),
    )
    await until(() => readdirSync(folder).some(name => name.startsWith('natter-exec-')))
    replay.child.kill(signal)
    assert.equal(await replay.ended, code, replay.stderr)
    assert.deepEqual(
      readdirSync(folder).filter(name => name.startsWith('natter-')),
      [],
    )
  }
})

test('a recording of the first call of a new user is played', async t => {
  const bin = join(import.meta.dirname, '../../bin')
  const shell = newShell(t, { PATH: `${bin}:${process.env.PATH}` })
  const send = "natter send '#general>x' hi"
  const recorded = await shell.natter([
    'exec',
    '--preset',
    'dev',
    '--',
    'sh',
    '-c',
    `natter record talk.ndjson -- ${send}`,
  ])
  assert.equal(recorded.code, 0, recorded.stderr)
  const { code, stderr } = await shell.natter(['replay', 'talk.ndjson', '--against', 'natter', '--fresh'])
  assert.doesNotMatch(stderr, /refused/)
  assert.match(stderr, /^\d+ calls, /m)
  assert.ok(code === 0 || code === 8, stderr)
})
