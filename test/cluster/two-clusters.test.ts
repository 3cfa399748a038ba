// Two organizations, each with a cluster of its own, behind the nginx that docs/scale.md shows: the host name chooses the cluster.

import assert from 'node:assert/strict'
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { keyHeader } from '../../daemon/api/idempotency.ts'
import { startCluster, type TestCluster } from '../support/cluster.ts'
import { withoutEtcd } from '../support/etcd.ts'
import { freePort } from '../support/free-port.ts'
import { type HttpOptions, type HttpReply, send } from '../support/http.ts'
import { startNginx, withoutNginx } from '../support/nginx.ts'
import { root } from '../support/sources.ts'
import { until } from '../support/until.ts'

const red = 'red.example.com'
const blue = 'blue.example.com'

describe('two clusters behind nginx', { skip: withoutEtcd ?? withoutNginx ?? false }, () => {
  const clusters = new Map<string, TestCluster>()
  let port: number
  let stopNginx = async () => {}

  before(async () => {
    for (const host of [red, blue]) {
      const flags = ['--url', `http://${host}`, '--trust-proxy']
      // A daemon of the first is killed.
      clusters.set(host, await startCluster({ daemons: 2, flags, hosted: host === blue }))
    }
    port = await freePort()
    const page = readFileSync(join(root, 'docs/scale.md'), 'utf8')
    // The page has three daemons in each cluster, and here are two.
    const config = [red, blue]
      .flatMap((host, net) => clusters.get(host)!.nodes.map(({ port }, at) => [`10.0.${net + 1}.${at + 1}:9991`, port]))
      .reduce(
        (text, [shown, real]) => text.replace(`server ${shown}`, `server 127.0.0.1:${real}`),
        /```nginx\n(.*?)```/s.exec(page)![1]!,
      )
      .replace(/ *server 10\.0\.\d\.3:9991.*\n/g, '')
      .replaceAll('listen 80', `listen 127.0.0.1:${port}`)
    stopNginx = await startNginx(config, port)
  })
  after(async () => {
    await stopNginx()
    await Promise.all([...clusters.values()].map(cluster => cluster.stop()))
  })

  /** As the owner of the organization with this host name. */
  function call(host: string, method: string, path: string, fields: Record<string, string> = {}, key?: string) {
    const { email, key: apiKey } = clusters.get(host)!.nodes[0]!.owner
    const form = new URLSearchParams(fields).toString()
    const options: HttpOptions = {
      method,
      auth: `${email}:${apiKey}`,
      headers: { Host: host, 'Content-Type': 'application/x-www-form-urlencoded', ...(key && { [keyHeader]: key }) },
      ...(method === 'GET' ? { query: form } : { body: form }),
    }
    return send(`http://127.0.0.1:${port}/api/v1${path}`, options)
  }

  /** Asks until the answer is 200: nginx may not have missed a daemon yet that is gone, or is not ready. */
  function answered(ask: () => Promise<HttpReply>): Promise<HttpReply> {
    return until(async () => {
      const reply = await ask().catch(() => undefined)
      return reply?.status === 200 && reply
    })
  }

  /** Until it is answered, and once. */
  async function post(host: string, content: string): Promise<void> {
    const key = randomUUID()
    const to = `[${clusters.get(host)!.nodes[0]!.owner.id}]`
    await answered(() => call(host, 'POST', '/messages', { type: 'direct', to, content }, key))
  }

  async function contents(host: string): Promise<string[]> {
    const query = { anchor: 'newest', num_before: '100', num_after: '0', apply_markdown: 'false' }
    const { body } = await call(host, 'GET', '/messages', query)
    return (body.messages ?? []).map((message: { content: string }) => message.content)
  }

  test('a host name leads to its organization and to no other', async () => {
    for (const host of [red, blue]) {
      const { body } = await answered(() => call(host, 'GET', '/server_settings'))
      assert.equal(body.realm_url, `http://${host}`)
      await post(host, `for ${host}`)
    }
    for (const [host, other] of [
      [red, blue],
      [blue, red],
    ] as const) {
      await until(async () => (await contents(host)).includes(`for ${host}`))
      assert.ok(!(await contents(host)).includes(`for ${other}`))
    }
  })

  test('a host name that no cluster has is refused by nginx', async () => {
    const reply = await send(`http://127.0.0.1:${port}/api/v1/server_settings`, {
      headers: { Host: 'green.example.com' },
    })
    assert.equal(reply.status, 404)
    assert.deepEqual(reply.body, {})
  })

  test('a poll hears what was sent through another daemon of its cluster', async () => {
    const { body } = await answered(() => call(red, 'POST', '/register', { event_types: '["message"]' }))
    let last = '-1'
    const heard = until(async () => {
      const query = { queue_id: body.queue_id, last_event_id: last }
      const reply = await call(red, 'GET', '/events', query).catch(() => undefined)
      const events: { id: number; message?: { content: string } }[] = reply?.body.events ?? []
      last = String(events.at(-1)?.id ?? last)
      return events.some(({ message }) => message?.content.includes('through the proxy'))
    })
    await post(red, 'through the proxy')
    assert.ok(await heard)
  })

  test('when a daemon dies, its organization goes on, and the other does not notice', async () => {
    const cluster = clusters.get(red)!
    const leader = await cluster.leader()
    await leader.daemon.kill()
    await cluster.endLease()
    await post(red, 'after the leader')
    await until(async () => (await contents(red).catch((): string[] => [])).includes('after the leader'))
    await answered(() => call(blue, 'GET', '/users/me'))
  })
})
