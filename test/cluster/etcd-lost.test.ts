// An etcd that is gone, was emptied, or holds another cluster: daemons say which, refuse writes and never begin a second history.

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { messages } from '../../daemon/api/messages/messages.ts'
import { decodeText, Etcd, encodeText, rangeEnd } from '../../daemon/cluster/etcd.ts'
import { batchHead, headText, Keys, pad, readBatchHead, readHead } from '../../daemon/cluster/keys.ts'
import { entryLine } from '../../daemon/journal/segment-format.ts'
import { fakeServer } from '../support/cli.ts'
import { type Node, secret, startCluster, type TestCluster } from '../support/cluster.ts'
import { withoutEtcd } from '../support/etcd.ts'
import { assertPlain, refusal } from '../support/gives-up.ts'
import { until } from '../support/until.ts'

describe('a daemon whose etcd is lost', { skip: withoutEtcd ?? false }, () => {
  let cluster: TestCluster
  let node: Node
  let direct: Etcd
  const { namePrefix, head, log } = new Keys('natter')
  const everything = { key: encodeText(namePrefix), range_end: encodeText(rangeEnd(namePrefix)) }

  before(async () => {
    cluster = await startCluster({ daemons: 1, flags: ['--cluster-lease', '2'] })
    node = cluster.nodes[0]!
    direct = new Etcd({ urls: cluster.etcd.urls })
  })
  after(async () => {
    await direct?.close()
    await cluster?.stop()
  })

  const write = () => node.owner.try(messages.send, { type: 'direct', to: [node.owner.id], content: 'x' })

  test('says at /readyz that it is not ready when the lease has ended', async () => {
    const [member] = cluster.etcd.members
    await until(async () => (await node.ready()).ready)
    await member!.kill()
    await until(async () => (await node.ready()).status === 503)
    await member!.start()
    await until(async () => (await node.ready()).ready)
  })

  test('follows again when the lease ended while it wrote a snapshot', async () => {
    const [member] = cluster.etcd.members
    await until(async () => (await write()).body.result === 'success')
    await member!.pause()
    const unanswered = write()
    // The message waits for etcd by then, and the snapshot for the message.
    await new Promise(resolve => setTimeout(resolve, 500))
    const { length } = node.daemon.stderr
    node.daemon.process.kill('SIGUSR2')
    await until(() => node.daemon.stderr.slice(length).includes('its lease has ended'))
    member!.resume()
    assert.equal((await unanswered).body.code, 'SERVER_NOT_READY')
    await until(async () => (await write()).body.result === 'success')
    assert.equal(node.daemon.process.exitCode, null)
  })

  test('says that etcd was emptied and what to do, answers reads, refuses writes, and founds nothing', async () => {
    await until(async () => (await write()).body.result === 'success')
    await direct.call('/v3/kv/deleterange', everything)
    await until(() => /etcd no longer has the cluster .*Restore the data of etcd, or see/.test(node.daemon.stderr))
    await until(async () => (await node.ready()).status === 503)
    await until(async () => (await node.owner.raw('GET', '/api/v1/users/me')).status === 200)
    assert.equal((await write()).body.code, 'SERVER_NOT_READY')
    assert.doesNotMatch(node.daemon.stderr, /JSON|Unexpected|undefined/)
    const { kvs = [] } = await direct.call('/v3/kv/range', everything)
    assert.deepEqual(kvs, [])
  })

  test('stops with a sentence when another cluster of the same name was founded there', async () => {
    const other = await cluster.add()
    await other.start()
    await until(() => /etcd had no cluster 'natter', so this daemon founds it with an empty/.test(other.daemon.stderr))
    assert.equal(await node.daemon.closed, 1, node.daemon.stderr)
    assert.match(node.daemon.stderr, /etcd holds another cluster under \/natter\/natter\/ than this daemon belongs to/)
    assertPlain(node.daemon.stderr)
    node.hosted = true
    await assert.rejects(node.start(), /belongs to another cluster that was also named 'natter'/)
  })

  test('does not start with an older copy of the log that has gone on with other entries', async () => {
    const other = cluster.nodes[1]!
    await other.daemon.stop()
    const put = (key: string, value: string) =>
      direct.call('/v3/kv/put', { key: encodeText(key), value: encodeText(value) })
    const newest = { key: encodeText(log), range_end: encodeText(rangeEnd(log)), sort_order: 'DESCEND', limit: 1 }
    const { kvs } = await direct.call('/v3/kv/range', newest)
    const { key, value } = kvs[0]
    const heads = await direct.call('/v3/kv/range', { key: encodeText(head) })
    const { position, term } = readHead(decodeText(heads.kvs[0].value))
    const text = decodeText(value)
    const { first, last } = readBatchHead(text.slice(0, text.indexOf('\n')))
    assert.equal(last, position)
    const otherBatch = (from: number, to: number) => {
      let lines = ''
      for (let at = from; at <= to; at++) lines += entryLine(at, { time: 1, actor: null, op: 'compare', facts: [] })
      return put(`${log}${pad(from)}`, batchHead({ first: from, last: to, lines }, term) + lines)
    }
    await otherBatch(first, last)
    await otherBatch(last + 1, last + 1)
    await put(head, headText({ position: last + 1, term }))
    const said = new RegExp(`the log in etcd has another entry at position ${last} than this daemon`)
    other.hosted = true
    await assert.rejects(other.start(), said)
    await direct.call('/v3/kv/put', { key, value })
    other.hosted = false
    await other.start()
    assert.ok((await other.ready()).cluster.position > last)
  })

  test('stops with a sentence when the log ends before what it has: etcd has an older copy', async () => {
    const other = cluster.nodes[1]!
    await direct.call('/v3/kv/put', { key: encodeText(head), value: encodeText('{"position":1,"term":1}') })
    assert.equal(await other.daemon.closed, 1, other.daemon.stderr)
    assert.match(other.daemon.stderr, /the log in etcd ends at position 1, but this daemon has entries up to \d+/)
    other.hosted = true
    await assert.rejects(other.start(), /the log in etcd ends at position 1/)
  })
})

describe('natterd --cluster', () => {
  test('says what is wrong when something else answers in place of etcd', async t => {
    const folder = mkdtempSync(join(tmpdir(), 'natter-no-etcd-'))
    t.after(() => rmSync(folder, { recursive: true, force: true }))
    const status = '{"version":"3.5.0"}'
    const answers: [status: string, rest: string, said: RegExp][] = [
      [
        '<html>',
        '',
        /etcd cannot be used at http:\S+: the answer is not that of an etcd \("<html>"\)\. Check --cluster/,
      ],
      ['', '', /the answer is not that of an etcd \(it is empty\)/],
      [status, '{"header":{"revi', /the answer is not that of an etcd/],
      [status, '{"alarms":7,"kvs":[7],"header":{"revision":"7"}}', /the answer is not that of an etcd/],
      [status, '{}', /the answer is not that of an etcd \("\{\}"\)/],
    ]
    await Promise.all(
      answers.map(async ([first, rest, said], at) => {
        const url = await fakeServer(t, (request, response) =>
          response.end(request.url === '/v3/maintenance/status' ? first : rest),
        )
        assert.match(await refusal(join(folder, `${at}`), ['--secret', secret, '--cluster', url]), said)
      }),
    )
  })
})
