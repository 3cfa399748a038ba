// One cluster and a number of faults, one after the other, under load. After each: nothing that was answered is lost or
// doubled, every reader has heard every message once and in order, all daemons have the same state, and no term of the
// log comes back after a later one.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { appendFileSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { messages } from '../../../daemon/api/messages/messages.ts'
import { decodeText, Etcd, encodeText, rangeEnd } from '../../../daemon/cluster/etcd.ts'
import { keysOf, readBatchHead } from '../../../daemon/cluster/keys.ts'
import { Node, secret } from '../../support/cluster.ts'
import type { Caller } from '../../support/daemon.ts'
import { type EtcdCluster, startEtcd } from '../../support/etcd.ts'
import { freePort } from '../../support/free-port.ts'
import { until } from '../../support/until.ts'
import { dice } from '../campaign.ts'
import { ask, Reader, Writer } from './clients.ts'
import { Gate } from './gate.ts'

interface Options {
  readonly faults: number
  readonly seed: number
  readonly note?: (text: string) => void
}

/** One daemon, and the gates on its ways to etcd and from the others. */
interface Place {
  readonly node: Node
  readonly etcd: readonly Gate[]
  readonly peers: Gate
  /** Whether its folder is a disk of its own, which can be filled. */
  readonly disk: boolean
}

interface Scene {
  readonly etcd: EtcdCluster
  readonly places: readonly Place[]
  readonly random: () => number
}

type Fault = (scene: Scene) => Promise<void>

const leaseSeconds = 2
/** Milliseconds in which another daemon must lead, with room for a loaded machine. */
const longerThanLease = leaseSeconds * 1000 + 1500

const faults: Readonly<Record<string, Fault>> = {
  async 'kill -9 of the leader'(scene) {
    const { node } = await leaderOf(scene)
    await node.daemon.kill()
    await leaderOf(scene)
    await node.start()
  },
  async 'kill -9 of a follower'(scene) {
    const { node } = pick(scene, (await followersOf(scene)) as Place[])
    await node.daemon.kill()
    await sleep(300)
    await node.start()
  },
  async 'kill -9 of a member of etcd'({ etcd, random }) {
    const member = etcd.members[Math.floor(random() * etcd.members.length)]!
    await member.kill()
    await sleep(1500)
    await member.start()
  },
  async 'kill -9 of the leader and of a member of etcd'(scene) {
    const { node } = await leaderOf(scene)
    const member = scene.etcd.members[Math.floor(scene.random() * scene.etcd.members.length)]!
    await Promise.all([node.daemon.kill(), member.kill()])
    await leaderOf(scene)
    await member.start()
    await node.start()
  },
  async 'a pause of the leader that is longer than its lease'(scene) {
    const { node } = await leaderOf(scene)
    node.daemon.process.kill('SIGSTOP')
    await sleep(longerThanLease)
    node.daemon.process.kill('SIGCONT')
  },
  async 'the leader cut off from etcd'(scene) {
    const { etcd } = await leaderOf(scene)
    for (const gate of etcd) gate.close()
    await sleep(longerThanLease)
    for (const gate of etcd) gate.open()
  },
  async 'a follower cut off from etcd'(scene) {
    const { etcd } = pick(scene, (await followersOf(scene)) as Place[])
    for (const gate of etcd) gate.close()
    await sleep(1500)
    for (const gate of etcd) gate.open()
  },
  async 'the leader cut off from the other daemons'(scene) {
    const { peers } = await leaderOf(scene)
    peers.close()
    await sleep(1500)
    peers.open()
  },
  async 'SIGTERM of the leader'(scene) {
    const { node } = await leaderOf(scene)
    node.daemon.process.kill('SIGTERM')
    assert.equal(await node.daemon.closed, 0, node.daemon.stderr)
    await node.start()
  },
  async 'a full disk at one daemon'({ places }) {
    const { node, disk } = places.at(-1)!
    if (!disk) return
    const filling = join(node.data, 'filling')
    fill(filling)
    // It notices at its next write and leaves; the others go on.
    assert.equal(await node.daemon.closed, 1, node.daemon.stderr)
    rmSync(filling)
    await node.start()
  },
  async 'kill -9 of all daemons'({ places }) {
    await Promise.all(places.map(({ node }) => node.daemon.kill()))
    await Promise.all(places.map(({ node }) => node.start()))
  },
}

export async function campaign({ faults: count, seed, note = () => {} }: Options) {
  const random = dice(seed)
  const folder = mkdtempSync(join(tmpdir(), 'natter-proof-cluster-'))
  const etcd = await startEtcd(3)
  const places = await buildPlaces(etcd, folder)
  const scene = { etcd, places, random }
  const seen = { writes: 0, unanswered: 0, leaders: 0, moves: 0 }
  try {
    await Promise.all(places.map(({ node }) => node.start()))
    const { owner } = places[0]!.node
    const urls = places.map(({ node }) => node.url)
    const readers = await Promise.all(urls.map((_, at) => Reader.begin(urls, at, owner)))
    const names = Object.keys(faults)
    // Every kind once before any comes again.
    let left: string[] = []
    for (let round = 0; round < count; round++) {
      if (left.length === 0) left = [...names]
      const name = left.splice(Math.floor(random() * left.length), 1)[0]!
      note(`${round + 1}: ${name}`)
      const writers = urls.map((url, at) => new Writer(`${round}.${at}`, url, owner))
      let reading = true
      const polling = readers.map(async reader => {
        while (reading) await reader.poll()
      })
      try {
        await until(() => writers.some(({ answered }) => answered.length > 2))
        await faults[name]!(scene)
        await Promise.all(
          places.map(({ node }) => until(async () => (await node.ready().catch(() => undefined))?.ready)),
        )
        const before = writers.map(({ answered }) => answered.length)
        await until(() => writers.every(({ answered }, at) => answered.length > before[at]!))
      } finally {
        await Promise.all(writers.map(writer => writer.stop()))
        reading = false
        // Answers the polls that wait.
        await ask(urls[0]!, owner, messages.send, { type: 'direct', to: [owner.id], content: `${round}.end` })
        await Promise.all(polling)
      }
      const answered = writers.flatMap(writer => writer.answered)
      seen.writes += answered.length
      seen.unanswered += writers.reduce((sum, writer) => sum + writer.unanswered, 0)
      await agree(places)
      await checkMessages(places, owner, answered, readers)
    }
    seen.moves = readers.reduce((sum, { moves }) => sum + moves, 0)
    seen.leaders = await checkLog(etcd)
    return seen
  } finally {
    for (const { node } of places) node.daemon?.process.kill('SIGKILL')
    await Promise.all(places.map(({ node }) => node.daemon?.closed))
    for (const { etcd: gates, peers } of places) for (const gate of [...gates, peers]) gate.end()
    await etcd.stop()
    for (const { node, disk } of places) if (disk) spawnSync('umount', [node.data])
    rmSync(folder, { recursive: true, force: true })
  }
}

async function buildPlaces(etcd: EtcdCluster, folder: string): Promise<Place[]> {
  const secretFile = join(folder, 'secret')
  writeFileSync(secretFile, secret)
  const places: Place[] = []
  for (let i = 0; i < 3; i++) {
    const port = await freePort()
    const data = join(folder, `daemon-${i}`)
    const disk = i === 2 && mountSmallDisk(data)
    const gates = await Promise.all(etcd.urls.map(url => Gate.to(url)))
    const peers = await Gate.to(`http://127.0.0.1:${port}`)
    const flags = [
      ...['--cluster', gates.map(({ url }) => url).join(','), '--secret-file', secretFile],
      ...['--cluster-lease', String(leaseSeconds), '--advertise', peers.url],
    ]
    places.push({ node: new Node(data, port, flags), etcd: gates, peers, disk })
  }
  return places
}

/** False where nobody but the administrator may mount. */
function mountSmallDisk(folder: string): boolean {
  mkdirSync(folder, { recursive: true })
  return spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=48m', 'natter-proof', folder]).status === 0
}

/** Leaves no room for a single byte. */
function fill(file: string): void {
  for (const size of [1024 * 1024, 4096, 1])
    try {
      for (;;) appendFileSync(file, Buffer.alloc(size))
    } catch (error) {
      assert.equal((error as NodeJS.ErrnoException).code, 'ENOSPC')
    }
}

/** All daemons at one position, with the same sums of every section of the state. */
async function agree(places: readonly Place[]): Promise<void> {
  const states = await until(async () => {
    const found = await Promise.all(places.map(({ node }) => node.state().catch(() => undefined)))
    return new Set(found.map(state => state?.position)).size === 1 && found[0] ? found : undefined
  })
  for (const state of states) assert.deepEqual(state, states[0], 'two daemons have different states')
}

async function checkMessages(
  places: readonly Place[],
  owner: Caller,
  answered: readonly string[],
  readers: readonly Reader[],
): Promise<void> {
  const { url } = places[0]!.node
  const params = { anchor: 'newest', num_before: 5000, num_after: 0, apply_markdown: false }
  // A daemon that has just lost the lead reads its store again.
  const list = await until(async () => {
    const answer = await ask(url, owner, messages.list, params)
    return answer?.result === 'success' && answer
  })
  const kept = (list.messages as { content: string }[]).map(({ content }) => content)
  const counts = new Map<string, number>()
  for (const content of kept) counts.set(content, (counts.get(content) ?? 0) + 1)
  for (const content of answered)
    assert.equal(counts.get(content), 1, `${content} is kept ${counts.get(content)} times`)
  const end = performance.now() + 30_000
  // Those whose writers got no answer may be there too: then everybody has heard them.
  const wanted = () => kept
  for (const reader of readers) {
    const known = new Set(reader.heard)
    await reader.hear(() => wanted().filter(content => answered.includes(content) || known.has(content)), end)
    assert.equal(new Set(reader.heard).size, reader.heard.length, 'a reader heard something twice')
    const order = new Map(kept.map((content, index) => [content, index]))
    const places = reader.heard.map(content => order.get(content)).filter(place => place !== undefined)
    for (let i = 1; i < places.length; i++) assert.ok(places[i]! > places[i - 1]!, 'a reader heard things out of order')
  }
}

/** Positions without a gap, and terms that never go back. Returns how many leaders there were. */
async function checkLog(etcd: EtcdCluster): Promise<number> {
  const direct = new Etcd({ urls: etcd.urls })
  try {
    const { log } = keysOf('natter')
    const range = { key: encodeText(log), range_end: encodeText(rangeEnd(log)), sort_target: 'KEY' }
    const { kvs } = await direct.call('/v3/kv/range', range)
    const terms = new Set<number>()
    let last: { last: number; term: number } | undefined
    for (const { value } of kvs) {
      const head = readBatchHead(decodeText(value).split('\n', 1)[0]!)
      if (last) {
        assert.equal(head.first, last.last + 1, 'the log has a gap')
        assert.ok(head.term >= last.term, `term ${head.term} after ${last.term}`)
      }
      last = head
      terms.add(head.term)
    }
    return terms.size
  } finally {
    await direct.close()
  }
}

async function leaderOf({ places }: Scene): Promise<Place> {
  return until(async () => {
    const leads = await Promise.all(places.map(({ node }) => isRunning(node) && node.isLeader()))
    return places[leads.indexOf(true)]
  })
}

async function followersOf(scene: Scene): Promise<Place[]> {
  const leader = await leaderOf(scene)
  return scene.places.filter(place => place !== leader)
}

function pick({ random }: Scene, places: readonly Place[]): Place {
  return places[Math.floor(random() * places.length)]!
}

function isRunning({ daemon }: Node): boolean {
  return daemon.process.exitCode === null && daemon.process.signalCode === null
}
