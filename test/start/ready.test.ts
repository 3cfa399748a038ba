// The profile that a daemon writes when it is ready, and the commands that it shows.

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, mkdtempSync, readFileSync, rmSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { createServer as createHttpServer } from 'node:http'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { harmless } from '../../daemon/local/harmless.ts'
import type { Ready } from '../../daemon/local/ready-file.ts'
import { banner, bannerWithoutKey, type KeyPlace, writeProfile } from '../../daemon/start/ready.ts'

const folder = mkdtempSync(join(tmpdir(), 'natter-profile-'))
after(() => rmSync(folder, { recursive: true, force: true }))

const file = join(folder, 'profiles.json')
const owner = { email: 'owner@example.com', api_key: 'key' }
const siteOf = (name: string) => JSON.parse(readFileSync(file, 'utf8')).profiles[name].site
const write = () => writeProfile({ url: 'http://127.0.0.1:9', owner } as Ready, { NATTER_CONFIG_DIR: folder })

/** Makes it the server of the profile. Returns its address. */
async function listen(server: Server): Promise<string> {
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const site = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  writeFileSync(file, JSON.stringify({ current: 'local', profiles: { local: { site, ...owner } } }))
  return site
}

test('a daemon leaves the profile to one that is too busy to answer, and takes it when that one has ended', async () => {
  const busy = createServer(socket => socket.resume())
  const site = await listen(busy)
  assert.deepEqual(await write(), { profile: 'local-9' })
  assert.deepEqual([siteOf('local'), siteOf('local-9')], [site, 'http://127.0.0.1:9'])

  busy.close()
  assert.equal(await write(), 'current')
  assert.equal(siteOf('local'), 'http://127.0.0.1:9')
})

test('a daemon takes the profile if another program has the port that it leads to', async () => {
  const other = createHttpServer((_, response) => response.end('<html>'))
  await listen(other)
  try {
    assert.equal(await write(), 'current')
  } finally {
    other.close()
  }
})

test('a program that has the port leads the daemon to no other address, and is not read to an end that does not come', async t => {
  let asked = 0
  const other = createHttpServer((_request, response) => {
    asked++
    response.end('{"ok":true}')
  })
  const target = await listen(other)
  const redirecting = createHttpServer((_request, response) => response.writeHead(302, { location: target }).end())
  const endless = createHttpServer((_request, response) => {
    const more = () => {
      response.write(' '.repeat(1024))
      if (!response.destroyed) setImmediate(more)
    }
    more()
  })
  t.after(() => {
    for (const server of [other, redirecting, endless]) server.close().closeAllConnections()
  })
  for (const server of [redirecting, endless]) {
    await listen(server)
    assert.equal(await write(), 'current')
  }
  assert.equal(asked, 0)
})

test('a daemon leaves profiles alone that it cannot read', async () => {
  // As root no mode keeps a file from being read, but its size does.
  const size = 3 * 2 ** 30
  truncateSync(file, size)
  await assert.rejects(write(), /more than 1 MiB/)
  assert.equal(statSync(file).size, size)
  rmSync(file)
})

test('the commands that a daemon shows can be pasted, whatever the address of the owner and the names of files are', () => {
  const email = 'a`touch ran`$(touch ran)&touch ran&|\'x"@example.com'
  const ready = { url: 'http://127.0.0.1:9', level: 421, owner: { email, api_key: 'key' } } as Ready
  /** The words that each command of the text gets, and the address in the environment. */
  const pasted = (text: string) => {
    const lines = text.split('\n').filter(line => /^ {2}(export|natter|curl) /.test(line))
    const script = `natter() { printf '%s\\n' "$@" "$NATTER_EMAIL"; }; curl() { printf '%s\\n' "$@"; }\n${lines.join('\n')}`
    return execFileSync('bash', ['--norc', '-c', script], { cwd: folder, encoding: 'utf8' }).split('\n')
  }
  const places: [KeyPlace, string[], string][] = [
    ['none', [], email],
    [{ file: 'my;touch ran' }, ['--ready-file', 'my;touch ran'], ''],
    [{ profile: 'my;touch ran' }, ['--profile', 'my;touch ran'], ''],
  ]
  for (const [place, flags, address] of places) {
    const steps = [...flags, 'send', '--to', email, 'Hello!', address, ...flags, 'tail', address]
    const curl = ['-sS', '-u', `${email}:key`, 'http://127.0.0.1:9/api/v1/users/me']
    assert.deepEqual(pasted(banner(ready, 'memory', place)), [...steps, ...curl, ''])
    if (place !== 'none') assert.deepEqual(pasted(bannerWithoutKey(ready, 'memory', place, undefined)), [...steps, ''])
  }
  assert.ok(!existsSync(join(folder, 'ran')))
})

test('the banner does not steer the terminal, whatever the address of the owner is', () => {
  const email = 'a\u001b]0;b\u0007\u009b31m@example.com'
  const ready = { url: 'http://127.0.0.1:9', level: 421, owner: { email, api_key: 'key' } } as Ready
  for (const text of [banner(ready, 'memory', 'current'), bannerWithoutKey(ready, 'memory', 'current', undefined)]) {
    assert.match(text, /a\\x1b\]0;b\\x07\\x9b31m@example\.com/)
    assert.equal(harmless(text), text)
  }
})
