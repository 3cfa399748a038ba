// A daemon of a cluster whose etcd answers late, or whose world cannot be replaced.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { type IncomingMessage, request } from 'node:http'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { messages } from '../../daemon/api/messages/messages.ts'
import { Etcd, encodeText } from '../../daemon/cluster/etcd.ts'
import { headText, Keys, pad } from '../../daemon/cluster/keys.ts'
import { snapshotPosition } from '../../daemon/journal/snapshots.ts'
import { type Node, startCluster, type TestCluster } from '../support/cluster.ts'
import { withoutEtcd } from '../support/etcd.ts'
import { type EtcdProxy, startEtcdProxy } from '../support/etcd-proxy.ts'
import { refusal } from '../support/gives-up.ts'
import { until } from '../support/until.ts'

describe('a daemon of a cluster', { skip: withoutEtcd ?? false }, () => {
  let cluster: TestCluster
  let proxy: EtcdProxy
  let node: Node
  let direct: Etcd

  before(async () => {
    cluster = await startCluster({ daemons: 0 })
    direct = new Etcd({ urls: cluster.etcd.urls })
    proxy = await startEtcdProxy(cluster.etcd.urls[0]!)
    node = await cluster.add(['--cluster', proxy.url])
    await node.start()
  })
  after(async () => {
    direct?.close()
    await cluster?.stop()
    proxy?.end()
  })

  const send = (content: string) => node.owner.call(messages.send, { type: 'direct', to: [node.owner.id], content })

  test('which loses the lead during an upload refuses it, and says that it can be repeated', async () => {
    const headers = { 'Content-Type': 'multipart/form-data; boundary=b' }
    const upload = request(`${node.url}/api/v1/user_uploads`, { method: 'POST', headers, auth: node.owner.auth! })
    upload.write('--b\r\nContent-Disposition: form-data; name="file"; filename="f"\r\n\r\n')
    upload.write(Buffer.alloc(2 * 1024 * 1024))
    const answered = once(upload, 'response')
    await until(() => existsSync(join(node.data, 'files')) && readdirSync(join(node.data, 'files')).length > 0)
    await cluster.endLease()
    await until(() => /no longer leads the cluster/.test(node.daemon.stderr))
    upload.end('\r\n--b--\r\n')
    const [answer] = (await answered) as [IncomingMessage]
    const { code, msg } = JSON.parse(String(Buffer.concat(await answer.toArray())))
    assert.deepEqual([code, answer.headers['retry-after']], ['SERVER_NOT_READY', '1'])
    assert.match(msg, /reading its state again\. Try again/)
    assert.equal(await cluster.leader(), node)
    assert.doesNotMatch(node.daemon.stderr, /the journal is closed/)
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
    await send('by the new leader')
  })

  test('which does not answer when the log was trimmed, fetches a snapshot when it answers again', async t => {
    const between = await startEtcdProxy(cluster.etcd.urls[0]!)
    t.after(() => between.end())
    const follower = await cluster.add(['--cluster', between.url])
    await follower.start()
    between.holdsWatches = true
    between.instead = response => response.writeHead(503).end()
    for (const content of ['one', 'two', 'three']) await send(content)
    const { position } = await node.state()
    const { log } = new Keys('natter')
    await direct.call('/v3/kv/deleterange', {
      key: encodeText(log),
      range_end: encodeText(`${log}${pad(position)}`),
    })
    // It reads the log, finds it trimmed, and then gets no view of the cluster.
    let hasRead = false
    between.losesAnswerOf = (path, body) => {
      hasRead ||= path === '/v3/kv/range' && body.includes('"limit":32')
      return hasRead && path === '/v3/kv/txn'
    }
    between.instead = undefined
    await until(() => hasRead)
    await until(() => /etcd cannot be reached .* no answer in time/.test(follower.daemon.stderr))
    between.losesAnswerOf = () => false
    between.holdsWatches = false
    await until(() => snapshotPosition(follower.data) >= position || follower.daemon.process.exitCode !== null)
    assert.equal(follower.daemon.process.exitCode, null, follower.daemon.stderr)
    await cluster.agree()
    await follower.daemon.kill()
  })

  test('that begins a cluster while another one does is refused if it has another secret', async t => {
    const between = await startEtcdProxy(cluster.etcd.urls[0]!)
    t.after(() => between.end())
    const keys = new Keys('begun-twice')
    const put = (key: string, value: string) =>
      direct.call('/v3/kv/put', { key: encodeText(key), value: encodeText(value) })
    let begun: Promise<unknown> | undefined
    between.losesAnswerOf = path => {
      // It asks for the cluster before it reads its folder, and begins one after that.
      if (path === '/v3/kv/range')
        begun ??= put(keys.head, headText({ position: 0, term: 0 })).then(() =>
          put(keys.cluster, JSON.stringify({ id: 'other', format: 2, secretVerifier: 'of another secret' })),
        )
      return false
    }
    const flags = [...node.flags, '--cluster', between.url, '--cluster-name', 'begun-twice']
    assert.match(await refusal(`${node.data}-begun`, flags), /the secret is not that of the cluster 'begun-twice'/)
    await begun
  })

  test('that cannot read its store again after it has lost the lead ends, and says why', async () => {
    // The end of the journal is checked before the world is replaced, the rest when the new one reads it.
    await Promise.all(Array.from({ length: 20 }, () => send('x')))
    const journal = join(node.data, 'journal.ndjson')
    const damaged = readFileSync(journal, 'utf8').replace('"time":1', '"time":2')
    writeFileSync(journal, damaged, { flag: 'r+' })
    await cluster.endLease()
    await until(() => node.daemon.process.exitCode !== null)
    assert.equal(node.daemon.process.exitCode, 1)
    assert.match(node.daemon.stderr, /journal\.ndjson, line \d: /)
  })
})
