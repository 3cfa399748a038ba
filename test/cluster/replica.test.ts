// A daemon of a cluster whose etcd answers late.

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { messages } from '../../daemon/api/messages/messages.ts'
import { type Node, startCluster, type TestCluster } from '../support/cluster.ts'
import { withoutEtcd } from '../support/etcd.ts'
import { type EtcdProxy, startEtcdProxy } from '../support/etcd-proxy.ts'
import { until } from '../support/until.ts'

describe('a daemon of a cluster', { skip: withoutEtcd ?? false }, () => {
  let cluster: TestCluster
  let proxy: EtcdProxy
  let node: Node

  before(async () => {
    cluster = await startCluster({ daemons: 0 })
    proxy = await startEtcdProxy(cluster.etcd.urls[0]!)
    node = await cluster.add(['--cluster', proxy.url])
    await node.start()
  })
  after(async () => {
    await cluster?.stop()
    proxy?.end()
  })

  test('whose election was not answered in time leads when etcd names it', async () => {
    // Nothing but an election puts a key with a lease in a transaction.
    proxy.losesAnswerOf = (path, body) => path === '/v3/kv/txn' && body.includes('"lease":')
    await cluster.endLease()
    await until(() => /etcd cannot be reached .* no answer in time/.test(node.daemon.stderr))
    await until(async () => (await node.ready()).cluster.leader === node.url)
    assert.equal(await node.isLeader(), false)
    proxy.losesAnswerOf = () => false
    assert.equal(await cluster.leader(), node)
    const { owner } = node
    await owner.call(messages.send, { type: 'direct', to: [owner.id], content: 'by the new leader' })
  })
})
