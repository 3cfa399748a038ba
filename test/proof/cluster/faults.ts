// The faults of the cluster campaign. Each returns when its cause is gone; the campaign waits until the cluster is well again.

import assert from 'node:assert/strict'
import { appendFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Node } from '../../support/cluster.ts'
import type { EtcdCluster } from '../../support/etcd.ts'
import { until } from '../../support/until.ts'
import type { Side, Wires } from './network.ts'

/** One daemon, and what leads to it. */
export interface Place {
  readonly node: Node
  readonly wires: Wires
  /** Whether its folder is a disk of its own, which can be filled. */
  readonly disk: boolean
}

export interface Scene {
  readonly etcd: EtcdCluster
  readonly places: readonly Place[]
  readonly random: () => number
}

/** Returns a text where it cannot be done: why not. */
type Fault = (scene: Scene) => Promise<unknown>

export const leaseSeconds = 2
/** Milliseconds in which another daemon must lead, with room for a loaded machine. */
const longerThanLease = leaseSeconds * 1000 + 1500
/** Milliseconds. */
const aWhile = 1500

export const faults: Readonly<Record<string, Fault>> = {
  async 'kill -9 of the leader'(scene) {
    const { node } = await leaderOf(scene)
    await node.daemon.kill()
    await leaderOf(scene)
    await node.start()
  },
  async 'kill -9 of a follower'(scene) {
    const { node } = pick(scene, await followersOf(scene))
    await node.daemon.kill()
    await sleep(300)
    await node.start()
  },
  async 'kill -9 of a member of etcd'({ etcd, random }) {
    const member = etcd.members[Math.floor(random() * etcd.members.length)]!
    await member.kill()
    await sleep(aWhile)
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
    await cutOff(scene, await leaderOf(scene), ['etcd'], longerThanLease)
  },
  async 'a follower cut off from etcd'(scene) {
    await cutOff(scene, pick(scene, await followersOf(scene)), ['etcd'], aWhile)
  },
  async 'the leader cut off from the other daemons'(scene) {
    await cutOff(scene, await leaderOf(scene), ['peers'], aWhile)
  },
  async 'the leader cut off from its clients'(scene) {
    await cutOff(scene, await leaderOf(scene), ['clients'], aWhile)
  },
  async 'the leader cut off from everybody'(scene) {
    await cutOff(scene, await leaderOf(scene), ['etcd', 'peers', 'clients'], longerThanLease)
  },
  async 'SIGTERM of the leader'(scene) {
    const { node } = await leaderOf(scene)
    node.daemon.process.kill('SIGTERM')
    assert.equal(await node.daemon.closed, 0, node.daemon.stderr)
    await node.start()
  },
  async 'a full disk at one daemon'({ places }) {
    const { node, disk } = places.at(-1)!
    if (!disk) return 'only the administrator can mount a small disk'
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

/** After these another daemon leads, or the same one again. */
export const deposing: readonly string[] = [
  'kill -9 of the leader',
  'kill -9 of the leader and of a member of etcd',
  'a pause of the leader that is longer than its lease',
  'the leader cut off from etcd',
  'the leader cut off from everybody',
  'SIGTERM of the leader',
  'kill -9 of all daemons',
]

/** Leaves no room for a single byte. */
function fill(file: string): void {
  for (const size of [1024 * 1024, 4096, 1])
    try {
      for (;;) appendFileSync(file, Buffer.alloc(size))
    } catch (error) {
      assert.equal((error as NodeJS.ErrnoException).code, 'ENOSPC')
    }
}

async function cutOff({ random }: Scene, { wires }: Place, sides: readonly Side[], ms: number): Promise<void> {
  for (const side of sides) wires.cut(side, random)
  await sleep(ms)
  wires.mend()
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
