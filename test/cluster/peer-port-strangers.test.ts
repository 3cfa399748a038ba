// Strangers at a cluster of three real daemons: they reach nothing of what the daemons tell each other, whatever they send, and
// do not keep a follower from sending the writes of others on.

import assert from 'node:assert/strict'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { bots } from '../../daemon/api/bots/bots.ts'
import { messages } from '../../daemon/api/messages/messages.ts'
import { typing } from '../../daemon/api/messages/typing.ts'
import { presence } from '../../daemon/api/people/presence.ts'
import { users } from '../../daemon/api/people/users.ts'
import { clusterToken, forwardedHeader, forwardedToken, tokenHeader } from '../../daemon/cluster/peers.ts'
import { fakeServer } from '../support/cli.ts'
import { type Node, secret, startCluster, type TestCluster } from '../support/cluster.ts'
import { Caller } from '../support/daemon.ts'
import { withoutEtcd } from '../support/etcd.ts'
import { type EtcdProxy, startEtcdProxy } from '../support/etcd-proxy.ts'
import { hostileTargets, type RawRequest, sendRaw, statusOf } from '../support/hostile-targets.ts'
import { multipart, send } from '../support/http.ts'
import { until } from '../support/until.ts'

const json = 'Content-Type: application/json'
/** An entry without facts: it moves the log on, and changes nothing else. */
const record = JSON.stringify({ records: [{ op: 'by a stranger', actor: null, facts: [] }] })
const ways = ['short', 'node:http'] as const

describe('strangers at a cluster', { skip: withoutEtcd ?? false }, () => {
  let cluster: TestCluster
  let owner: Caller
  let leader: Node
  let follower: Node
  const ownToken = `${tokenHeader}: ${clusterToken(secret)}`
  const tokenOfForwarded = `${forwardedHeader}: ${forwardedToken(secret)}`

  before(async () => {
    cluster = await startCluster({ hosted: true })
    owner = cluster.nodes[0]!.owner
    leader = await cluster.leader()
    ;[follower] = (await cluster.followers()) as [Node]
  })
  after(() => cluster?.stop())

  const sendTo = (node: Node, content: string, caller = owner) =>
    node.as(caller).try(messages.send, { type: 'direct', to: [owner.id], content })

  /** Nothing of a stranger is in the log. The leader itself writes to it at any time. */
  const checkLog = async () => {
    await sendTo(leader, 'after the strangers')
    const journal = readFileSync(join(leader.data, 'journal.ndjson'), 'utf8')
    assert.match(journal, /after the strangers/)
    assert.doesNotMatch(journal, /by a stranger/)
  }

  test('reach nothing of what the daemons tell each other, at the leader or a follower, by either way in', async () => {
    const { refused, missing } = hostileTargets
    const authorization = `Authorization: Basic ${Buffer.from(owner.auth!).toString('base64')}`
    for (const node of [leader, follower])
      for (const way of ways)
        for (const headers of [[json], [json, authorization], [json, ownToken], [json, tokenOfForwarded]])
          for (const [targets, wanted] of [[refused, 400] as const, [missing, 404] as const])
            for (const target of targets) {
              const answer = await sendRaw(node.url, { target, headers, body: record, way })
              assert.equal(statusOf(answer), wanted, `${target}\n${answer}`)
            }
    await checkLog()
  })

  test('are refused at the addresses of the daemons, and so is the token of another kind of call', async () => {
    const call = (target: string, headers: string[], more: Partial<RawRequest> = {}) =>
      sendRaw(leader.peerUrl, { target, headers: [json, ...headers], body: record, way: 'node:http', ...more })
    for (const headers of [[], [`${tokenHeader}: `], [`${tokenHeader}: ${'x'.repeat(64)}`], [tokenOfForwarded]])
      assert.equal(statusOf(await call('/cluster/v1/record', headers)), 401)
    for (const headers of [[], [`${forwardedHeader}: ${clusterToken(secret)}`], [ownToken]])
      assert.equal(statusOf(await call('/api/v1/messages', headers)), 401)
    const both = [ownToken, tokenOfForwarded]
    assert.equal(statusOf(await call('/api/v1/messages', both, { method: 'GET', body: '' })), 404)
    for (const target of ['/', '/readyz', '/metrics', '/control/v1/clock', '/user_uploads/1/a', '/cluster/v1/x'])
      assert.equal(statusOf(await call(target, both, { method: 'GET', body: '' })), 404, target)
    for (const target of hostileTargets.refused) assert.equal(statusOf(await call(target, both)), 400, target)
    await checkLog()
  })

  test('a body that is no JSON object, or has something else in it, is refused there with 400, and a large one with 413', async () => {
    const call = (path: string, body: string) =>
      sendRaw(leader.peerUrl, { target: `/cluster/v1/${path}`, headers: [json, ownToken], body, way: 'node:http' })
    const bodies = {
      record: '{"records":[{}]}',
      signals: '{"calls":1}',
      seen: '{}',
      keep: '{"file":"../x"}',
      drop: '{"files":[null],"position":1}',
      snapshot: '{"position":"1"}',
    }
    const deep = `{"records":${'['.repeat(50_000)}${']'.repeat(50_000)}}`
    for (const [path, wrong] of Object.entries(bodies))
      for (const body of ['{', 'null', '[]', '"x"', '<html>', '{"x":1}', deep, wrong])
        assert.equal(statusOf(await call(path, body)), 400, `${path} ${body.slice(0, 50)}`)
    for (const record of [null, 7, [], { op: 'x', actor: null, facts: [null] }, { op: {}, actor: null, facts: [] }])
      assert.equal(statusOf(await call('record', JSON.stringify({ records: [record] }))), 400, JSON.stringify(record))
    assert.equal(statusOf(await call('record', `{"records":"${'x'.repeat(1_100_000)}"}`)), 413)
  })

  test('facts and calls that cannot be applied are not taken even with the token, and no daemon ends', async () => {
    const call = (path: string, body: object) => {
      const headers = [json, ownToken]
      const target = `/cluster/v1/${path}`
      return sendRaw(leader.peerUrl, { target, headers, body: JSON.stringify(body), way: 'node:http' })
    }
    const queue = {
      id: 'by a stranger',
      userId: 4_000_000,
      eventTypes: null,
      capabilities: [],
      lifespan: 1e6,
      narrow: [],
    }
    const flags = { allPublicStreams: true, applyMarkdown: true, clientGravatar: true, slimPresence: true }
    const facts = [
      { type: 'no-such-fact' },
      { type: 'user.role-changed', userId: owner.id, role: 600 },
      { type: 'store.restored', sections: {} },
      { type: 'queue.registered', queue: {} },
      { type: 'queue.registered', queue: { ...queue, ...flags, includeSubscribers: 'true' } },
      { type: 'queue.acknowledged', queueId: 'x', upTo: 'x' },
      { type: 'queue.removed', queueId: ['x'], reason: 'deleted' },
    ]
    for (const fact of facts) {
      const answer = await call('record', { records: [{ op: 'by a stranger', actor: null, facts: [fact] }] })
      assert.equal(statusOf(answer), 400, `${JSON.stringify(fact)}\n${answer}`)
    }
    const repeated = { actor: owner.id, now: 1, client: 'x' }
    for (const params of [{}, { status: {} }, { status: 'active', last_update_id: 'x' }, { type: 'direct', to: {} }])
      for (const { id } of [...Object.values(presence), ...Object.values(typing)])
        assert.equal(statusOf(await call('signals', { calls: [{ ...repeated, endpoint: id, params }] })), 200)
    await checkLog()
    assert.ok((await leader.ready()).ready)
  })

  test('a daemon fetches a file from members of the cluster only, and sends its token nowhere else', async t => {
    const seen: string[] = []
    const url = await fakeServer(t, (request, response) => {
      seen.push(request.url!)
      response.end()
    })
    for (const from of [url, `${url}/`, '', 'x'.repeat(500), '__proto__']) {
      const body = JSON.stringify({ file: 'a'.repeat(64), from })
      const headers = [json, ownToken]
      const answer = await sendRaw(follower.peerUrl, { target: '/cluster/v1/keep', headers, body, way: 'node:http' })
      assert.match(answer, /^HTTP\/1\.1 200 .*\{"kept":false\}$/s)
    }
    assert.deepEqual(seen, [])
  })

  test('cannot claim another address: only a daemon that forwards a call is believed', async () => {
    const headers = [tokenOfForwarded, ownToken, 'X-Forwarded-For: 203.0.113.9', `natter-position: 999999`]
    for (const node of [leader, follower]) {
      const answer = await sendRaw(node.url, { target: '/api/v1/messages', headers, way: 'short' })
      assert.equal(statusOf(answer), 401)
      assert.doesNotMatch(answer, /natter-(position|not-leading|forwarded|cluster)/i)
    }
  })

  test('with many unfinished requests do not hold up the writes of others at a follower', async () => {
    const sockets: Socket[] = []
    const begin = async (head: string) => {
      const socket = connect(follower.port, '127.0.0.1').on('error', () => {})
      sockets.push(socket)
      await new Promise<void>(resolve => socket.once('connect', resolve))
      socket.write(`${head}\r\nHost: 127.0.0.1\r\n`)
      return socket
    }
    const form = 'Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 1000\r\n\r\na='
    const parts = 'Content-Type: multipart/form-data; boundary=b\r\nContent-Length: 90000\r\n\r\n--b\r\n'
    const authorization = `Authorization: Basic ${Buffer.from(owner.auth!).toString('base64')}\r\n`
    for (let i = 0; i < 70; i++) {
      ;(await begin('POST /api/v1/messages HTTP/1.1')).write(form)
      ;(await begin('POST /api/v1/fetch_api_key HTTP/1.1')).write(parts)
      ;(await begin('POST /api/v1/user_uploads HTTP/1.1')).write(authorization + parts)
    }
    try {
      const { body } = await sendTo(follower, 'beside unfinished requests')
      assert.equal(body.result, 'success', JSON.stringify(body))
    } finally {
      for (const socket of sockets) socket.destroy()
    }
  })

  test('with any number of unfinished requests at the address of the daemons do not keep a daemon out', async () => {
    const sockets: Socket[] = []
    const { hostname, port } = new URL(leader.peerUrl)
    try {
      for (let i = 0; i < 2100; i++) {
        const socket = connect(Number(port), hostname).on('error', () => {})
        sockets.push(socket)
        socket.write('POST /cluster/v1/record HTTP/1.1\r\nHost: 127.0.0.1\r\n')
        if (i % 50 === 0) await new Promise(resolve => socket.once('connect', resolve))
      }
      await until(() => sockets.some(socket => socket.destroyed))
      assert.ok(sockets.some(socket => !socket.destroyed))
      // More than the follower has connections to the leader already.
      const answers = await Promise.all(Array.from({ length: 40 }, (_, i) => sendTo(follower, `beside strangers ${i}`)))
      for (const { body } of answers) assert.equal(body.result, 'success', JSON.stringify(body))
    } finally {
      for (const socket of sockets) socket.destroy()
    }
  })

  test('write nothing to a disk, whatever they send in a multipart body', async () => {
    const listUnfinished = (node: Node) => {
      const folder = join(node.data, 'files')
      return existsSync(folder) ? readdirSync(folder).filter(name => name.endsWith('.tmp')) : []
    }
    const part = '--b\r\nContent-Disposition: form-data; name="file"; filename="a"\r\n\r\n'
    // Of the unfinished uploads above.
    await until(() => [follower, leader].every(node => listUnfinished(node).length === 0))
    for (const node of [follower, leader])
      for (const path of ['fetch_api_key', 'external/json?api_key=x', 'user_uploads']) {
        const socket = connect(node.port, '127.0.0.1').on('error', () => {})
        const head = `POST /api/v1/${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: multipart/form-data; boundary=b\r\n`
        socket.write(`${head}Content-Length: 900000\r\n\r\n${part}${'x'.repeat(800_000)}`)
        // All of it has been read when the daemon answers the next call on another connection, and this one is still open.
        await until(() => socket.writableLength === 0)
        assert.equal((await node.as(owner).raw('GET', '/api/v1/users/me')).status, 200)
        assert.deepEqual(listUnfinished(node), [], path)
        socket.destroy()
      }
  })

  test('an upload at a follower arrives as it was sent, and what is refused leaves nothing behind', async () => {
    const bytes = Buffer.alloc(3_000_000, Buffer.from(Array.from({ length: 251 }, (_, i) => (i * 7) % 251)))
    const form = multipart(
      new Map([['file', { filename: 'large.bin', contentType: 'application/octet-stream', bytes }]]),
    )
    const { body } = await follower.as(owner).raw('POST', '/api/v1/user_uploads', form)
    assert.equal(body.result, 'success', JSON.stringify(body))
    for (const node of cluster.nodes) {
      const read = await fetch(`${node.url}${body.url}`, {
        headers: { Authorization: `Basic ${Buffer.from(owner.auth!).toString('base64')}` },
      })
      assert.deepEqual(Buffer.from(await read.arrayBuffer()), bytes)
    }
    const stranger = await send(`${follower.url}/api/v1/user_uploads`, { method: 'POST', auth: 'a@b.c:x', ...form })
    assert.equal(stranger.status, 401)
  })

  describe('and a follower that lags', () => {
    let proxy: EtcdProxy
    let lagging: Node

    before(async () => {
      proxy = await startEtcdProxy(cluster.etcd.urls[0]!)
      lagging = await cluster.add(['--cluster', proxy.url])
      lagging.hosted = false
      await lagging.start()
    })
    after(() => {
      proxy?.end()
    })

    test('takes a write of an account that it does not know yet, and refuses one of an account that does not exist', async () => {
      proxy.holdsWatches = true
      const made = await leader.as(owner).call(bots.create, { short_name: 'new', full_name: 'New', bot_type: 1 })
      const { user } = await leader.as(owner).call(users.show, { user_id: made.user_id })
      const bot = new Caller(lagging.url, user.email, made.api_key, made.user_id)
      const { body } = await sendTo(lagging, 'from a new account', bot)
      assert.equal(body.result, 'success', JSON.stringify(body))
      const unknown = await sendTo(lagging, 'x', new Caller(lagging.url, user.email, 'x'.repeat(32)))
      assert.equal(unknown.status, 401)
      proxy.holdsWatches = false
      const unnamed = await lagging.as(new Caller(lagging.url)).raw('POST', '/api/v1/messages')
      assert.equal(unnamed.status, 401)
    })

    test('reports answers that are not those of etcd, answers reads meanwhile, and goes on afterwards', async () => {
      const nonsense: [string, RegExp][] = [
        ['<html>bad gateway</html>', /the answer is not that of an etcd \("<html>/],
        ['', /it is empty/],
        ['{"header":', /the answer is not that of an etcd/],
        ['{"header":{"revision":7},"kvs":"x","responses":[1,2]}', /the answer is not that of an etcd/],
        ['[]', /the answer is not that of an etcd/],
        ['null', /the answer is not that of an etcd/],
      ]
      for (const [text, said] of nonsense) {
        const before = lagging.daemon.stderr.length
        proxy.instead = response => response.end(text)
        await untilSaid(lagging, before, said)
        assert.equal((await lagging.as(owner).raw('GET', '/api/v1/users/me')).status, 200)
        proxy.instead = undefined
        await untilSaid(lagging, before, /etcd answers again/)
      }
      // Only one part of the daemon says that etcd does not answer: the one that says when it answers again.
      assert.doesNotMatch(lagging.daemon.stderr, /JSON input|Unexpected|undefined|TypeError|could not be/)
      const { body } = await sendTo(lagging, 'after the nonsense')
      assert.equal(body.result, 'success', JSON.stringify(body))
      await cluster.agree()
    })
  })
})

async function untilSaid({ daemon }: Node, from: number, said: RegExp): Promise<void> {
  await until(() => said.test(daemon.stderr.slice(from)) || daemon.process.exitCode !== null).catch(error => {
    throw new Error(`${error.message}; it said: ${daemon.stderr.slice(from)}`)
  })
  assert.match(daemon.stderr.slice(from), said)
}
