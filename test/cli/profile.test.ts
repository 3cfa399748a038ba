// Reports of the command line about accounts and profiles, and about calls whose reply is empty or silent.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { accountAt, newShell } from '../support/cli.ts'
import { startDaemon } from '../support/daemon.ts'
import { freePort } from '../support/free-port.ts'

describe('natter login and natter profile', () => {
  test('login reports the profile it saved and the one it switched from', async t => {
    const { url, ready } = await startDaemon(t)
    const shell = newShell(t, { NATTER_PASSWORD: 'correct horse' })
    const owner = ['--site', url, '--user', ready.owner.email, '--api-key', ready.owner.api_key]
    const created = await shell.run(['users', 'create', 'amy@example.com', 'Amy Adams', ...owner])
    assert.equal(created.code, 0, created.stderr)
    const added = await shell.run(['profile', 'add', 'owner', ...owner])
    assert.match(added.stderr, /^saved profile owner in .*; the key works \(.+\)\n$/)
    const { code, stderr } = await shell.run(['login', url, 'amy@example.com', '--name', 'amy'])
    assert.equal(code, 0, stderr)
    assert.match(
      stderr,
      /^logged in as amy@example\.com; profile amy in .* is now the current one; switched from owner\n$/,
    )
  })

  test('profile add refuses a wrong key, and says when it cannot verify one', async t => {
    const { url, ready } = await startDaemon(t)
    const shell = newShell(t)
    const profile = (site: string) => ['--site', site, '--user', ready.owner.email, '--api-key', 'x'.repeat(32)]
    const wrong = await shell.run(['profile', 'add', 'wrong', ...profile(url)])
    assert.equal(wrong.code, 4, wrong.stderr)
    const nobody = await shell.run(['profile', 'add', 'later', ...profile(`http://127.0.0.1:${await freePort()}`)])
    assert.equal(nobody.code, 0, nobody.stderr)
    assert.match(nobody.stderr, /^saved profile later in .*; not verified: cannot reach /)
    const { stdout } = await shell.run(['profile', 'list', '--json'])
    assert.deepEqual(
      JSON.parse(stdout).map(({ name }: { name: string }) => name),
      ['later'],
    )
  })

  test('an account from a preset has no password, and the advice says so', async t => {
    const { url } = await startDaemon(t, { flags: ['--preset', 'dev'] })
    const shell = newShell(t, { NATTER_PASSWORD: 'a guess' })
    const advice =
      /An account from a seed or preset has no password: get its key with `natter accounts amy@example\.com`/
    const missing = await shell.run(['users', 'me', '--site', url, '--user', 'amy@example.com'])
    assert.equal(missing.code, 4)
    assert.match(missing.stderr, /no API key for amy@example\.com at http/)
    assert.match(missing.stderr, advice)
    const refused = await shell.run(['login', url, 'amy@example.com'])
    assert.equal(refused.code, 4)
    assert.match(refused.stderr, advice)
  })
})

describe('the report of a call', () => {
  test('a text that the server cuts is reported, alone and in a batch', async t => {
    const { url, ready } = await startDaemon(t)
    const shell = newShell(t, accountAt(url, ready.owner.email, ready.owner.api_key))
    const long = 'x'.repeat(11_000)
    const place = ['--channel', 'general', '--topic', 'cut']
    assert.equal((await shell.run(['channels', 'create', 'general'])).code, 0)
    const sent = await shell.run(['send', '-', ...place], { input: long })
    assert.equal(sent.code, 0, sent.stderr)
    assert.equal(sent.stderr, '<content> has 11000 characters; the server cuts it to 10000\n')
    const whole = await shell.run(['send', '-', ...place], { input: long.slice(0, 10_000) })
    assert.deepEqual([whole.code, whole.stderr], [0, ''])
    const topic = await shell.run(['send', 'hello', '--channel', 'general', '--topic', 't'.repeat(61)])
    assert.equal(topic.stderr, '--topic has 61 characters; the server cuts it to 60\n')
    const lines = ['short', long, long].map(content => JSON.stringify({ content }))
    const batch = await shell.run(['send', '--batch', '-', ...place], { input: `${lines.join('\n')}\n` })
    assert.equal(batch.code, 0, batch.stderr)
    assert.equal(batch.stderr.match(/has 11000 characters/g)?.length, 2, batch.stderr)
  })

  test('org deactivate says what it did and how to undo it', async t => {
    const { url, ready } = await startDaemon(t)
    const shell = newShell(t, accountAt(url, ready.owner.email, ready.owner.api_key))
    const { code, stderr } = await shell.run(['org', 'deactivate', '--yes'])
    assert.equal(code, 0, stderr)
    assert.equal(stderr, 'deactivated the organization; to undo this, restart natterd with --reactivate\n')
  })
})
