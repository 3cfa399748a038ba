// Three daemons over one log: whatever a client asks of any of them, it gets what one daemon would answer.

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { events } from '../../daemon/api/events.ts'
import { messages } from '../../daemon/api/messages/messages.ts'
import { typing } from '../../daemon/api/messages/typing.ts'
import { presence } from '../../daemon/api/people/presence.ts'
import { type Node, startCluster, type TestCluster } from '../support/cluster.ts'
import type { Caller } from '../support/daemon.ts'
import { withoutEtcd } from '../support/etcd.ts'
import { until } from '../support/until.ts'

describe('daemons of a cluster', { skip: withoutEtcd ?? false }, () => {
  let cluster: TestCluster
  let leader: Node
  let followers: Node[]
  let owner: Caller

  before(async () => {
    cluster = await startCluster()
    leader = await cluster.leader()
    followers = await cluster.followers()
    owner = leader.owner
  })
  after(() => cluster.stop())

  const sendTo = (node: Node, content: string) =>
    node.as(owner).call(messages.send, { type: 'direct', to: [owner.id], content })
  const contentAt = async (node: Node, id: number) =>
    (await node.as(owner).call(messages.get, { message_id: id, apply_markdown: false })).message.content

  test('one leads, and /readyz of each says who, how far everybody is, and what the log holds', async () => {
    for (const node of cluster.nodes) {
      const {
        status,
        ready,
        cluster: details,
      } = await until(async () => {
        const answer = await node.ready()
        return answer.cluster.daemons.length === 3 && answer.ready && answer
      })
      assert.equal(status, 200)
      assert.equal(ready, true)
      assert.equal(details.role, node === leader ? 'leader' : 'follower')
      assert.equal(details.leader, leader.url)
      assert.equal(details.etcd, 'reachable')
    }
  })

  test('the keys of the accounts are the same at every daemon', () => {
    for (const node of cluster.nodes) assert.equal(node.owner.key, owner.key)
  })

  test('who writes at a follower reads it there at once', async () => {
    for (const node of followers)
      for (let i = 0; i < 5; i++) {
        const { id } = await sendTo(node, `number ${i}`)
        assert.equal(await contentAt(node, id), `number ${i}`)
      }
  })

  test('a refusal is the same wherever it is asked for', async () => {
    const asked = { type: 'direct', to: [999_999], content: 'x' }
    const [first, ...others] = await Promise.all(cluster.nodes.map(node => node.as(owner).try(messages.send, asked)))
    for (const other of others) assert.deepEqual(other.body, first!.body)
  })

  test('all daemons have the same state', async () => {
    await Promise.all(cluster.nodes.map(node => sendTo(node, 'from everywhere')))
    await cluster.agree()
  })

  test('a queue goes on at another daemon: no event is missing and none comes twice', async () => {
    const { queue_id } = await followers[0]!.as(owner).call(events.register, { event_types: ['message'] })
    const heard: string[] = []
    let last = -1
    for (let i = 0; i < 12; i++) {
      const from = cluster.nodes[(i + 1) % 3]!
      await sendTo(from, `hop ${i}`)
      // Some of them wait until the next poll, at another daemon.
      if (i % 3 === 1) continue
      const at = cluster.nodes[i % 3]!
      const reply = await at.as(owner).call(events.get, { queue_id, last_event_id: last })
      for (const event of reply.events as { id: number; message?: { content: string } }[]) {
        assert.ok(event.id > last, `event ${event.id} after ${last}`)
        last = event.id
        if (event.message) heard.push(event.message.content)
      }
    }
    assert.deepEqual(heard, Array.from({ length: 12 }, (_, i) => `hop ${i}`).slice(0, heard.length))
    assert.ok(heard.length >= 10, heard.join())
  })

  test('a poll that waits at a follower is answered when somebody writes at the other', async () => {
    const [one, other] = followers as [Node, Node]
    const { queue_id } = await one.as(owner).call(events.register, { event_types: ['message'] })
    const waiting = one.as(owner).call(events.get, { queue_id, last_event_id: -1 })
    await sendTo(other, 'wake up')
    const { events: told } = await waiting
    assert.equal((told[0] as { type: string }).type, 'message')
  })

  test('an event ID that no daemon has told is refused', async () => {
    for (const node of cluster.nodes) {
      const { queue_id } = await node.as(owner).call(events.register, {})
      await node.as(owner).refused(events.get, { queue_id, last_event_id: 1_000_000 }, 'BAD_REQUEST')
    }
  })

  test('typing at one daemon is heard at the others', async () => {
    const queues = await Promise.all(
      cluster.nodes.map(node => node.as(owner).call(events.register, { event_types: ['typing'] })),
    )
    const waiting = cluster.nodes.map((node, i) =>
      node.as(owner).call(events.get, { queue_id: queues[i]!.queue_id!, last_event_id: -1 }),
    )
    await followers[0]!.as(owner).call(typing.set, { op: 'start', type: 'direct', to: [owner.id] })
    for (const { events: told } of await Promise.all(waiting))
      assert.equal((told[0] as { type: string }).type, 'typing')
  })

  test('presence that was reported at one daemon is seen at the others', async () => {
    await followers[0]!.as(owner).call(presence.update, { status: 'active', ping_only: true })
    for (const node of cluster.nodes)
      await until(async () => {
        const reply = await node.as(owner).try(presence.ofUser, { user_id_or_email: String(owner.id) })
        return reply.body.result === 'success'
      })
  })

  test('a file that was uploaded at one daemon is read at the others', async () => {
    const body = new FormData()
    body.append('file', new Blob(['the bytes of a file']), 'note.txt')
    const auth = `Basic ${Buffer.from(owner.auth!).toString('base64')}`
    const sent = await fetch(`${followers[0]!.url}/api/v1/user_uploads`, {
      method: 'POST',
      headers: { Authorization: auth },
      body,
    })
    const { url } = (await sent.json()) as { url: string }
    for (const node of cluster.nodes) {
      const read = await fetch(`${node.url}${url}`, { headers: { Authorization: auth } })
      assert.equal(await read.text(), 'the bytes of a file')
    }
  })

  test('the addresses for the other daemons are closed to everybody else', async () => {
    for (const token of ['', 'x'.repeat(64)]) {
      const response = await fetch(`${leader.url}/cluster/v1/state`, { headers: { 'natter-cluster': token } })
      assert.equal(response.status, 401)
    }
  })
})
