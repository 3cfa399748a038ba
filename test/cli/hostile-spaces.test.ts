// A hostile server that lists spaces: it chooses neither files nor other servers.

import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { startNatter } from '../../daemon/testing/index.ts'
import { fakeServer, json, newShell } from '../support/cli.ts'

describe('a server that lists spaces', () => {
  /** Answers as a daemon with one space; `other` is no part of it. */
  async function serve(t: TestContext, name: string) {
    const seen: string[] = []
    const other = await fakeServer(t, (request, response) => {
      seen.push(String(request.url))
      json(response, { result: 'success' })
    })
    const empty = { clock: {}, calls: [], events: [], queues: [], faults: [], mails: [], webhooks: [] }
    const owner = { user_id: 1, email: 'amy@example.com', api_key: 'key' }
    const space = { name, url: `${other}/spaces/a`, control_token: 'token', owner, level: 417 }
    const url = await fakeServer(t, (request, response) => {
      if (request.url!.endsWith('/file')) response.end(`{"format":"${'x'.repeat(2_000_000)}"}}\n`)
      else json(response, { result: 'success', ...empty, ...space, spaces: [space] })
    })
    const shell = newShell(t, { NATTER_CONTROL_TOKEN: 'token' })
    const run = (...args: string[]) => shell.run(args)
    return { seen, url, home: shell.home, run }
  }

  test('does not choose where files are written', async t => {
    const { url, home, run } = await serve(t, '../../victim')
    mkdirSync(join(home, 'victim'))
    writeFileSync(join(home, 'victim/mine.txt'), '')
    for (const args of [
      ['keep', 'failure', '--site', url],
      ['spaces', 'use', 'a', '--site', url],
      ['exec', '--in', url, '--control-token', 'token', '--', 'true'],
    ]) {
      const { code, stderr } = await run(...args)
      assert.equal(code, 1, stderr)
      assert.match(stderr, /answered with "\.\.\/\.\.\/victim", which cannot be the name of a space/)
    }
    assert.deepEqual(readdirSync(join(home, 'victim')), ['mine.txt'])
  })

  test('is refused at once when it names no space that it made', async t => {
    for (const name of [undefined, null, 7, ['a']]) {
      const called: string[] = []
      const url = await fakeServer(t, (request, response) => {
        called.push(`${request.method} ${request.url}`)
        json(response, { result: 'success', name, url: 'http://127.0.0.1/spaces/a', control_token: 'token' })
      })
      const made = await newShell(t).run(['exec', '--in', url, '--control-token', 'token', '--', 'true'])
      assert.deepEqual([made.code, called], [1, ['POST /control/v1/spaces']], made.stderr)
      assert.match(made.stderr, /which cannot be the name of a space/)
      called.length = 0
      await assert.rejects(startNatter({ in: url, controlToken: 'token' }), /which cannot be the name of a space/)
      assert.deepEqual(called, ['POST /control/v1/spaces'])
    }
  })

  test('does not choose which server is called, or how much is written', async t => {
    const { url, seen, home, run } = await serve(t, 'a')
    const small = await run('keep', 'small', '--site', url, '--max-size', '1')
    assert.match(small.stderr, /the file is larger than 1 MiB/)
    assert.equal((await run('keep', 'failure', '--site', url)).code, 0)
    assert.ok(readdirSync(join(home, 'failure/spaces/a')).includes('snapshot.json'))
    const inside = await run(
      'exec',
      '--in',
      url,
      '--control-token',
      'token',
      '--',
      'sh',
      '-c',
      'echo $NATTER_SITE > site',
    )
    assert.equal(inside.code, 0, inside.stderr)
    assert.equal(readFileSync(join(home, 'site'), 'utf8'), `${url}/spaces/a\n`)
    const used = await run('spaces', 'use', 'a', '--site', url, '--json')
    assert.equal(JSON.parse(used.stdout).site, `${url}/spaces/a`)
    assert.deepEqual(seen, [])
    for (const args of [
      ['snapshot', 'export', 'world.json'],
      ['seed', 'dump', 'world.json'],
      ['record', 'talk'],
    ]) {
      const { code, stderr } = await run(...args, '--site', url, '--max-size', '0')
      assert.equal(code, 2, stderr)
      assert.match(stderr, /--max-size: "0" is not a number of MiB/)
    }
  })
})
