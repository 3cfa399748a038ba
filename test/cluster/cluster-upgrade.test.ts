// A rolling upgrade with two versions: the newer one reads what the older one wrote, and the older one stops with a
// sentence when it meets something newer.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { messages } from '../../daemon/api/messages/messages.ts'
import { type Node, startCluster, type TestCluster } from '../support/cluster.ts'
import type { Caller } from '../support/daemon.ts'
import { withoutEtcd } from '../support/etcd.ts'
import { assertPlain } from '../support/gives-up.ts'
import { buildNewerNatterd, newerVersion } from '../support/newer-natterd.ts'
import { until } from '../support/until.ts'

describe('a rolling upgrade', { skip: withoutEtcd ?? false }, () => {
  let newer: Awaited<ReturnType<typeof buildNewerNatterd>>
  let cluster: TestCluster
  let owner: Caller
  let old: Node
  let upgraded: Node

  before(async () => {
    newer = await buildNewerNatterd()
    cluster = await startCluster({ daemons: 2 })
    owner = cluster.nodes[0]!.owner
    old = await cluster.leader()
    ;[upgraded] = (await cluster.followers()) as [Node]
  })
  after(async () => {
    await cluster?.stop()
    newer?.remove()
  })

  const send = async (node: Node, content: string) =>
    (await node.as(owner).call(messages.send, { type: 'direct', to: [owner.id], content })).id
  const stop = async ({ daemon }: Node) => {
    daemon.process.kill('SIGTERM')
    assert.equal(await daemon.closed, 0, daemon.stderr)
  }
  const tooNew =
    /the log has entries of format 3, this natterd knows 2: a newer natterd leads the cluster\. Upgrade this one/

  test('a newer follower reads what an older leader writes', async () => {
    await stop(upgraded)
    await send(old, 'before the upgrade')
    upgraded.program = newer.program
    await upgraded.start()
    await send(upgraded, 'through the newer one')
    await cluster.agree()
    await until(async () => {
      const { daemons } = (await old.ready()).cluster
      return daemons.find(({ url }) => url === upgraded.url)?.version === newerVersion
    })
  })

  test('an older follower stops at the first entry of the newer leader, and starts again when it is upgraded', async () => {
    const { position } = await old.state()
    old.daemon.process.kill('SIGSTOP')
    await cluster.endLease()
    await until(() => upgraded.isLeader())
    const id = await send(upgraded, 'from the newer leader')
    // It sees that it leads no longer, and follows.
    old.daemon.process.kill('SIGCONT')
    assert.equal(await old.daemon.closed, 1, old.daemon.stderr)
    assert.match(old.daemon.stderr, tooNew)
    assertPlain(old.daemon.stderr)

    const journal = () => readFileSync(join(old.data, 'journal.ndjson'), 'utf8')
    const before = journal()
    old.hosted = true
    await assert.rejects(old.start(), tooNew)
    assert.equal(journal(), before, 'it changed its folder')
    assert.ok((await upgraded.state()).position > position)

    old.hosted = false
    old.program = newer.program
    await old.start()
    await cluster.agree()
    const { message } = await old.as(owner).call(messages.get, { message_id: id, apply_markdown: false })
    assert.equal(message.content, 'from the newer leader')
  })
})
