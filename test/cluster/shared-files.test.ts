// Files of a cluster: what happens to one while it is copied to another daemon.

import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { uploads } from '../../daemon/api/files/uploads.ts'
import { dataExports } from '../../daemon/api/organization/exports.ts'
import { settings } from '../../daemon/api/people/settings.ts'
import { Peers } from '../../daemon/cluster/peers.ts'
import { fetchUpload, sharedFiles } from '../../daemon/cluster/shared-files.ts'
import { folderFiles } from '../../daemon/io/files.ts'
import { fakeServer } from '../support/cli.ts'
import { type Node, startCluster } from '../support/cluster.ts'
import { withoutEtcd } from '../support/etcd.ts'
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
    const others = Promise.allSettled(Array.from({ length: 63 }, (_, i) => files.find(nameOf(Buffer.from(`${i}`)))))
    await until(() => waiting.length === 64)
    assert.deepEqual(await peers.post(url, '/seen', { queues: [] }), {})
    for (const { path, response } of waiting)
      if (path.endsWith(nameOf(content))) response.end(content)
      else response.writeHead(404).end()
    for (const read of reads) assert.deepEqual(await read, content)
    for (const other of await others) assert.equal(other.status, 'rejected')
    assert.equal(waiting.length, 64)
  })

  test('and that it cannot keep is not said to be deleted, and the log says why', async t => {
    const { files, folder, waiting } = await readingFollower(t)
    const said = t.mock.method(process.stderr, 'write', () => true)
    const isAboutIt = (line: string) => line.includes(`the file ${nameOf(content)} is not here`)
    const lines = () => said.mock.calls.map(({ arguments: [line] }) => String(line)).filter(isAboutIt)
    // With a file in its place, nothing can be written to the folder.
    rmSync(folder, { recursive: true })
    writeFileSync(folder, '')
    for (let i = 0; i < 2; i++) {
      const read = files.find(nameOf(content))
      await until(() => waiting.length === i + 1)
      waiting[i]!.response.end(content)
      await assert.rejects(read, { code: 'SERVER_NOT_READY', status: 503 })
    }
    assert.equal(lines().length, 1)
    assert.match(lines()[0]!, /cannot be fetched: E[A-Z]+:/)
  })
})

describe('a file that no daemon of a cluster can give', { skip: withoutEtcd ?? false }, () => {
  test('is not said to be deleted, and an export without it fails', async t => {
    const cluster = await startCluster({ daemons: 2 })
    t.after(() => cluster.stop())
    const leader = await cluster.leader()
    const { owner } = leader
    const bytes = Buffer.from('away for a while')
    const file = { filename: 'a.txt', contentType: 'text/plain', bytes }
    const { url } = await leader.as(owner).call(uploads.upload, { file })
    const path = (node: Node) => join(node.data, 'files', createHash('sha256').update(bytes).digest('hex'))
    for (const node of cluster.nodes) await until(() => existsSync(path(node)))
    for (const node of cluster.nodes) rmSync(path(node))
    const read = async (node: Node) => await node.as(owner).raw('GET', url)
    for (const node of cluster.nodes) {
      const { status, body } = await read(node)
      assert.deepEqual([status, body.code], [503, 'SERVER_NOT_READY'])
      assert.match(node.daemon.stderr, /the file [0-9a-f]{64} is not here and cannot be fetched: .* does not have it/)
    }
    await leader.as(owner).call(settings.update, { allow_private_data_export: true })
    const { id } = await leader.as(owner).call(dataExports.create, { export_type: 2 })
    const row = await until(async () =>
      (await leader.as(owner).call(dataExports.list, {})).exports.find(one => one.id === id && !one.pending),
    )
    assert.notEqual(row.failed_timestamp, null)
    assert.match(leader.daemon.stderr, /the export \d+ failed: the daemon does not have the file/i)
    writeFileSync(path(leader), bytes)
    for (const node of cluster.nodes) assert.equal((await read(node)).text, bytes.toString())
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

  test('is fetched if the file here has other bytes', async t => {
    const folder = mkdtempSync(join(tmpdir(), 'natter-shared-files-'))
    const peers = new Peers('the secret of the cluster in this test')
    t.after(() => {
      peers.close()
      rmSync(folder, { recursive: true, force: true })
    })
    const url = await fakeServer(t, (_, response) => response.end(content))
    const name = nameOf(content)
    writeFileSync(join(folder, name), content.toString().toUpperCase())
    assert.equal(await fetchUpload(folderFiles(folder), peers, name, url), true)
    assert.deepEqual(readFileSync(join(folder, name)), content)
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
  return { files, folder, peers, url, waiting }
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
