// Keys in etcd that another program wrote below those of a cluster: daemons report them, use nothing of them, and go on.

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { messages } from '../../daemon/api/messages/messages.ts'
import { decodeText, Etcd, encodeText } from '../../daemon/cluster/etcd.ts'
import { batchHead, type Head, headText, Keys, pad, readHead } from '../../daemon/cluster/keys.ts'
import { entryLine } from '../../daemon/journal/segment-format.ts'
import { type Node, startCluster, type TestCluster } from '../support/cluster.ts'
import { withoutEtcd } from '../support/etcd.ts'
import { assertPlain } from '../support/gives-up.ts'
import { until } from '../support/until.ts'

describe('keys of another program in etcd', { skip: withoutEtcd ?? false }, () => {
  let cluster: TestCluster
  let leader: Node
  let follower: Node
  let direct: Etcd
  const keys = new Keys('natter')
  const { log, members } = keys

  before(async () => {
    cluster = await startCluster({ daemons: 2 })
    leader = await cluster.leader()
    ;[follower] = (await cluster.followers()) as [Node]
    direct = new Etcd({ urls: cluster.etcd.urls })
  })
  after(async () => {
    await direct?.close()
    await cluster?.stop()
  })

  const put = (key: string, value: string) =>
    direct.call('/v3/kv/put', { key: encodeText(key), value: encodeText(value) })

  const read = async (key: string) => {
    const { kvs } = await direct.call('/v3/kv/range', { key: encodeText(key) })
    return decodeText(kvs[0].value)
  }

  const send = async (node: Node) => {
    const { owner } = leader
    const { body } = await node.as(owner).try(messages.send, { type: 'direct', to: [owner.id], content: 'x' })
    assert.equal(body.result, 'success', JSON.stringify(body))
  }

  /** A batch as a leader would write it, with an entry that changes nothing. */
  const falseBatch = (position: number, term: number) => {
    const lines = entryLine(position, { time: 1, actor: null, op: 'by another program', facts: [] })
    return `${batchHead({ first: position, last: position, lines }, term)}${lines}`
  }

  const saidBy = (node: Node, said: RegExp) => until(() => said.test(node.daemon.stderr))

  test('among the members are reported and left out, and the key of a member is soon its own again', async () => {
    const { id } = JSON.parse(await read(`${members}${await findMember(follower)}`))
    const other = JSON.stringify({ id, url: 'x', version: 'x', position: 1, synced: 1, time: 1 })
    for (const [name, value] of [
      ['nonsense', '<html>'],
      ['empty', ''],
      ['null', 'null'],
      ['of-another', other],
    ])
      await put(`${members}${name}`, value!)
    for (const node of [leader, follower]) await saidBy(node, /did not write: "\/natter\/natter\/members\/of-another"/)
    await put(`${members}${id}`, '[]')
    await until(async () => (await read(`${members}${id}`)).includes(id))
    await send(follower)
    await until(async () => (await leader.ready()).cluster.daemons.length === 2)
  })

  test('in the log are reported and never applied, whether they are well-formed or not', async () => {
    const { position, term } = readHead(await read(keys.head))
    await put(`${log}${pad(position + 1)}`, falseBatch(position + 1, term))
    await put(`${log}${pad(position + 2)}`, '<html>')
    await put(`${log}${pad(position + 40)}`, falseBatch(position + 40, term + 1))
    for (let n = 0; n < 70; n++) await put(`${log}x${n}`, falseBatch(position + 1, term))
    await saidBy(
      follower,
      /did not write: "\/natter\/natter\/log\/x69"\. It is ignored\. .* delete it with etcdctl del/,
    )
    for (let n = 0; n < 3; n++) await send(follower)
    await cluster.agree()
    // What a daemon reads when it starts, not only what it watches.
    await follower.daemon.stop()
    await send(leader)
    await follower.start()
    await send(follower)
    await cluster.agree()
    for (const node of [leader, follower]) {
      assertPlain(node.daemon.stderr)
      assert.doesNotMatch(node.daemon.stderr, /no longer leads|JSON/)
    }
    assert.doesNotMatch(await read(`${log}${pad(position + 1)}`), /another program/)
  })

  test('in place of an entry keep a daemon from being ready, not from answering, until the entry is back', async () => {
    const place = (batch: string, from: Head, to: Head) =>
      direct.call('/v3/kv/txn', {
        compare: [{ target: 'VALUE', key: encodeText(keys.head), value: encodeText(headText(from)) }],
        success: [
          { request_put: { key: encodeText(`${log}${pad(to.position)}`), value: encodeText(batch) } },
          { request_put: { key: encodeText(keys.head), value: encodeText(headText(to)) } },
        ],
      })
    // The leader may write an entry of its own meanwhile: then the next position is another one.
    const { position, term } = await until(async () => {
      const head = readHead(await read(keys.head))
      const next = { position: head.position + 1, term: head.term }
      const start = batchHead({ first: next.position, last: next.position, lines: '' }, next.term)
      const { succeeded } = await place(`${start}<html>\n`, head, next)
      return succeeded && next
    })
    await saidBy(follower, /the entry of the log at positions .* in etcd is damaged: natterd did not write it/)
    assert.equal((await follower.as(leader.owner).raw('GET', '/api/v1/users/me')).status, 200)
    await put(`${log}${pad(position)}`, falseBatch(position, term))
    await until(async () => (await follower.ready()).cluster.position >= position)
    assertPlain(follower.daemon.stderr)
  })

  async function findMember(node: Node): Promise<string> {
    const range = { key: encodeText(members), range_end: encodeText(`${members}~`) }
    const { kvs } = await direct.call('/v3/kv/range', range)
    const found = kvs.map(({ value }: { value: string }) => JSON.parse(decodeText(value)))
    return found.find(({ url }: { url: string }) => url === node.url).id
  }
})
