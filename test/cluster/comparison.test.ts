// Daemons of a cluster compare their states: one whose folder was changed stops, and nothing else makes one stop.

import assert from 'node:assert/strict'
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import { events } from '../../daemon/api/events.ts'
import { messageFlags } from '../../daemon/api/messages/message-flags.ts'
import { messages } from '../../daemon/api/messages/messages.ts'
import { reactions } from '../../daemon/api/messages/reactions.ts'
import { typing } from '../../daemon/api/messages/typing.ts'
import { presence } from '../../daemon/api/people/presence.ts'
import { Comparison, checkStates } from '../../daemon/cluster/comparison.ts'
import { Etcd } from '../../daemon/cluster/etcd.ts'
import { Keys, type Member } from '../../daemon/cluster/keys.ts'
import { Membership } from '../../daemon/cluster/membership.ts'
import type { WorldInstance } from '../../daemon/cluster/world-instance.ts'
import { entryLine } from '../../daemon/journal/segment-format.ts'
import { type Node, startCluster, type TestCluster } from '../support/cluster.ts'
import type { Caller } from '../support/daemon.ts'
import { withoutEtcd } from '../support/etcd.ts'
import { assertPlain } from '../support/gives-up.ts'
import { until } from '../support/until.ts'

describe('daemons that compare their states', { skip: withoutEtcd ?? false }, () => {
  let cluster: TestCluster
  let etcd: Etcd
  let membership: Membership
  let owner: Caller

  before(async () => {
    cluster = await startCluster({ hosted: true })
    owner = cluster.nodes[0]!.owner
    etcd = new Etcd({ urls: cluster.etcd.urls })
    membership = new Membership(etcd, new Keys('natter'))
  })
  after(async () => {
    await etcd?.close()
    await cluster?.stop()
  })

  const send = (node: Node, content: string) =>
    node.as(owner).call(messages.send, { type: 'direct', to: [owner.id], content })
  /** Waits until all have compared at a position after this one; returns it. */
  const comparedAfter = (position: number) =>
    until(async () => {
      const { members } = await membership.view().catch(() => ({ members: [] }))
      const positions = new Set(members.map(({ digest }) => digest?.position))
      const [at = 0] = positions
      return members.length === 3 && positions.size === 1 && at > position ? at : undefined
    })

  test('agree under traffic, with snapshots at any time and a change of the leader', async () => {
    let running = true
    const actOnce = async (node: Node, i: number) => {
      const me = node.as(owner)
      const { id } = await send(node, `message ${i} at ${node.url}`)
      const { queue_id } = await me.call(events.register, { event_types: ['message', 'reaction', 'typing'] })
      await me.call(typing.set, { op: i % 2 ? 'start' : 'stop', type: 'direct', to: [owner.id] })
      await me.call(reactions.add, { message_id: id, emoji_name: 'octopus' })
      await me.call(messages.update, { message_id: id, content: `edited ${i}` })
      await me.call(messageFlags.update, { messages: [id], op: i % 2 ? 'add' : 'remove', flag: 'starred' })
      if (i % 3 === 0) await me.call(messages.delete, { message_id: id })
      const polled = await me.call(events.get, { queue_id, last_event_id: -1, dont_block: true })
      await me.call(events.get, { queue_id, last_event_id: polled.events.at(-1)?.id ?? -1, dont_block: true })
      await me.call(presence.update, { status: i % 2 ? 'active' : 'idle' })
      if (i % 2) await me.call(events.delete, { queue_id })
    }
    let acts = 0
    const traffic = cluster.nodes.map(async node => {
      // A busy machine may make etcd late, and a call be refused.
      for (; running; acts++) {
        await actOnce(node, acts).catch(() => {})
        // Comparisons take their time, whatever happens between them.
        await sleep(50)
      }
    })
    // Again and again: one that is asked for while another is being made is not made.
    const snapshots = setInterval(() => {
      for (const { daemon } of cluster.nodes) daemon.compact().catch(() => {})
    }, 500)
    let at = 0
    try {
      for (let round = 0; round < 5 || acts <= 30; round++) at = await comparedAfter(at)
    } finally {
      clearInterval(snapshots)
      running = false
      await Promise.all(traffic)
    }
    await cluster.endLease()
    at = await comparedAfter(at)
    // Read again from its folder, one has rows of a snapshot where the others have what they took.
    const [follower] = (await cluster.followers()) as [Node]
    await follower.daemon.end()
    await follower.start()
    await comparedAfter(at)
    await cluster.agree()
  })

  test('stop the one whose folder has something else at the same position; with a new folder it joins again', async () => {
    const [changed] = (await cluster.followers()) as [Node]
    await send(changed, 'what was really said')
    // Its newest entry is compared with the log.
    await send(changed, 'said after it')
    await cluster.agree()
    await changed.daemon.end()
    changed.hosted = false
    sayOtherwise(changed.data, 'what was really said', 'what was never said!')

    const daemon = await changed.start()
    assert.equal(await daemon.closed, 1, daemon.stderr)
    assert.match(daemon.stderr, /at position \d+ of the log this daemon had another state than http.* and http/)
    assert.match(daemon.stderr, /it differs in messages\. .*Move .*daemon-\d away and start natterd again/)
    assertPlain(daemon.stderr)

    renameSync(changed.data, `${changed.data}-away`)
    await changed.start()
    await comparedAfter(0)
    await cluster.agree()
  })
})

/** Changes the journal as no damage would: the sums of its lines fit. */
function sayOtherwise(folder: string, said: string, other: string): void {
  const file = join(folder, 'journal.ndjson')
  const lines = readFileSync(file, 'utf8').split(/(?<=\n)/)
  const changed = lines.map(line => {
    if (!line.includes(said)) return line
    const { position, ...entry } = JSON.parse(line.replaceAll(said, other))
    return entryLine(position, entry)
  })
  assert.notDeepEqual(changed, lines)
  writeFileSync(file, changed.join(''))
}

const member = (id: string, messages: string, more: Partial<Member> = {}): Member => ({
  id,
  url: `http://${id}`,
  peer: undefined,
  version: '1',
  position: 9,
  synced: 9,
  time: 0,
  digest: { position: 7, sums: { users: 'same', messages } },
  ...more,
})

test('a leader asks once for a daemon that joins: when that one can no longer pass the comparison with a snapshot', () => {
  let position = 9
  const record = async () => void position++
  const engine = {
    record,
    get position() {
      return position
    },
  }
  const comparison = new Comparison('/folder', () => ({ world: { engine } }) as unknown as WorldInstance)
  const look = (joiner: Partial<Member>) => {
    const members = [member('a', 'x'), member('b', 'x'), member('c', 'x', { digest: undefined, ...joiner })]
    comparison.look({ head: { position, term: 1 }, leader: undefined, members, revision: 1 }, 'a', 1)
    return position
  }
  // The first comparison of its term.
  assert.equal(look({ position: 0 }), 10)
  assert.equal(look({ position: 0 }), 10)
  assert.equal(look({ position: 10 }), 11)
  assert.equal(look({ position: 10 }), 11)
  assert.equal(look({ position: 11 }), 11)
})

describe('the daemon that stops', () => {
  const stopping = (leader: string | undefined, ...members: Member[]) => {
    const view = {
      head: { position: 9, term: 1 },
      leader: leader ? { id: leader, url: '', peer: undefined } : undefined,
      members,
      revision: 1,
    }
    return members.flatMap(({ id }) => {
      try {
        checkStates(view, id, '/folder')
        return []
      } catch (error) {
        assert.match(
          (error as Error).message,
          /at position 7 .*another state than http:.*differs in messages\..*Move \/folder/,
        )
        return [id]
      }
    })
  }

  test('is undefined while all agree', () => {
    assert.deepEqual(stopping('a', member('a', 'x'), member('b', 'x'), member('c', 'x')), [])
  })

  test('is one of the smaller side, even if it leads', () => {
    assert.deepEqual(stopping('a', member('a', 'y'), member('b', 'x'), member('c', 'x')), ['a'])
    assert.deepEqual(stopping('a', member('a', 'x'), member('b', 'x'), member('c', 'y'), member('d', 'z')), ['c', 'd'])
  })

  test('is one of the side without the leader if both are equal, and undefined without a leader', () => {
    assert.deepEqual(stopping('b', member('a', 'x'), member('b', 'y')), ['a'])
    assert.deepEqual(stopping(undefined, member('a', 'x'), member('b', 'y')), [])
  })

  test('is undefined before all daemons of its version have reported their sums at this position', () => {
    const at6 = { digest: { position: 6, sums: {} } }
    assert.deepEqual(stopping('a', member('a', 'x'), member('b', 'y'), member('c', 'x', at6)), [])
    assert.deepEqual(stopping('a', member('a', 'x'), member('b', 'y'), member('c', 'x', { digest: undefined })), [])
    assert.deepEqual(stopping('a', member('a', 'x'), member('b', 'y', { version: '2' })), [])
  })
})
