// A whole cluster goes back to a backup: what is refused, who joins it, and who can never harm it.

import assert from 'node:assert/strict'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { events } from '../../daemon/api/events.ts'
import { uploads } from '../../daemon/api/files/uploads.ts'
import { messages } from '../../daemon/api/messages/messages.ts'
import { Etcd, encodeText, rangeEnd } from '../../daemon/cluster/etcd.ts'
import { Keys } from '../../daemon/cluster/keys.ts'
import { moveCluster, planRestore } from '../../daemon/cluster/restore-plan.ts'
import { isUnpacking, restoringName } from '../../daemon/journal/store-folder.ts'
import { exitOf, Shell } from '../support/cli.ts'
import { type Node, secret, startCluster, type TestCluster } from '../support/cluster.ts'
import type { Caller } from '../support/daemon.ts'
import { withoutEtcd } from '../support/etcd.ts'
import { startEtcdProxy } from '../support/etcd-proxy.ts'
import { refusal, refusedStart } from '../support/gives-up.ts'
import { until } from '../support/until.ts'

describe('natter cluster restore', { skip: withoutEtcd ?? false }, () => {
  let cluster: TestCluster
  let etcd: Etcd
  let owner: Caller
  let first: Node
  let second: Node
  let backup: string
  /** One that lacks an upload. */
  let lacking: string
  /** Registered before the backup, and after it. */
  let queueIds: string[]
  const shell = new Shell(mkdtempSync(join(tmpdir(), 'natter-home-')))

  before(async () => {
    cluster = await startCluster({ daemons: 2, hosted: true })
    ;[first, second] = cluster.nodes as [Node, Node]
    owner = first.owner
    etcd = new Etcd({ urls: cluster.etcd.urls })
    backup = join(shell.home, 'backup.tar')
    const register = async () => (await first.as(owner).call(events.register, {})).queue_id!
    queueIds = [await register()]
    await send(first, 'kept')
    await cluster.agree()
    const made = await shell.run(['backup', backup, '--data', first.data])
    assert.equal(made.code, 0, made.stderr)
    lacking = join(shell.home, 'lacking.tar')
    const file = { filename: 'a.txt', contentType: 'text/plain', bytes: Buffer.from('lost') }
    await first.as(owner).call(uploads.upload, { file })
    rmSync(join(first.data, 'files'), { recursive: true })
    const refused = await shell.run(['backup', lacking, '--data', first.data])
    assert.equal(refused.code, 1)
    assert.match(refused.stderr, /has not fetched 1 uploads of its cluster yet; .* or add --incomplete/)
    assert.ok(!existsSync(lacking))
    assert.equal((await shell.run(['backup', lacking, '--data', first.data, '--incomplete'])).code, 0)
    await send(second, 'not in the backup')
    queueIds.push(await register())
  })
  after(async () => {
    await etcd?.close()
    await cluster?.stop()
    rmSync(shell.home, { recursive: true, force: true })
  })

  const send = (node: Node, content: string) =>
    node.as(owner).call(messages.send, { type: 'direct', to: [owner.id], content })
  const contents = async (node: Node) => {
    const query = { anchor: 'newest', num_before: 100, apply_markdown: false } as const
    return (await node.as(owner).call(messages.list, query)).messages.map(({ content }) => content)
  }
  const flags = (node: Node) => {
    const at = node.flags.indexOf('--cluster')
    const secretAt = node.flags.indexOf('--secret-file')
    return ['--data', node.data, ...node.flags.slice(at, at + 2), ...node.flags.slice(secretAt, secretAt + 2)]
  }
  const restore = (node: Node, ...more: string[]) => shell.run(['cluster', 'restore', backup, ...flags(node), ...more])
  const replacedIn = (node: Node) => readdirSync(node.data).filter(name => name.startsWith('replaced-'))
  const clusterIn = (node: Node) => JSON.parse(readFileSync(join(node.data, 'cluster.json'), 'utf8')).cluster

  test('is refused while a daemon runs, and so is natter restore on one of them', async () => {
    const running = await restore(first)
    assert.equal(running.code, 1)
    assert.match(running.stderr, /the cluster has daemons that run: http.*Stop all of them first/)
    await second.daemon.end()
    await first.daemon.end()
    const single = await shell.run(['restore', backup, '--data', second.data, '--replace'])
    assert.equal(single.code, 1)
    assert.match(single.stderr, /belongs to a cluster.*natter cluster restore/)
  })

  test('names a key that natterd did not write in place of a daemon, which would be waited for in vain', async () => {
    const key = encodeText(`${new Keys('natter').members}stranger`)
    await etcd.call('/v3/kv/put', { key, value: encodeText('{}') })
    const { code, stderr } = await restore(first)
    assert.equal(code, 1)
    assert.match(
      stderr,
      /etcd has a key that natterd did not write: \/natter\/natter\/members\/stranger\..*etcdctl del/,
    )
    await etcd.call('/v3/kv/deleterange', { key })
  })

  test('is refused with another secret, a damaged backup, or the folder of something else, and changes nothing', async () => {
    const other = join(shell.home, 'other-secret')
    writeFileSync(other, 'quite another secret')
    const before = clusterIn(first)
    const refused = async (words: RegExp, ...more: string[]) => {
      const { code, stderr } = await restore(first, ...more)
      assert.equal(code, 1, stderr)
      assert.match(stderr, words)
      assert.equal(clusterIn(first), before)
    }
    await refused(/the store was used with another secret/, '--secret-file', other)
    await refused(/belongs to the cluster 'natter', not to 'b'/, '--cluster-name', 'b')
    const incomplete = await shell.run(['cluster', 'restore', lacking, ...flags(first)])
    assert.equal(incomplete.code, 1)
    assert.match(incomplete.stderr, /the backup is not complete: files\/.* is missing.*add --incomplete/)
    const damaged = join(shell.home, 'damaged.tar')
    writeFileSync(damaged, readFileSync(backup).subarray(0, -3000))
    const { code, stderr } = await shell.run(['cluster', 'restore', damaged, ...flags(first)])
    assert.equal(code, 1)
    assert.match(stderr, /cut short/)
    assert.deepEqual(replacedIn(first), [])
    const missing = await shell.run(['cluster', 'restore', backup, '--data', first.data])
    assert.equal(missing.code, 1)
    assert.match(missing.stderr, /name the members of etcd with --cluster/)
  })

  test('brings all daemons to the backup; those of before stop, and join again with their old store aside', async () => {
    // One that is paused and has lost its lease is not known to run.
    await first.start()
    const paused = await cluster.add()
    paused.hosted = false
    await paused.start()
    await first.daemon.end()
    paused.daemon.process.kill('SIGSTOP')
    const { members } = new Keys('natter')
    const { kvs } = await etcd.call('/v3/kv/range', {
      key: encodeText(members),
      range_end: encodeText(rangeEnd(members)),
    })
    // One that has ended by itself meanwhile is refused.
    for (const { lease } of kvs) await etcd.call('/v3/lease/revoke', { ID: lease }).catch(() => {})

    const done = await restore(first)
    assert.equal(done.code, 0, done.stderr)
    assert.match(done.stderr, /restored the cluster 'natter'/)
    assert.match(done.stderr, /start the daemon of .*daemon-0 first, then the others/)
    assert.equal(replacedIn(first).length, 1)

    paused.daemon.process.kill('SIGCONT')
    assert.equal(await paused.daemon.closed, 1)
    assert.match(paused.daemon.stderr, /the cluster was restored from a backup.*Start it again/)
    // Only a folder whose daemon does not run has the restored store yet.
    const alone = await refusedStart(second.data, second.flags)
    assert.match(alone, /restored from a backup: what this daemon had is in .*replaced-/)
    assert.match(alone, /no other daemon of the cluster is running/)

    await first.start()
    await Promise.all([second.start(), paused.start()])
    await cluster.agree()
    for (const node of [first, second, paused]) assert.deepEqual(await contents(node), ['kept'])
    assert.ok(existsSync(join(second.data, replacedIn(second)[0]!, 'journal.ndjson')), 'the old store is kept')
    // Their clients have seen events whose IDs are used again.
    for (const node of [first, second, paused])
      for (const queue_id of queueIds) {
        const { body } = await node.as(owner).try(events.get, { queue_id, last_event_id: -1, dont_block: true })
        assert.equal(body.code, 'BAD_EVENT_QUEUE_ID', JSON.stringify(body))
      }
    for (const content of ['after', 'the', 'restore']) await send(second, content)
    await cluster.agree()
    assert.deepEqual(await contents(paused), ['kept', 'after', 'the', 'restore'])
    for (const { daemon } of [paused, second, first]) await daemon.end()
  })

  test('that was interrupted after the change in etcd and before that of the folder is finished by the same command', async () => {
    const plan = await planRestore(etcd, 'natter', first.data, secret)
    const scratch = join(first.data, restoringName())
    mkdirSync(scratch)
    await moveCluster(etcd, plan, scratch, 5)
    assert.match(
      await refusal(first.data, first.flags),
      /was interrupted, or has not ended; if it was interrupted, run `natter cluster restore` again/,
    )
    const done = await restore(first)
    assert.equal(done.code, 0, done.stderr)
    await first.start()
    await second.start()
    await cluster.agree()
    assert.deepEqual(await contents(second), ['kept'])
    for (const { daemon } of [second, first]) await daemon.end()
  })

  test('killed while it reads the backup, or when etcd has done its part, can be repeated', async () => {
    const record = async () => {
      const { kvs } = await etcd.call('/v3/kv/range', { key: encodeText(new Keys('natter').cluster) })
      return kvs[0].value as string
    }
    const before = await record()
    // One that reads stdin waits for the rest of the backup.
    const reading = shell.spawn(['cluster', 'restore', '-', ...flags(first)])
    reading.stdin!.write(readFileSync(backup).subarray(0, 4000))
    await until(() => readdirSync(first.data).some(isUnpacking))
    reading.kill('SIGKILL')
    await exitOf(reading)
    assert.equal(await record(), before)

    const proxy = await startEtcdProxy(cluster.etcd.urls[0]!)
    try {
      proxy.losesAnswerOf = path => path === '/v3/kv/txn'
      const moving = shell.spawn(['cluster', 'restore', backup, ...flags(first), '--cluster', proxy.url])
      await until(async () => (await record()) !== before)
      moving.kill('SIGKILL')
      await exitOf(moving)
    } finally {
      proxy.end()
    }
    assert.match(
      await refusal(first.data, first.flags),
      /was interrupted, or has not ended; if it was interrupted, run `natter cluster restore` again/,
    )

    for (const _ of ['finished', 'and repeated']) {
      const done = await restore(first)
      assert.equal(done.code, 0, done.stderr)
    }
    await first.start()
    await second.start()
    await cluster.agree()
    assert.deepEqual(await contents(second), ['kept'])
    for (const { daemon } of [second, first]) await daemon.end()
  })

  test('begins the cluster again on an etcd that has lost everything, without lost uploads if --incomplete is given', async () => {
    const all = { key: encodeText('/natter/'), range_end: encodeText(rangeEnd('/natter/')) }
    await etcd.call('/v3/kv/deleterange', all)
    assert.match(await refusal(first.data, first.flags), /etcd knows no cluster of this name/)
    const done = await shell.run(['cluster', 'restore', lacking, ...flags(first), '--incomplete'])
    assert.equal(done.code, 0, done.stderr)
    await first.start()
    await second.start()
    await cluster.agree()
    assert.deepEqual(await contents(second), ['kept'])
  })
})
