// Duties of the leader over a change of leader: webhooks, mail and scheduled messages. The next leader goes on with
// what is left, and does nothing a second time that the log says is done.

import assert from 'node:assert/strict'
import { readdirSync } from 'node:fs'
import { after, before, describe, test } from 'node:test'
import { bots } from '../../daemon/api/bots/bots.ts'
import { messages } from '../../daemon/api/messages/messages.ts'
import { scheduledMessages } from '../../daemon/api/messages/scheduled-messages.ts'
import { dataExports } from '../../daemon/api/organization/exports.ts'
import { organization } from '../../daemon/api/organization/organization.ts'
import { users } from '../../daemon/api/people/users.ts'
import { BotServer, json } from '../support/bot-server.ts'
import { type Node, startCluster, type TestCluster } from '../support/cluster.ts'
import type { Caller } from '../support/daemon.ts'
import { withoutEtcd } from '../support/etcd.ts'
import { mailsIn } from '../support/outbox.ts'
import { until } from '../support/until.ts'

describe('a new leader of a cluster', { skip: withoutEtcd ?? false }, () => {
  const server = new BotServer()
  let cluster: TestCluster
  let owner: Caller
  let bot: number

  before(async () => {
    await server.listen()
    cluster = await startCluster({ daemons: 2 })
    owner = cluster.nodes[0]!.owner
    const asked = { full_name: 'Echo', short_name: 'echo', bot_type: 3 as const, payload_url: server.url }
    bot = (await owner.call(bots.create, asked)).user_id
  })
  after(async () => {
    await cluster?.stop()
    await server.close()
  })

  const contents = async (node: Node) => {
    const asked = { anchor: 'newest', num_before: 1000, num_after: 0, apply_markdown: false } as const
    return (await node.as(owner).call(messages.list, asked)).messages.map(({ content }) => String(content))
  }
  const count = async (node: Node, wanted: string) => (await contents(node)).filter(text => text === wanted).length
  const kill = async (leader: Node) => {
    await leader.daemon.kill()
    await cluster.endLease()
    await cluster.leader()
  }
  const pair = async () => [await cluster.leader(), ...(await cluster.followers())] as [Node, Node]

  test('calls the server of a bot again whose answer was lost, and posts one reply', async () => {
    const [leader, other] = await pair()
    server.answer = () => {}
    await other.as(owner).call(messages.send, { type: 'direct', to: [bot], content: 'for a server that hangs' })
    await until(() => server.received.length === 1)
    server.answer = json({ content: 'answered at last' })
    await kill(leader)
    await until(async () => (await count(other, 'answered at last')) > 0)
    await leader.start()
    await cluster.agree()
    for (const node of cluster.nodes) assert.equal(await count(node, 'answered at last'), 1)
    const [first, second] = server.received
    assert.equal(server.received.length, 2)
    assert.equal(second!.body.message.id, first!.body.message.id)
  })

  test('does not call the server of a bot that has answered', async () => {
    const [leader, other] = await pair()
    const before = server.received.length
    server.answer = (response, { body }) => json({ content: `an answer to ${body.data}` })(response, { body } as never)
    await other.as(owner).call(messages.send, { type: 'direct', to: [bot], content: 'the old leader' })
    await until(async () => (await count(other, 'an answer to the old leader')) > 0)
    await kill(leader)
    // What waits is called in order: by now it would have called for the first one again.
    await other.as(owner).call(messages.send, { type: 'direct', to: [bot], content: 'the new leader' })
    await until(async () => (await count(other, 'an answer to the new leader')) > 0)
    assert.equal(server.received.length - before, 2)
    assert.equal(await count(other, 'an answer to the old leader'), 1)
    await leader.start()
  })

  test('writes no mail that the one before has written', async () => {
    const [leader, other] = await pair()
    const dismiss = async (node: Node, name: string) => {
      const asked = { email: `${name}@example.com`, password: 'a long password', full_name: name }
      const { user_id } = await node.as(owner).call(users.create, asked)
      await node.as(owner).call(users.deactivate, { user_id, deactivation_notification_comment: 'Thank you.' })
    }
    const mails = (to: string) => cluster.nodes.flatMap(({ data }) => mailsIn(data)).filter(mail => mail.includes(to))
    await dismiss(other, 'amy')
    await until(() => mails('To: amy@example.com').length > 0)
    await kill(leader)
    // Mails are written in order.
    await dismiss(other, 'bob')
    await until(() => mails('To: bob@example.com').length > 0)
    await leader.start()
    await cluster.agree()
    assert.equal(mails('To: amy@example.com').length, 1)
    assert.equal(mails('To: bob@example.com').length, 1)
    assert.equal(mailsIn(leader.data).length, 1, 'a follower writes none')
  })

  test('gives the others the archive of an export, which the next leader serves', async () => {
    const [leader, other] = await pair()
    await other.as(owner).call(dataExports.create, {})
    const finished = async (node: Node) =>
      (await node.as(owner).call(dataExports.list, {})).exports.find(one => !one.pending)
    const { export_url } = (await until(() => finished(other)))!
    const archives = (node: Node) =>
      readdirSync(node.data, { recursive: true })
        .map(String)
        .filter(name => /[0-9a-f]{64}$/.test(name))
    await until(() => archives(other).length > 0)
    assert.deepEqual(archives(other), archives(leader))
    await kill(leader)
    const { status } = await other.as(owner).raw('GET', new URL(export_url!).pathname)
    assert.equal(status, 200)
    await leader.start()
    await cluster.agree()
  })

  test('sends what is scheduled, once', async () => {
    const [leader, other] = await pair()
    const schedule = (content: string, seconds: number) =>
      other.as(owner).call(scheduledMessages.create, {
        type: 'direct',
        to: [owner.id],
        content,
        scheduled_delivery_timestamp: Math.floor(Date.now() / 1000) + seconds,
      })
    await schedule('sent by the old leader', 2)
    await until(async () => (await count(other, 'sent by the old leader')) > 0)
    await schedule('sent by the new leader', 2)
    await kill(leader)
    await until(async () => (await count(other, 'sent by the new leader')) > 0)
    await leader.start()
    await cluster.agree()
    for (const node of cluster.nodes)
      for (const who of ['old', 'new']) assert.equal(await count(node, `sent by the ${who} leader`), 1)
  })

  test('leaves an organization deactivated that only the flag of an earlier start would reactivate', async () => {
    const [leader, other] = await pair()
    await other.daemon.stop()
    await other.start(['--reactivate'])
    assert.match(other.daemon.stderr, /--reactivate has no effect, because this daemon does not lead/)
    await cluster.agree()
    await leader.as(owner).call(organization.deactivate, {})
    await kill(leader)
    const { body } = await other.as(owner).try(users.me, {})
    assert.equal(body.code, 'REALM_DEACTIVATED')
    await other.daemon.stop()
    await other.start(['--reactivate'])
    assert.equal((await other.as(owner).call(users.me, {})).user_id, owner.id)
  })
})
