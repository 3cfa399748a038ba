// Joining and leaving: from nothing, after a long absence, from a single daemon and back; and whom a cluster does not take.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { cpSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { messages } from '../../daemon/api/messages/messages.ts'
import { Etcd, encodeText } from '../../daemon/cluster/etcd.ts'
import { keysOf } from '../../daemon/cluster/keys.ts'
import { type Node, secret, startCluster, type TestCluster } from '../support/cluster.ts'
import { type Caller, launch } from '../support/daemon.ts'
import { startEtcd, withoutEtcd } from '../support/etcd.ts'
import { freePort } from '../support/free-port.ts'
import { until } from '../support/until.ts'

const skip = withoutEtcd ?? false
const natterd = join(import.meta.dirname, '../../bin/natterd')

/** Starts a daemon that must refuse to start; returns what it says. */
function refusal(flags: readonly string[]): string {
  const { status, stderr } = spawnSync(process.execPath, [natterd, '--port', '0', '--no-profile', ...flags], {
    encoding: 'utf8',
    timeout: 60_000,
  })
  assert.ok(status === 1 || status === 2, `natterd ended with ${status}: ${stderr}`)
  assert.doesNotMatch(stderr, /\n\s+at /, 'a stack trace')
  return stderr
}

describe('a daemon that joins a cluster', { skip }, () => {
  let cluster: TestCluster
  let owner: Caller
  let first: Node

  before(async () => {
    cluster = await startCluster({ daemons: 1 })
    first = cluster.nodes[0]!
    owner = first.owner
  })
  after(() => cluster.stop())

  const send = (node: Node, content: string) =>
    node.as(owner).call(messages.send, { type: 'direct', to: [owner.id], content })
  /** More than the log keeps for those who come back soon. */
  const sendMany = async () => {
    for (let i = 0; i < 20; i++) await Promise.all(Array.from({ length: 60 }, () => send(first, 'one of many')))
  }
  /** Waits until the log in etcd no longer has what comes after the position. */
  const trimmedBeyond = async (position: number) => {
    const etcd = new Etcd({ urls: cluster.etcd.urls })
    const { log } = keysOf('natter')
    const oldest = { key: encodeText(log), range_end: encodeText(`${log}~`), limit: 1, keys_only: true }
    try {
      await until(async () => {
        const { kvs } = await etcd.call('/v3/kv/range', { ...oldest, sort_order: 'ASCEND', sort_target: 'KEY' })
        return Number(Buffer.from(kvs[0].key, 'base64').toString().slice(log.length)) > position + 1
      })
    } finally {
      await etcd.close()
    }
  }

  test('with an empty folder, takes the log from its beginning', async () => {
    await send(first, 'before anybody joined')
    const node = await cluster.add()
    await node.start()
    assert.equal(node.owner.key, owner.key)
    await cluster.agree()
    await node.daemon.kill()
  })

  test('with an empty folder, fetches a snapshot when the log is trimmed, under load', async () => {
    await sendMany()
    await trimmedBeyond(0)
    let running = true
    let sent = 0
    const writing = (async () => {
      while (running) {
        await send(first, `while somebody joins ${sent}`)
        sent++
      }
    })()
    const node = await cluster.add()
    await node.start()
    assert.ok(existsSync(join(node.data, 'state.json')), 'it fetched no snapshot')
    running = false
    await writing
    assert.ok(sent > 0)
    await cluster.agree()
  })

  test('after a long absence, fetches a snapshot too', async () => {
    const [, away] = cluster.nodes
    // It was killed in the first test.
    const { position } = (await first.ready()).cluster
    await sendMany()
    await trimmedBeyond(position)
    await away!.start()
    await cluster.agree()
  })

  test('with a copy of the folder of a daemon that runs, is refused', async () => {
    const [, other] = cluster.nodes
    const copy = `${other!.data}-copy`
    cpSync(other!.data, copy, { recursive: true })
    const text = refusal([...other!.flags, '--data', copy])
    assert.match(text, /uses a copy of this folder/)
  })

  test('with the folder of another cluster, or of none, is refused', async () => {
    const foreign = mkdtempSync(join(tmpdir(), 'natter-foreign-'))
    try {
      const single = await launch(foreign, { flags: ['--secret', secret] })
      await single.stop()
      assert.match(refusal([...first.flags, '--data', foreign]), /has a store that does not belong to the cluster/)
      writeFileSync(join(foreign, 'cluster.json'), '{"cluster":"x","name":"natter","member":"y"}')
      assert.match(refusal([...first.flags, '--data', foreign]), /belongs to another cluster/)
      assert.match(
        refusal([...first.flags, '--data', foreign, '--cluster-name', 'b']),
        /belongs to the cluster 'natter'/,
      )
      assert.match(refusal(['--data', foreign, '--secret', secret]), /belongs to a cluster/)
    } finally {
      rmSync(foreign, { recursive: true, force: true })
    }
  })

  test('with another secret, is refused', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'natter-secret-'))
    try {
      writeFileSync(join(folder, 'other-secret'), 'quite another secret')
      const flags = [...first.flags, '--data', join(folder, 'store'), '--secret-file', join(folder, 'other-secret')]
      assert.match(refusal(flags), /the secret is not that of the cluster/)
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  })
})

describe('a single daemon and a cluster', { skip }, () => {
  test('the folder of a single daemon founds a cluster, and leaves it again', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'natter-moving-'))
    const etcd = await startEtcd(1)
    const secretFile = join(folder, 'secret.txt')
    const data = join(folder, 'store')
    writeFileSync(secretFile, secret)
    const flags = ['--secret-file', secretFile]
    const clustered = [...flags, '--cluster', etcd.urls.join(','), '--cluster-lease', '2', '--cluster-name', 'moved']
    try {
      const single = await launch(data, { flags })
      const note = { type: 'direct' as const, to: [single.owner.id], content: 'from the single daemon' }
      const { id } = await single.owner.call(messages.send, note)
      single.process.kill('SIGTERM')
      assert.equal(await single.closed, 0)

      const one = await launch(data, { flags: [...clustered, '--port', String(await freePort())] })
      const two = await launch(join(folder, 'second'), { flags: [...clustered, '--port', String(await freePort())] })
      const fetched = await two.owner.call(messages.get, { message_id: id, apply_markdown: false })
      assert.equal(fetched.message.content, 'from the single daemon')
      const later = await two.owner.call(messages.send, { ...note, content: 'from the cluster' })
      for (const daemon of [two, one]) {
        daemon.process.kill('SIGTERM')
        assert.equal(await daemon.closed, 0, daemon.stderr)
      }

      rmSync(join(folder, 'second', 'cluster.json'))
      const again = await launch(join(folder, 'second'), { flags })
      const kept = await again.owner.call(messages.get, { message_id: later.id, apply_markdown: false })
      assert.equal(kept.message.content, 'from the cluster')
      await again.stop()
    } finally {
      await etcd.stop()
      rmSync(folder, { recursive: true, force: true })
    }
  })
})

describe('natterd --cluster', { skip }, () => {
  test('says what is wrong with the flags', () => {
    const cluster = ['--cluster', 'http://127.0.0.1:1']
    const cases: [string[], RegExp][] = [
      [cluster, /--cluster needs --secret-file/],
      [[...cluster, '--secret', secret, '--memory'], /--memory and --cluster exclude each other/],
      [[...cluster, '--secret', secret, '--control'], /the control plane is for single daemons/],
      [[...cluster, '--secret', secret, '--clock', 'frozen'], /a cluster runs on the real time/],
      [[...cluster, '--secret', secret, '--new-secret'], /--new-secret and --cluster exclude each other/],
      [[...cluster, '--secret', secret, '--cluster-name', 'A b'], /--cluster-name takes/],
      [['--cluster', 'nonsense', '--secret', secret], /--cluster takes URLs such as/],
      [[...cluster, '--secret', secret, '--cluster-user', 'root'], /go together/],
      [['--advertise', 'http://10.0.0.1'], /--advertise needs --cluster/],
      [[...cluster, '--secret', secret, '--host', '0.0.0.0'], /--cluster needs --advertise URL here/],
    ]
    for (const [flags, wanted] of cases) assert.match(refusal(flags), wanted)
  })

  test('says what is wrong with etcd, and writes nothing', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'natter-bad-etcd-'))
    const data = join(folder, 'store')
    const flags = ['--secret', secret, '--data', data]
    const nowhere = `http://127.0.0.1:${await freePort()}`
    const etcd = await startEtcd(1, ['--quota-backend-bytes', '8000000'])
    const direct = new Etcd({ urls: etcd.urls })
    try {
      assert.match(refusal([...flags, '--cluster', nowhere]), /etcd cannot be reached at http:\/\/127\.0\.0\.1:\d+: /)
      const cluster = ['--cluster', etcd.urls[0]!]
      assert.match(refusal([...flags, ...cluster, ...password(folder, 'wrong')]), /authentication is not enabled/)

      const big = 'x'.repeat(1_000_000)
      for (let i = 0; ; i++) {
        const put = { key: encodeText(`/filler/${i}`), value: encodeText(big) }
        if (
          await direct.call('/v3/kv/put', put).then(
            () => false,
            () => true,
          )
        )
          break
      }
      assert.match(refusal([...flags, ...cluster]), /the database of etcd is full/)
      const { kvs } = await direct.call('/v3/kv/range', {
        key: encodeText('/natter/'),
        range_end: encodeText('/natter0'),
      })
      assert.equal(kvs, undefined, 'something was written to etcd')
    } finally {
      await direct.close()
      await etcd.stop()
      rmSync(folder, { recursive: true, force: true })
    }
  })

  test('uses the user and password of etcd, and says when they are wrong', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'natter-auth-'))
    const etcd = await startEtcd(1)
    const direct = new Etcd({ urls: etcd.urls })
    const flags = ['--secret', secret, '--data', join(folder, 'store'), '--cluster', etcd.urls[0]!]
    try {
      await direct.call('/v3/auth/user/add', { name: 'root', password: 'right' })
      await direct.call('/v3/auth/role/add', { name: 'root' })
      await direct.call('/v3/auth/user/grant', { user: 'root', role: 'root' })
      await direct.call('/v3/auth/enable', {})
      assert.match(
        refusal([...flags, ...password(folder, 'wrong')]),
        /authentication failed, invalid user ID or password/,
      )
      assert.match(refusal(flags), /user name is empty|permission denied/)
      const daemon = await launch(join(folder, 'store'), {
        flags: [...flags.slice(0, 2), ...flags.slice(4), ...password(folder, 'right')],
      })
      daemon.process.kill('SIGTERM')
      assert.equal(await daemon.closed, 0, daemon.stderr)
    } finally {
      await direct.close()
      await etcd.stop()
      rmSync(folder, { recursive: true, force: true })
    }
  })

  function password(folder: string, text: string): string[] {
    const file = join(folder, `password-${text}`)
    writeFileSync(file, text)
    return ['--cluster-user', 'root', '--cluster-password-file', file]
  }
})
