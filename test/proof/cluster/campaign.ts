// One cluster and a number of faults, one after the other, under load. After each: nothing that was answered is lost or
// doubled, every reader has heard every message once and in order, all daemons have the same state, and no term of the
// log comes back after a later one.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { messages } from '../../../daemon/api/messages/messages.ts'
import { decodeText, Etcd, encodeText, rangeEnd } from '../../../daemon/cluster/etcd.ts'
import { Keys, readBatchHead } from '../../../daemon/cluster/keys.ts'
import { Node, secret } from '../../support/cluster.ts'
import type { Caller } from '../../support/daemon.ts'
import type { EtcdCluster } from '../../support/etcd.ts'
import { until } from '../../support/until.ts'
import { dice } from '../campaign.ts'
import { ask, Reader, Writer } from './clients.ts'
import { deposing, faults, leaseSeconds, type Place } from './faults.ts'
import { gatedNetwork, namespacedNetwork, type Wires } from './network.ts'

interface Options {
  readonly faults: number
  readonly seed: number
  /** Made by the kernel, where that is possible; otherwise in this process. */
  readonly namespaces?: boolean
  /** Milliseconds between two writes of one writer; by default none. Most of a campaign waits for leases to end. */
  readonly pause?: number
  readonly note?: (text: string) => void
}

export async function campaign({ faults: count, seed, namespaces = false, pause = 0, note = () => {} }: Options) {
  const random = dice(seed)
  const folder = mkdtempSync(join(tmpdir(), 'natter-proof-cluster-'))
  const network = await (namespaces ? namespacedNetwork() : gatedNetwork())
  const { etcd } = network
  const places = buildPlaces(network.wires, folder)
  const scene = { etcd, places, random }
  const seen = { writes: 0, unanswered: 0, leaders: 0, moves: 0, skipped: new Set<string>() }
  try {
    await Promise.all(places.map(({ node }) => node.start()))
    const { owner } = places[0]!.node
    const urls = places.map(({ wires }) => wires.url)
    const readers = await Promise.all(urls.map((_, at) => Reader.begin(urls, at, owner)))
    const names = Object.keys(faults)
    // Collected after every fault, because the log is trimmed.
    const terms = new Set<number>()
    // Every kind once before any comes again.
    let left: string[] = []
    for (let round = 0; round < count; round++) {
      if (left.length === 0) left = [...names]
      // However few there are, the lead changes.
      const open = round === 0 ? deposing : left
      const name = open[Math.floor(random() * open.length)]!
      left.splice(left.indexOf(name), 1)
      note(`${round + 1}: ${name}`)
      const writers = urls.map((url, at) => new Writer(`${round}.${at}`, url, owner, pause))
      let reading = true
      const polling = readers.map(async reader => {
        while (reading) await reader.poll()
      })
      try {
        await until(() => writers.some(({ answered }) => answered.length > 2))
        const skipped = await faults[name]!(scene)
        if (typeof skipped === 'string') seen.skipped.add(`${name}: ${skipped}`)
        await Promise.all(
          places.map(({ node }) => until(async () => (await node.ready(2).catch(() => undefined))?.ready)),
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
      await checkLog(etcd, terms)
    }
    seen.moves = readers.reduce((sum, { moves }) => sum + moves, 0)
    seen.leaders = terms.size
    return seen
  } finally {
    for (const { node } of places) node.daemon?.process.kill('SIGKILL')
    await Promise.all(places.map(({ node }) => node.daemon?.closed))
    await network.end()
    for (const { node, disk } of places) if (disk) spawnSync('umount', [node.data])
    rmSync(folder, { recursive: true, force: true })
  }
}

function buildPlaces(wires: readonly Wires[], folder: string): Place[] {
  const secretFile = join(folder, 'secret')
  writeFileSync(secretFile, secret)
  return wires.map((wire, i) => {
    const data = join(folder, `daemon-${i}`)
    const disk = i === wires.length - 1 && mountSmallDisk(data)
    // In namespaces they do not listen on loopback, where rate limits are off.
    const flags = [
      ...['--no-rate-limit', '--cluster', wire.etcd.join(','), '--secret-file', secretFile],
      ...['--cluster-lease', String(leaseSeconds), '--cluster-advertise', wire.advertised],
    ]
    return { node: new Node(data, wire.ports, flags, wire.host), wires: wire, disk }
  })
}

/** False where only the administrator may mount. */
function mountSmallDisk(folder: string): boolean {
  mkdirSync(folder, { recursive: true })
  return spawnSync('mount', ['-t', 'tmpfs', '-o', 'size=48m', 'natter-proof', folder]).status === 0
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
  // Writes without an answer may be there too; then all clients have received them.
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

/** Positions without a gap, and terms that never go back. Adds the terms of the leaders that wrote them. */
async function checkLog(etcd: EtcdCluster, terms: Set<number>): Promise<void> {
  const direct = new Etcd({ urls: etcd.urls })
  try {
    const { log } = new Keys('natter')
    const range = { key: encodeText(log), range_end: encodeText(rangeEnd(log)), sort_target: 'KEY' }
    const { kvs } = await direct.call('/v3/kv/range', range)
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
  } finally {
    await direct.close()
  }
}
