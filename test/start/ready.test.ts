// The profile that a daemon writes when it is ready.

import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer as createHttpServer } from 'node:http'
import { type AddressInfo, createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import type { Ready } from '../../daemon/local/ready-file.ts'
import { writeProfile } from '../../daemon/start/ready.ts'

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
