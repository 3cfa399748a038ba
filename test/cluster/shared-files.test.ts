// Files of a cluster: what happens to one while it is copied to another daemon.

import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { Peers } from '../../daemon/cluster/peers.ts'
import { fetchUpload, sharedFiles } from '../../daemon/cluster/shared-files.ts'
import { folderFiles } from '../../daemon/io/files.ts'
import { fakeServer } from '../support/cli.ts'
import { until } from '../support/until.ts'

const content = Buffer.from('the same report again')

describe('an upload that is being copied to another daemon', () => {
  test('stays, and is not announced as deleted, when another upload of the same content is deleted', async t => {
    const { files, asked } = await leader(t)
    const keeping = files.keep(content)
    const [copy] = await until(() => asked('/cluster/v1/keep'))
    const name = await files.list().then(([only]) => only!)
    assert.equal(files.remove(name), false)
    copy!.response.end('{"kept":true}')
    assert.equal(await keeping, name)
    assert.deepEqual(await files.read(name), content)
    // The call that follows the upload refers to it in the same turn. From the next one on it can be deleted.
    await nextTurn()
    await nextTurn()
    assert.equal(files.remove(name), true)
    const drops = await until(() => asked('/cluster/v1/drop'))
    assert.deepEqual(
      drops.map(({ body }) => body.files),
      [[name]],
    )
  })
})

describe('a file that this daemon lacks', () => {
  test('is fetched once for all that read it at a time, beside the calls between daemons', async t => {
    const { files, peers, url, waiting } = await readingFollower(t)
    const reads = Array.from({ length: 100 }, () => files.read(nameOf(content)))
    const others = Array.from({ length: 63 }, (_, i) => files.find(nameOf(Buffer.from(`${i}`))))
    await until(() => waiting.length === 64)
    assert.deepEqual(await peers.post(url, '/seen', { queues: [] }), {})
    for (const { path, response } of waiting)
      if (path.endsWith(nameOf(content))) response.end(content)
      else response.writeHead(404).end()
    for (const read of reads) assert.deepEqual(await read, content)
    for (const other of others) assert.equal(await other, undefined)
    assert.equal(waiting.length, 64)
  })
})

describe('an upload that a daemon keeps for the leader', () => {
  test('is not deleted as another upload of the same content, of which the leader tells it at that moment', async t => {
    const folder = mkdtempSync(join(tmpdir(), 'natter-shared-files-'))
    t.after(() => rmSync(folder, { recursive: true, force: true }))
    const files = folderFiles(folder)
    const name = await files.keep(content)
    await nextTurn()
    await nextTurn()
    const peers = new Peers('the secret of the cluster in this test')
    t.after(() => peers.close())
    assert.equal(await fetchUpload(files, peers, name, 'http://127.0.0.1:1'), true)
    assert.equal(files.remove(name), false)
    assert.deepEqual(await files.read(name), content)
  })
})

function nameOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}

/** The files of a follower, and the downloads that another daemon has not answered yet. */
async function readingFollower(t: TestContext) {
  const waiting: { path: string; response: ServerResponse }[] = []
  const url = await fakeServer(t, ({ url: path = '', method }, response) => {
    if (method === 'GET') waiting.push({ path, response })
    else response.end('{}')
  })
  const folder = mkdtempSync(join(tmpdir(), 'natter-shared-files-'))
  const peers = new Peers('the secret of the cluster in this test')
  t.after(() => {
    peers.close()
    rmSync(folder, { recursive: true, force: true })
  })
  const files = sharedFiles({
    files: folderFiles(folder),
    peers,
    others: () => [url],
    self: () => 'a-follower',
    leads: () => false,
    committed: () => 1,
  })
  return { files, peers, url, waiting }
}

interface Asked {
  readonly body: Record<string, unknown>
  readonly response: ServerResponse
}

/** The files of a leader, and what it asks another daemon, which the test answers. */
async function leader(t: TestContext) {
  const calls: (Asked & { readonly path: string })[] = []
  const other = createServer(async (request, response) => {
    const text = (await request.toArray()).join('')
    calls.push({ path: request.url!, body: JSON.parse(text), response })
    if (request.url === '/cluster/v1/drop') response.end('{}')
  })
  other.listen(0, '127.0.0.1')
  await once(other, 'listening')
  const folder = mkdtempSync(join(tmpdir(), 'natter-shared-files-'))
  const peers = new Peers('the secret of the cluster in this test')
  t.after(async () => {
    await peers.close()
    other.close()
    rmSync(folder, { recursive: true, force: true })
  })
  const files = sharedFiles({
    files: folderFiles(folder),
    peers,
    others: () => [`http://127.0.0.1:${(other.address() as AddressInfo).port}`],
    self: () => 'the-leader',
    leads: () => true,
    committed: () => 1,
  })
  const asked = (path: string): Asked[] | undefined => {
    const found = calls.filter(call => call.path === path)
    return found.length > 0 ? found : undefined
  }
  return { files, asked }
}
