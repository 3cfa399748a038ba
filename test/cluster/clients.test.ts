// Clients that know several daemons go on at another one: the command line and natter/client. What a cluster says to
// people, and what it does with queues, clocks and versions.

import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { events } from '../../daemon/api/events.ts'
import { messages } from '../../daemon/api/messages/messages.ts'
import { createClient } from '../../daemon/client/index.ts'
import { decodeText, Etcd, encodeText } from '../../daemon/cluster/etcd.ts'
import { headText, Keys, pad, readHead } from '../../daemon/cluster/keys.ts'
import { Lease } from '../../daemon/cluster/lease.ts'
import { Shell, Watched } from '../support/cli.ts'
import { type Node, startCluster, type TestCluster } from '../support/cluster.ts'
import { type Caller, startDaemon } from '../support/daemon.ts'
import { withoutEtcd } from '../support/etcd.ts'
import { freePort } from '../support/free-port.ts'
import type { HttpReply } from '../support/http.ts'
import { until } from '../support/until.ts'

describe('clients of a cluster', { skip: withoutEtcd ?? false }, () => {
  let cluster: TestCluster
  let owner: Caller
  let etcd: Etcd
  let nowhere: string
  const shell = new Shell(mkdtempSync(join(tmpdir(), 'natter-home-')))

  before(async () => {
    cluster = await startCluster({ daemons: 2 })
    owner = cluster.nodes[0]!.owner
    etcd = new Etcd({ urls: cluster.etcd.urls })
    nowhere = `http://127.0.0.1:${await freePort()}`
  })
  after(async () => {
    await etcd.close()
    await cluster.stop()
    rmSync(shell.home, { recursive: true, force: true })
  })

  const accountAt = (...sites: string[]) => ({
    NATTER_SITE: sites.join(','),
    NATTER_EMAIL: owner.email!,
    NATTER_API_KEY: owner.key!,
  })
  const urls = () => cluster.nodes.map(({ url }) => url)
  const send = (node: Node, content: string) =>
    node.as(owner).call(messages.send, { type: 'direct', to: [owner.id], content })

  test('natter calls the next site when the first is not there', async () => {
    const { code, stdout, stderr } = await shell.run(['whoami', '--json'], { env: accountAt(nowhere, ...urls()) })
    assert.equal(code, 0, stderr)
    assert.equal(JSON.parse(stdout).email, owner.email)
  })

  test('natter cluster status shows the leader and the addresses of the others', async () => {
    await until(async () => (await cluster.nodes[0]!.ready()).cluster.daemons.length === 2)
    const shown = await shell.run(['cluster', 'status'], { env: accountAt(...urls()) })
    assert.equal(shown.code, 0, shown.stderr)
    const leader = await cluster.leader()
    assert.match(shown.stdout, new RegExp(`Cluster natter: ${leader.url} leads`))
    for (const url of urls()) assert.ok(shown.stdout.includes(url), shown.stdout)
    const json = await shell.run(['cluster', 'status', '--json'], { env: accountAt(...urls()) })
    assert.equal(JSON.parse(json.stdout).daemons.length, 2)
  })

  test('natter cluster status says when there is no cluster', async t => {
    const single = await startDaemon(t, { flags: ['--memory'] })
    const { code, stderr } = await shell.run(['cluster', 'status'], { env: { NATTER_SITE: single.url } })
    assert.equal(code, 1)
    assert.match(stderr, /is a single daemon, not one of a cluster/)
  })

  test('the events of natter/client go on at another daemon: none is missing and none comes twice', async () => {
    const follower = (await cluster.followers())[0]!
    const leader = await cluster.leader()
    const client = createClient({ site: [follower.url, leader.url].join(','), email: owner.email!, apiKey: owner.key! })
    const heard: string[] = []
    const ending = new AbortController()
    let ready!: () => void
    const listening = new Promise<void>(resolve => {
      ready = resolve
    })
    const following = (async () => {
      for await (const { message } of client.events({ types: ['message'], signal: ending.signal, onReady: ready }))
        heard.push(message.content)
    })()
    await listening
    const sent: string[] = []
    const say = async (node: Node) => {
      const content = `event ${sent.length}`
      await send(node, content)
      sent.push(content)
    }
    for (let i = 0; i < 3; i++) await say(leader)
    await until(() => heard.length === 3)
    await follower.daemon.kill()
    for (let i = 0; i < 3; i++) await say(leader)
    await until(() => heard.length >= 6)
    await follower.start()
    await say(follower)
    await until(() => heard.length >= 7)
    ending.abort()
    await following
    assert.deepEqual(heard, sent)
  })

  test('natter tail goes on at another daemon', async t => {
    const follower = (await cluster.followers())[0]!
    const leader = await cluster.leader()
    const args = ['tail', '--count', '5', '--timeout', '60s', '--json']
    const tail = new Watched(t, shell.spawn(args, { env: accountAt(follower.url, leader.url) }))
    // It has registered when it hears something.
    await until(async () => {
      await send(leader, 'first for the tail')
      return tail.lines.length > 0
    })
    await follower.daemon.kill()
    await until(async () => {
      await send(leader, 'more for the tail')
      return tail.child.exitCode !== null
    })
    assert.equal(await tail.ended, 0, tail.stderr)
    assert.equal(tail.lines.length, 5)
    await follower.start()
  })

  test('a queue that is polled at a follower does not expire, and one that is not polled does', async () => {
    const [follower] = (await cluster.followers()) as [Node]
    const leader = await cluster.leader()
    const register = async (queue_lifespan_secs: number) => {
      const asked = { event_types: ['message'], queue_lifespan_secs }
      return (await follower.as(owner).call(events.register, asked)).queue_id!
    }
    /** Answered when there is something to tell. */
    const poll = async (queue_id: string): Promise<HttpReply['body']> => {
      for (let last_event_id = -1; ; ) {
        const { body } = await follower.as(owner).try(events.get, { queue_id, last_event_id })
        const [event] = (body.events ?? []) as { id: number; type: string }[]
        if (event?.type !== 'heartbeat') return body
        last_event_id = event.id
      }
    }
    const hasEnded = (node: Node, queue: string) =>
      readFileSync(join(node.data, 'journal.ndjson'), 'utf8')
        .split('\n')
        .some(line => line.includes('"queue.removed"') && line.includes(queue))
    // On a slow machine a queue may expire before its first poll arrives: then it gets more time.
    for (const lifespan of [1, 3, 9, 27]) {
      const polled = await register(lifespan)
      const answer = poll(polled)
      // The leader hears of neither, and it has not heard of the first one for longer.
      const left = await register(lifespan)
      await until(() => hasEnded(leader, left) && hasEnded(follower, left))
      assert.equal((await poll(left)).code, 'BAD_EVENT_QUEUE_ID')
      await send(leader, 'for the queue that is polled')
      const { events: heard = [] } = await answer
      const [first] = heard as { message: { content: string } }[]
      if (first?.message.content === 'for the queue that is polled') return
    }
    assert.fail('the queue that was polled expired')
  })

  test('a daemon whose clock is minutes away is refused, and a report that is minutes old is not taken for that', async () => {
    const lease = await Lease.grant(etcd, 10)
    const member = () => ({
      id: 'x',
      url: 'http://10.0.0.9:9991',
      peer: 'http://10.0.0.9:9992',
      version: '0',
      position: 0,
      synced: 0,
      time: Date.now() - 300_000,
    })
    const key = encodeText(`${new Keys('natter').members}x`)
    const report = () => etcd.call('/v3/kv/put', { key, value: encodeText(JSON.stringify(member())), lease: lease.id })
    await report()
    const node = await cluster.add()
    node.hosted = true
    const reporting = setInterval(report, 500)
    await assert.rejects(
      node.start(),
      /the clock of this machine is \d+ seconds ahead of that of http:\/\/10\.0\.0\.9:9991/,
    )
    clearInterval(reporting)
    await node.start()
    await node.daemon.stop()
    await lease.revoke()
  })

  test('a follower that meets an entry of a newer version stops with a sentence', async () => {
    const follower = (await cluster.followers())[0]!
    const leader = await cluster.leader()
    // An entry of its own at this moment would depose it, and it would meet this one too.
    leader.daemon.process.kill('SIGSTOP')
    const keys = new Keys('natter')
    const { kvs } = await etcd.call('/v3/kv/range', { key: encodeText(keys.head) })
    const head = { key: encodeText(keys.head), value: kvs[0].value }
    const { position, term } = readHead(decodeText(head.value))
    const next = position + 1
    const entry = `{"natter":"log","format":3,"first":${next},"last":${next},"term":${term}}\n`
    const key = encodeText(`${keys.log}${pad(next)}`)
    // As a leader commits it: the entry, and the head that says so.
    await etcd.call('/v3/kv/txn', {
      success: [
        { request_put: { key, value: encodeText(entry) } },
        { request_put: { key: head.key, value: encodeText(headText({ position: next, term })) } },
      ],
    })
    assert.equal(await follower.daemon.closed, 1)
    assert.match(follower.daemon.stderr, /entries of format 3, this natterd knows 2.*Upgrade this one/s)
    await etcd.call('/v3/kv/txn', {
      success: [{ request_delete_range: { key } }, { request_put: head }],
    })
    leader.daemon.process.kill('SIGCONT')
    const goOn = { type: 'direct', to: [owner.id], content: 'the leader goes on' } as const
    await until(async () => (await leader.as(owner).try(messages.send, goOn)).body.result === 'success')
  })
})
