// The source of the account of a call, and reports about accounts, profiles and calls whose reply is empty or silent.

import assert from 'node:assert/strict'
import { existsSync, mkdirSync, readdirSync, statSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { Failure } from '../../cli/base/failure.ts'
import { accountFor, normalSite, readProfiles, removeProfile, saveProfile } from '../../cli/base/profile.ts'
import { accountAt, fakeServer, json, newShell } from '../support/cli.ts'
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

  test('profiles that are saved at the same time are all there', async t => {
    const shell = newShell(t)
    const names = ['a', 'b', 'c', 'd']
    const site = `http://127.0.0.1:${await freePort()}`
    const add = (name: string) =>
      shell.natter(['profile', 'add', name, '--site', site, '--user', 'a@example.com', '--api-key', 'x'.repeat(32)])
    for (const { code, stderr } of await Promise.all(names.map(add))) assert.equal(code, 0, stderr)
    const folder = join(shell.home, '.config/natter')
    const { profiles } = readProfiles({ NATTER_CONFIG_DIR: folder })
    assert.deepEqual(Object.keys(profiles).sort(), names)
    assert.ok(!existsSync(join(folder, 'profiles.json.lock')))
  })

  test('a lock that a killed process left does not stop anyone', async t => {
    const folder = newShell(t).home
    const lock = join(folder, 'profiles.json.lock')
    writeFileSync(lock, '')
    utimesSync(lock, 0, 0)
    saveProfile(
      'a',
      { site: 'http://127.0.0.1:9', email: 'a@example.com', api_key: 'x' },
      { NATTER_CONFIG_DIR: folder },
    )
    assert.deepEqual(readdirSync(folder), ['profiles.json'])
  })

  test('nothing is written where nothing changes', t => {
    const { home } = newShell(t)
    const env = { HOME: home }
    const folder = join(home, '.config/natter')
    removeProfile('absent', env)
    assert.ok(!existsSync(folder))
    const file = saveProfile('kept', { site: 'http://127.0.0.1:1', email: 'a@x.com', api_key: 'k' }, env)
    utimesSync(file, 0, 0)
    removeProfile('absent', env)
    assert.equal(statSync(file).mtimeMs, 0)
  })

  test('a server that gives no key is no login, and one that names no account has not verified a key', async t => {
    const url = await fakeServer(t, (_, response) => json(response, { result: 'success' }))
    const shell = newShell(t, { NATTER_PASSWORD: 'x' })
    const { code, stderr } = await shell.run(['login', url, 'amy@example.com'])
    assert.equal(code, 1)
    assert.match(stderr, /answered without a key, so you are not logged in/)
    assert.deepEqual(readdirSync(shell.home), [])
    const add = ['profile', 'add', 'x', '--site', url, '--user', 'amy@example.com', '--api-key', 'x']
    assert.match((await shell.run(add)).stderr, /; not verified: http.* answered with no name\n$/)
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
    const quiet = await shell.run(['send', '-', ...place, '--quiet'], { input: long })
    assert.equal(quiet.stderr, sent.stderr)
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

describe('the account', () => {
  const site = 'http://127.0.0.1:9991'

  test('comes from flag, then environment, then profile, then zuliprc', t => {
    const { home } = newShell(t)
    const env = { HOME: home, ZULIP_CONFIG: join(home, 'rc') }
    writeFileSync(
      env.ZULIP_CONFIG,
      '[other]\nkey=no\n[api]\nemail = rc@example.com\nkey=rc-key\nsite: https://rc.example.com\n',
    )
    const pick = (flags: object, more = {}) => {
      const { site, email, apiKey } = accountFor(flags, { ...env, ...more })
      return [site, email, apiKey]
    }
    assert.deepEqual(pick({}), ['https://rc.example.com', 'rc@example.com', 'rc-key'])
    saveProfile('local', { site, email: 'p@example.com', api_key: 'p-key' }, env)
    assert.deepEqual(pick({}), [site, 'p@example.com', 'p-key'])
    const ours = { NATTER_SITE: `${site}/`, NATTER_EMAIL: 'e@example.com', NATTER_API_KEY: 'e-key' }
    assert.deepEqual(pick({}, ours), [site, 'e@example.com', 'e-key'])
    assert.deepEqual(pick({ user: 'f@example.com', apiKey: 'f-key' }, ours), [site, 'f@example.com', 'f-key'])
    assert.deepEqual(pick({ profile: 'local' }, ours), [site, 'p@example.com', 'p-key'])
    assert.throws(() => pick({ profile: 'locl' }), /^Error: no profile is called "locl"/)
    assert.throws(() => pick({}, { NATTER_PROFILE: 'locl' }), /^Error: NATTER_PROFILE: no profile is called "locl"/)
    writeFileSync(join(home, 'config.json'), '{"profile":"locl"}')
    const config = { NATTER_CONFIG: join(home, 'config.json') }
    assert.throws(() => pick({}, config), /config\.json: no profile is called "locl"/)
  })

  test('comes from a zuliprc at home before that of the current folder', async t => {
    const shell = newShell(t)
    const folder = join(shell.home, 'checkout')
    mkdirSync(folder)
    const rc = (name: string) =>
      `[api]\nemail=${name}@example.com\nkey=key-of-${name}\nsite=https://${name}.example.com\n`
    writeFileSync(join(folder, 'zuliprc'), rc('stranger'), { mode: 0o600 })
    const explained = async () => (await shell.run(['config', 'explain'], { cwd: folder })).stdout
    assert.match(await explained(), /https:\/\/stranger\.example\.com/)
    writeFileSync(join(shell.home, '.zuliprc'), rc('own'), { mode: 0o600 })
    assert.match(await explained(), /https:\/\/own\.example\.com/)
  })

  test('is not that of a profile if NATTER_READY_FILE names a file that is not there', async t => {
    const shell = newShell(t, { NATTER_READY_FILE: 'none.json' })
    saveProfile('local', { site, email: 'p@example.com', api_key: 'p-key' }, { HOME: shell.home })
    for (const words of [['whoami'], ['send', 'amy', 'Hi'], ['config', 'explain'], ['reset'], ['env']]) {
      const { code, stderr } = await shell.run(words)
      assert.equal(code, 2, words.join(' '))
      assert.match(stderr, /^natter: NATTER_READY_FILE: there is no ready file none\.json\n {2}Its daemon does not run/)
    }
    assert.match((await shell.run(['doctor'])).stdout, /wrong {4}account: NATTER_READY_FILE: there is no ready file/)
    // What comes before it, and what asks about the daemon itself, does not need the file.
    assert.equal((await shell.run(['env', '--profile', 'local'])).code, 0)
    assert.equal((await shell.run(['config', 'explain', '--site', site])).code, 0)
    assert.equal((await shell.run(['daemon', 'status'])).code, 3)
  })

  test('of NATTER_PROFILE is the current one for every subcommand', async t => {
    const shell = newShell(t)
    for (const name of ['one', 'two', 'three'])
      saveProfile(name, { site, email: `${name}@example.com`, api_key: 'key' }, { HOME: shell.home })
    const env = { NATTER_PROFILE: 'two' }
    assert.match((await shell.run(['profile', 'list'], { env })).stdout, /\* {2}two/)
    assert.match((await shell.run(['profile', 'export'], { env })).stdout, /^email=two@/m)
    const { stderr } = await shell.run(['profile', 'use', 'three'], { env })
    assert.equal(stderr, 'switched to profile three\nNATTER_PROFILE names the profile two, which is used instead\n')
    assert.equal((await shell.run(['profile', 'use', 'two'], { env })).stderr, 'switched to profile two\n')
    assert.match((await shell.run(['logout'], { env })).stderr, /^logged out two@/)
  })

  test('never sends a key to another site or for another user', t => {
    const { home } = newShell(t)
    const env = { HOME: home }
    saveProfile('local', { site, email: 'p@example.com', api_key: 'p-key' }, env)
    assert.deepEqual(accountFor({ site: 'https://evil.example.com' }, env), {
      site: 'https://evil.example.com',
      from: { site: 'flag' },
    })
    assert.equal(accountFor({ user: 'q@example.com' }, env).apiKey, undefined)
    assert.equal(accountFor({ user: 'q@example.com' }, env).site, site)
    assert.equal(accountFor({ user: 'P@example.com' }, env).apiKey, 'p-key')
  })

  test('refuses a key whose source names no site, unless a flag or a saved place says where it goes', t => {
    const { home } = newShell(t)
    const rc = { HOME: home, ZULIP_CONFIG: join(home, 'rc') }
    const key = { NATTER_EMAIL: 'e@example.com', NATTER_API_KEY: 'e-key' }
    writeFileSync(rc.ZULIP_CONFIG, `[api]\nsite=${site}\n`)
    assert.throws(
      () => accountFor({}, { ...rc, ...key }),
      /the API key comes from the environment \(NATTER_\*\), but the site from .*rc$/,
    )
    assert.throws(
      () => accountFor({ user: 'f@example.com', apiKey: 'f-key' }, rc),
      /the API key comes from a flag, but the site from .*rc$/,
    )
    // Typed for this call: the site may come from the environment or a profile, or be typed too.
    assert.equal(accountFor({ site, user: 'f@example.com', apiKey: 'f-key' }, rc).site, site)
    assert.equal(accountFor({ site }, { ...rc, ...key }).apiKey, 'e-key')
    assert.equal(accountFor({ user: 'f@example.com', apiKey: 'f-key' }, { NATTER_SITE: site, HOME: home }).site, site)
    saveProfile('local', { site, email: 'p@example.com', api_key: 'p-key' }, { HOME: home })
    assert.equal(accountFor({ user: 'f@example.com', apiKey: 'f-key' }, { HOME: home }).apiKey, 'f-key')
  })

  test('is kept in a private file, and the first profile is the current one', t => {
    const { home } = newShell(t)
    const env = { NATTER_CONFIG_DIR: join(home, 'config') }
    mkdirSync(env.NATTER_CONFIG_DIR, { mode: 0o755 })
    const file = saveProfile('a', { site, email: 'a@example.com', api_key: 'k' }, env)
    saveProfile('b', { site, email: 'b@example.com', api_key: 'k' }, env)
    assert.equal(statSync(file).mode & 0o777, 0o600)
    assert.equal(statSync(env.NATTER_CONFIG_DIR).mode & 0o777, 0o700)
    assert.deepEqual([readProfiles(env).current, Object.keys(readProfiles(env).profiles)], ['a', ['a', 'b']])
    writeFileSync(file, 'not json')
    assert.throws(() => readProfiles(env), /is not a profiles file/)
  })

  test('takes an address as people write it', () => {
    assert.equal(normalSite('localhost:9991'), 'http://localhost:9991')
    assert.equal(normalSite('chat.example.com/'), 'https://chat.example.com')
    assert.equal(normalSite('https://example.com/zulip/api/v1/'), 'https://example.com/zulip')
    assert.throws(() => normalSite('http://'), Failure)
  })
})
