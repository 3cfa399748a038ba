// Joining and leaving: from nothing, after a long absence, from a single daemon and back; and who is refused.

import assert from 'node:assert/strict'
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { uploads } from '../../daemon/api/files/uploads.ts'
import { messages } from '../../daemon/api/messages/messages.ts'
import { Etcd, encodeText } from '../../daemon/cluster/etcd.ts'
import { Keys } from '../../daemon/cluster/keys.ts'
import { snapshotPosition } from '../../daemon/journal/snapshots.ts'
import { type Node, secret, startCluster, type TestCluster } from '../support/cluster.ts'
import { type Caller, host, launch, type TestDaemon } from '../support/daemon.ts'
import { withoutEtcd } from '../support/etcd.ts'
import { freePort } from '../support/free-port.ts'
import { refusal } from '../support/gives-up.ts'
import { until } from '../support/until.ts'
import { fetched } from '../support/world.ts'

const skip = withoutEtcd ?? false

let cluster: TestCluster
let first: Node

before(async () => {
  if (skip) return
  // Two: what a single daemon has stays in the log.
  cluster = await startCluster({ daemons: 2, hosted: true })
  first = cluster.nodes[0]!
})
after(() => cluster?.stop())

describe('a daemon that joins a cluster', { skip }, () => {
  let owner: Caller
  /** Where the daemon of the first test was when it left. */
  let leftAt: number

  before(() => {
    owner = first.owner
  })

  const send = (node: Node, content: string) =>
    node.as(owner).call(messages.send, { type: 'direct', to: [owner.id], content })
  /** More than the log keeps for daemons that come back soon. */
  const sendMany = async () => {
    for (let i = 0; i < 11; i++) await Promise.all(Array.from({ length: 100 }, () => send(first, 'one of many')))
  }
  /** Waits until the log in etcd no longer has what comes after the position. */
  const trimmedBeyond = async (position: number) => {
    const etcd = new Etcd({ urls: cluster.etcd.urls })
    const { log } = new Keys('natter')
    const oldest = { key: encodeText(log), range_end: encodeText(`${log}~`), limit: 1, keys_only: true }
    try {
      await until(async () => {
        const { kvs } = await etcd.call('/v3/kv/range', { ...oldest, sort_order: 'ASCEND', sort_target: 'KEY' })
        return Number(Buffer.from(kvs[0].key, 'base64').toString().slice(log.length)) > position + 1
      })
    } finally {
      await etcd.close()
    }
  }

  test('with an empty folder, takes the log from its beginning', async () => {
    await send(first, 'before anybody joined')
    const node = await cluster.add()
    await node.start()
    assert.equal(node.owner.key, owner.key)
    await cluster.agree()
    leftAt = (await node.state()).position
    await node.daemon.end()
  })

  test('with an empty folder, fetches a snapshot when the log is trimmed, under load', async () => {
    await sendMany()
    await trimmedBeyond(leftAt)
    let running = true
    let sent = 0
    const writing = (async () => {
      while (running) {
        await send(first, `while somebody joins ${sent}`)
        sent++
      }
    })()
    const node = await cluster.add()
    await node.start()
    assert.ok(snapshotPosition(node.data) > leftAt, 'it fetched no snapshot')
    running = false
    await writing
    assert.ok(sent > 0)
    await cluster.agree()
  })

  test('after a long absence, fetches a snapshot too', async () => {
    // It left in the first test, and what it would need next has been trimmed since.
    const [, , away] = cluster.nodes
    await away!.start()
    assert.ok(snapshotPosition(away!.data) > leftAt, 'it fetched no snapshot')
    await cluster.agree()
  })

  test('with the folder of a daemon that runs, or a copy of it, is refused', async () => {
    const [, other] = cluster.nodes
    assert.match(await refusal(other!.data, other!.flags), /is in use by another natterd/)
    const copy = `${other!.data}-copy`
    cpSync(other!.data, copy, { recursive: true })
    assert.match(await refusal(copy, other!.flags), /uses a copy of this folder/)
    // A machine that was cloned has the same flags.
    const named = [...other!.flags, '--advertise', other!.url]
    assert.match(await refusal(copy, named), /the daemon at http\S+ uses a copy of this folder/)
  })

  test('with a copy of the folder of a daemon that has lost its lease, takes its place: the other one stops', async () => {
    const [paused, other] = [await cluster.add(), await cluster.add()]
    paused.hosted = other.hosted = false
    await paused.start()
    paused.daemon.process.kill('SIGSTOP')
    cpSync(paused.data, other.data, { recursive: true })
    const etcd = new Etcd({ urls: cluster.etcd.urls })
    try {
      const { member } = JSON.parse(readFileSync(join(paused.data, 'cluster.json'), 'utf8'))
      const { kvs } = await etcd.call('/v3/kv/range', { key: encodeText(new Keys('natter').members + member) })
      await etcd.call('/v3/lease/revoke', { ID: kvs[0].lease })
    } finally {
      await etcd.close()
    }
    await other.start()
    paused.daemon.process.kill('SIGCONT')
    // If it was paused while it reported, its report can be the last one.
    const stopped = await until(() => [paused, other].find(({ daemon }) => !daemon.isRunning))
    assert.match(stopped.daemon.stderr, /the daemon at http\S+ uses a copy of this folder/)
    const left = stopped === paused ? other : paused
    await send(left, 'from the one that is left')
    await cluster.agree()
    await left.daemon.end()
  })

  test('with the address of another daemon for the others, is refused, and warns if it does not reach its own', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'natter-address-'))
    try {
      const listen = async () => ['--cluster-listen', `127.0.0.1:${await freePort()}`]
      const taken = [...first.flags, ...(await listen()), '--cluster-advertise', first.peerUrl]
      assert.match(await refusal(join(folder, 'a'), taken), /the daemon at http\S+ has the same address for the other/)
      // The second is the address of another daemon, with another name for its host.
      const addresses = [`http://127.0.0.1:${await freePort()}`, first.peerUrl.replace('127.0.0.1', 'localhost')]
      for (const address of addresses) {
        const flags = [...first.flags, ...(await listen()), '--cluster-advertise', address]
        const daemon = await launch(join(folder, 'b'), { flags })
        await until(() =>
          daemon.stderr.includes(`does not reach itself at its address for the other daemons, ${address}: `),
        )
        await daemon.stop()
      }
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })

  test('with the folder of another cluster, or of none, is refused', async () => {
    const foreign = mkdtempSync(join(tmpdir(), 'natter-foreign-'))
    try {
      const single = await host(foreign, { flags: ['--secret', secret] })
      await single.end()
      const refused = (more: readonly string[] = []) => refusal(foreign, [...first.flags, ...more])
      assert.match(await refused(), /has a store that does not belong to the cluster/)
      writeFileSync(join(foreign, 'cluster.json'), '{"cluster":"x","name":"natter","member":"y"}')
      assert.match(await refused(), /belongs to another cluster/)
      assert.match(await refused(['--cluster-name', 'b']), /belongs to the cluster 'natter'/)
      assert.match(await refusal(foreign, ['--secret', secret]), /belongs to a cluster/)
    } finally {
      rmSync(foreign, { recursive: true, force: true })
    }
  })

  test('with a folder of something else, is refused, and its files stay', async () => {
    const project = mkdtempSync(join(tmpdir(), 'natter-project-'))
    try {
      mkdirSync(join(project, 'messages'))
      for (const name of ['messages/de.json', 'journal-notes.ndjson']) writeFileSync(join(project, name), 'mine')
      assert.match(await refusal(project, first.flags), /it has "messages" but no journal/)
      for (const name of ['messages/de.json', 'journal-notes.ndjson']) assert.ok(existsSync(join(project, name)), name)
    } finally {
      rmSync(project, { recursive: true, force: true })
    }
  })

  test('with another secret, is refused', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'natter-secret-'))
    try {
      writeFileSync(join(folder, 'other-secret'), 'quite another secret')
      const flags = [...first.flags, '--secret-file', join(folder, 'other-secret')]
      assert.match(await refusal(join(folder, 'store'), flags), /the secret is not that of the cluster/)
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })
})

describe('a single daemon and a cluster', { skip }, () => {
  test('the folder of a single daemon founds a cluster, and that of a joiner leaves it, with all data and files', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'natter-moving-'))
    const secretFile = join(folder, 'secret.txt')
    const second = join(folder, 'second')
    writeFileSync(secretFile, secret)
    const flags = ['--secret-file', secretFile]
    const clustered = async () => [
      ...flags,
      ...['--cluster', cluster.etcd.urls.join(','), '--cluster-name', 'moved', '--port', String(await freePort())],
    ]
    try {
      const single = await host(join(folder, 'first'), { flags: [...flags, '--preset', 'dev'] })
      const file = { filename: 'note.txt', contentType: 'text/plain', bytes: Buffer.from('the bytes of a file') }
      const { url } = await single.owner.call(uploads.upload, { file })
      await say(single, `from the single daemon: [note](${url})`)
      const before = await pictureOf(single)
      assert.ok(before.messages.length > 1 && before.users.length > 2, 'there is little to move')
      await single.end()

      const one = await host(join(folder, 'first'), { flags: await clustered() })
      assert.deepEqual(await pictureOf(one), before)
      const two = await host(second, { flags: await clustered() })
      assert.deepEqual(await pictureOf(two), before)
      // A daemon that joins fetches the files too, although no client reads them there.
      const names = readdirSync(join(folder, 'first/files'))
      assert.ok(names.length > 0)
      await until(() => names.every(name => existsSync(join(second, 'files', name))))
      await say(two, 'from the cluster')
      const later = await pictureOf(two)
      for (const daemon of [two, one]) await daemon.end()

      rmSync(join(second, 'cluster.json'))
      const again = await host(second, { flags })
      assert.deepEqual(await pictureOf(again), later)
      assert.equal(later.messages.length, before.messages.length + 1)
      const read = await again.owner.raw('GET', url)
      assert.equal(read.text, 'the bytes of a file')
      await again.stop()
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })

  const say = ({ owner }: TestDaemon, content: string) =>
    owner.call(messages.send, { type: 'direct', to: [owner.id], content })

  /** What its owner sees: all messages, accounts, channels and groups. */
  async function pictureOf({ owner }: TestDaemon) {
    const all = { anchor: 'oldest', num_before: 0, num_after: 1000 } as const
    const list = await owner.call(messages.list, all)
    const types = ['realm_user', 'stream', 'subscription', 'realm_user_groups', 'realm_emoji', 'custom_profile_fields']
    const { realm_users, streams, subscriptions, realm_user_groups } = await fetched(owner, types)
    assert.equal(list.found_newest, true)
    return { messages: list.messages, users: realm_users, streams, subscriptions, groups: realm_user_groups }
  }
})
