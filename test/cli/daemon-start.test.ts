// `natter daemon start` beside what earlier runs left: a store, variables and profiles.

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { endAt } from '../support/background.ts'
import { newShell } from '../support/cli.ts'

test('flags for a new organization are named where the store has one, and a restart leaves them out', async t => {
  const shell = newShell(t)
  const store = join(shell.home, 'store')
  t.after(() => endAt(store))
  const start = ['daemon', 'start', '--port', '0', '--data', store]
  const first = await shell.natter([...start, '--preset', 'dev', '--owner', 'boss@example.com'])
  assert.equal(first.code, 0, first.stderr)
  assert.doesNotMatch(first.stderr, /ignored/)
  const restarted = await shell.natter(['daemon', 'restart'])
  assert.equal(restarted.code, 0, restarted.stderr)
  assert.doesNotMatch(restarted.stderr, /ignored/)
  await shell.run(['daemon', 'stop'])
  const again = await shell.natter([...start, '--preset', 'dev', '--owner', 'other@example.com'])
  assert.equal(again.code, 0)
  assert.match(
    again.stderr,
    /^the store already has an organization; --preset, --owner are ignored; for a new organization, name another folder/m,
  )
  assert.match(again.stdout, /^owner {2}boss@example\.com$/m)
})

test('daemon start names a variable that leads elsewhere, and daemon stop forgets the spaces', async t => {
  const shell = newShell(t)
  const store = join(shell.home, 'store')
  t.after(() => endAt(store))
  const elsewhere = shell.with({ NATTER_SITE: 'http://127.0.0.1:1' })
  const first = await elsewhere.run(['daemon', 'start', '--port', '0', '--data', store, '--control'])
  assert.equal(first.code, 0, first.stderr)
  assert.match(
    first.stderr,
    /^NATTER_SITE names another server and comes before profiles; unset it, or use --profile local/m,
  )
  assert.equal((await elsewhere.run(['whoami', '--profile', 'local'])).code, 0)
  assert.equal((await shell.run(['spaces', 'create', 'w4'])).code, 0)
  assert.equal((await shell.run(['spaces', 'use', 'w4'])).code, 0)
  const stopped = await shell.run(['daemon', 'stop', '--data', store])
  assert.match(stopped.stderr, /^removed profile space-w4; switched to profile local$/m)
  const again = await shell.run(['daemon', 'start', '--port', '0', '--data', store])
  assert.doesNotMatch(again.stderr, /names another server/)
})
