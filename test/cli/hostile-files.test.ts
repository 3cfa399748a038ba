// Files that a stranger made: what they say is checked before anything of it is used, and no key goes where they want it.

import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, readFileSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { fakeServer, json, newShell, type Shell } from '../support/cli.ts'
import { sharedDaemon } from '../support/daemon.ts'

describe('a recording of a stranger', () => {
  const daemon = sharedDaemon({ flags: ['--memory', '--preset', 'dev'] })
  const call = { call: 1, time: 0, user: 'amy@example.com', method: 'GET', path: '/api/v1/users/me' }
  const rest = { endpoint: 'get-own-user', sent: {}, status: 200, answer: {} }

  /** Plays calls to the daemon. */
  const play = async (t: TestContext, ...calls: object[]) => {
    const { url, ready } = daemon()
    const shell = newShell(t, { NATTER_SITE: url, NATTER_CONTROL_TOKEN: ready.control_token! })
    const lines = [{ natter_recording: 1, clock: {} }, ...calls, { end: calls.length }]
    writeFileSync(join(shell.home, 'talk.ndjson'), lines.map(line => `${JSON.stringify(line)}\n`).join(''))
    return shell.run(['replay', 'talk.ndjson'])
  }

  test('sends no key to its author, whatever its paths say', async t => {
    const seen: string[] = []
    const author = await fakeServer(t, (request, response) => {
      seen.push(`${request.url} ${request.headers.authorization}`)
      json(response, { result: 'success' })
    })
    const host = new URL(author).host
    for (const path of [
      `@${host}/api/v1/users/me`,
      `//${host}/api/v1/users/me`,
      `\\\\${host}\\x`,
      `${author}/api/v1/x`,
    ]) {
      const { code, stderr } = await play(t, { ...call, path, ...rest })
      assert.equal(code, 2, stderr)
      assert.match(stderr, /talk\.ndjson, line 2: "path" must be a path of the API/)
    }
    assert.deepEqual(seen, [])
  })

  test('reaches nothing but the API', async t => {
    for (const path of [
      '/api/v1/../../control/v1/reset',
      '/api/v1/%2e%2e/%2e%2e/x',
      '/control/v1/reset',
      '/api/v1/.\t./x',
    ]) {
      const { code, stderr } = await play(t, { ...call, method: 'POST', path, ...rest })
      assert.equal(code, 2, stderr)
      assert.match(stderr, /line 2: "path"/)
    }
    const account = await play(t, { ...call, user: '..', ...rest })
    assert.equal(account.code, 2, account.stderr)
    assert.match(account.stderr, /the path "\/control\/v1\/accounts\/\.\." is not one of the API/)
  })

  for (const [key, value] of Object.entries({
    call: 1.5,
    time: 1e300,
    user: 7,
    method: 'CONNECT',
    user_agent: 7,
    endpoint: {},
    sent: [],
    status: '200',
    fault: 7,
    lost: 'yes',
  }))
    test(`with a wrong "${key}" is refused by line and key before anything is played`, async t => {
      const fine = { ...call, method: 'POST', path: '/api/v1/users/me', ...rest }
      const { code, stderr } = await play(t, fine, { ...fine, [key]: value })
      assert.equal(code, 2, stderr)
      assert.match(stderr, new RegExp(`line 3: "${key}" must be`))
    })

  test('does not steer the terminal by what it says was answered', async t => {
    const hostile = '\u001b]0;title\u0007\u009b31m\u202e\u001b[8mhidden'
    const { code, stdout, stderr } = await play(t, { ...call, ...rest, answer: { [hostile]: 1, full_name: hostile } })
    assert.equal(code, 8, stderr)
    assert.match(stdout, /full_name: ".*hidden" → "Amy Adams"/)
    assert.doesNotMatch(stdout + stderr, steering)
  })

  test('that is nested deeply is refused, and so are its accepted differences and the lines of a batch', async t => {
    const { url, owner } = daemon()
    const shell = newShell(t, { NATTER_SITE: url, NATTER_EMAIL: owner.email!, NATTER_API_KEY: owner.key! })
    const write = (name: string, text: string) => writeFileSync(join(shell.home, name), text)
    const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`
    const head = '{"natter_recording":1,"clock":{}}\n'
    write('talk.ndjson', `${head}{"call":${deep}}\n{"end":1}\n`)
    write('short.ndjson', `${head}{"end":0}\n`)
    write('short.ndjson.accepted.json', deep)
    write('calls.ndjson', `{"content":${deep}}\n`)
    const refused: [args: string[], code: number, said: RegExp][] = [
      [['replay', 'talk.ndjson'], 2, /line 2: not valid JSON, or nested too deeply/],
      [
        ['replay', 'short.ndjson', '--against', 'natter'],
        2,
        /accepted\.json: it is not valid JSON, or nested too deeply/,
      ],
      [['send', '--batch', 'calls.ndjson'], 1, /not valid JSON: nested more than 100 levels deep/],
    ]
    for (const [args, code, said] of refused) {
      const run = await shell.run(args)
      assert.match(run.stdout + run.stderr, said)
      assert.equal(run.code, code, run.stdout + run.stderr)
    }
  })

  test('is refused if it is too long or has no end', async t => {
    const shell = newShell(t)
    writeFileSync(join(shell.home, 'huge'), '')
    truncateSync(join(shell.home, 'huge'), 600 * 1024 * 1024)
    const { code, stderr } = await shell.run(['replay', 'huge', '--site', daemon().url])
    assert.deepEqual([code, stderr], [2, 'natter: cannot read huge: more than 512 MiB\n'])
    const config = await shell.run(['config', 'explain'], { env: { NATTER_CONFIG: '/dev/zero' } })
    assert.equal(config.code, 2)
    assert.match(config.stderr, /cannot read the config file \/dev\/zero: more than 1 MiB/)
    const restored = await shell.run(['restore', '/dev/zero', '--data', join(shell.home, 'store')])
    assert.notEqual(restored.code, 0)
    assert.match(restored.stderr, /is not a backup/)
  })

  test('is passed over if it is a zuliprc that links to itself', async t => {
    const shell = newShell(t)
    symlinkSync('zuliprc', join(shell.home, 'zuliprc'))
    const { code, stderr } = await shell.run(['users', 'me', '--site', daemon().url])
    assert.doesNotMatch(stderr, /ELOOP/)
    assert.equal(code, 4, stderr)
  })
})

// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there
const steering = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e]/

describe('a file with a key', { skip: process.platform === 'win32' }, () => {
  const key = 'the-key-of-amy'
  const zuliprc = `[api]\nsite=http://127.0.0.1:9\nemail=amy@example.com\nkey=${key}\n`
  const shellWith = (t: TestContext, mode: number): Shell => {
    const shell = newShell(t)
    writeFileSync(join(shell.home, 'zuliprc'), zuliprc)
    chmodSync(join(shell.home, 'zuliprc'), mode)
    return shell
  }

  test('a line of many spaces in it is read at once', async t => {
    const shell = newShell(t)
    const spaces = ' '.repeat(400_000)
    writeFileSync(join(shell.home, 'zuliprc'), `${zuliprc}a${spaces}b\n note = a${spaces}b\n`, { mode: 0o600 })
    const { stdout } = await shell.run(['env'])
    assert.match(stdout, new RegExp(`^export NATTER_API_KEY='${key}'$`, 'm'))
  })

  test('that others can read is reported, and still used', async t => {
    const { code, stdout, stderr } = await shellWith(t, 0o644).run(['env'])
    assert.equal(code, 0)
    assert.match(stdout, new RegExp(`^export NATTER_API_KEY='${key}'$`, 'm'))
    assert.match(
      stderr,
      /^warning: other users of this machine can read the key in \S*zuliprc; run chmod go-rwx on it\n$/,
    )
    assert.equal((await shellWith(t, 0o644).run(['env', '--quiet'])).stderr, '')
    assert.equal((await shellWith(t, 0o600).run(['env'])).stderr, '')
  })

  test('is reported once, where it is a profile or a ready file too', async t => {
    const shell = newShell(t)
    const profile = { site: 'http://127.0.0.1:9', email: 'amy@example.com', api_key: key }
    mkdirSync(join(shell.home, '.config/natter'), { recursive: true })
    const profiles = join(shell.home, '.config/natter/profiles.json')
    writeFileSync(profiles, JSON.stringify({ current: 'work', profiles: { work: profile } }))
    chmodSync(profiles, 0o640)
    const warning = /^warning: other users of this machine can read the key in .*$/gm
    assert.equal((await shell.run(['users', 'me'])).stderr.match(warning)?.length, 1)
    const ready = { url: profile.site, pid: 1, owner: { user_id: 8, email: profile.email, api_key: key } }
    writeFileSync(join(shell.home, 'ready.json'), JSON.stringify(ready))
    chmodSync(join(shell.home, 'ready.json'), 0o604)
    assert.match((await shell.run(['env', 'ready.json'])).stderr, /can read the key in ready\.json/)
    assert.equal(JSON.parse(readFileSync(profiles, 'utf8')).current, 'work')
  })
})

describe('a file of settings or accounts of another form', () => {
  test('is refused by its name', async t => {
    const shell = newShell(t)
    mkdirSync(join(shell.home, '.config/natter'), { recursive: true })
    for (const book of ['{"profiles":{"a":null}}', '{"profiles":{"a":{"site":1,"email":"x","api_key":"y"}}}', '[]']) {
      writeFileSync(join(shell.home, '.config/natter/profiles.json'), book)
      const { code, stderr } = await shell.run(['profile', 'list'])
      assert.equal(code, 1, book)
      assert.match(stderr, /profiles\.json is not a profiles file/)
    }
    const account = ['--site', 'http://127.0.0.1:9', '--user', 'amy@example.com', '--api-key', 'key-of-amy']
    const { code, stderr } = await shell.run(['users', 'me', ...account])
    assert.equal(code, 6, stderr)
    assert.match(stderr, /^natter: cannot reach http:\/\/127\.0\.0\.1:9/)
  })

  test('names a site without a user or a query', async t => {
    const shell = newShell(t)
    for (const [site, says] of [
      ['http://amy:secret@127.0.0.1:9', /must not have a user or a password/],
      ['http://127.0.0.1:9/?x=', /must end before \? and #/],
    ] as const) {
      const { code, stderr } = await shell.run(['users', 'me', '--site', site])
      assert.equal(code, 2)
      assert.match(stderr, says)
      assert.ok(!stderr.includes('secret'))
    }
  })
})
