// Daemons of a cluster for a test, on ports and folders of their own, over a real etcd: processes, or in one with others where
// a test is not about their ends and what they print.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { Etcd, encodeText } from '../../daemon/cluster/etcd.ts'
import { Keys } from '../../daemon/cluster/keys.ts'
import { clusterToken, tokenHeader } from '../../daemon/cluster/peers.ts'
import { Caller, host, launch, type TestDaemon } from './daemon.ts'
import { type EtcdCluster, type Host, startEtcd } from './etcd.ts'
import { freePort } from './free-port.ts'
import { until } from './until.ts'

export const secret = 'the secret of the cluster in this test'

export interface Status {
  readonly role: 'leader' | 'follower'
  readonly leader: string | null
  readonly etcd: 'reachable' | 'unreachable'
  readonly position: number
  readonly head: number
  readonly lag: number
  readonly daemons: readonly {
    readonly url: string
    readonly version: string
    readonly leads: boolean
    readonly position: number
  }[]
  readonly log: { readonly batches: number; readonly database: number }
}

/** One place for a daemon, which may come and go. */
export class Node {
  readonly data: string
  readonly port: number
  readonly flags: readonly string[]
  readonly #host: Host
  /** Where it listens for the other daemons. */
  readonly peerPort: number
  /** What is started here, if not the natterd of this tree. */
  program: string | undefined
  /** Whether it starts in a process with others. */
  hosted = false
  daemon!: TestDaemon

  constructor(
    data: string,
    [port, peerPort]: readonly [number, number],
    flags: readonly string[],
    host: Host = { address: '127.0.0.1', exec: [] },
  ) {
    this.data = data
    this.port = port
    this.peerPort = peerPort
    this.flags = flags
    this.#host = host
  }

  get url(): string {
    return `http://${this.#host.address}:${this.port}`
  }

  /** Where the other daemons reach it. */
  get peerUrl(): string {
    return `http://${this.#host.address}:${this.peerPort}`
  }

  async start(more: readonly string[] = []): Promise<TestDaemon> {
    const { address, exec } = this.#host
    const peers = ['--cluster-listen', `${address}:${this.peerPort}`]
    const flags = [...this.flags, '--host', address, '--port', String(this.port), ...peers, ...more]
    const { data, program } = this
    this.daemon = await (this.hosted ? host(data, { flags }) : launch(data, { flags, exec, program }))
    return this.daemon
  }

  get owner(): Caller {
    return this.daemon.owner
  }

  /** The owner, or another account, at this daemon. */
  as({ email, key, id }: Caller): Caller {
    return new Caller(this.url, email, key, id)
  }

  async ready(seconds = 60): Promise<{ readonly status: number; readonly ready: boolean; readonly cluster: Status }> {
    const response = await fetch(`${this.url}/readyz`, { signal: AbortSignal.timeout(seconds * 1000) })
    return { status: response.status, ...((await response.json()) as { ready: boolean; cluster: Status }) }
  }

  /** Sums of the sections of its state, without what is told beside the log. */
  async state(): Promise<{ readonly position: number; readonly sums: Readonly<Record<string, string>> }> {
    const headers = { [tokenHeader]: clusterToken(secret) }
    return (await (await fetch(`${this.peerUrl}/cluster/v1/state`, { headers })).json()) as never
  }

  /** False for a daemon that was paused, too. */
  async isLeader(): Promise<boolean> {
    return (await this.ready(2).catch(() => undefined))?.cluster.role === 'leader'
  }
}

export interface TestCluster {
  readonly etcd: EtcdCluster
  readonly nodes: readonly Node[]
  /** A further place, with an empty folder. */
  add(flags?: readonly string[]): Promise<Node>
  leader(): Promise<Node>
  /** Ends the lease of the leader, as if it had not been renewed in time. No test has to wait for that. */
  endLease(): Promise<void>
  followers(): Promise<Node[]>
  /** Waits until all daemons that run are at the same position, and compares what they have. */
  agree(nodes?: readonly Node[]): Promise<void>
  stop(): Promise<void>
}

/** A machine that is busy does not depose a leader. No test waits until a lease ends: `endLease` does that. */
export const longLease = ['--cluster-lease', '20']

export interface ClusterOptions {
  readonly daemons?: number
  readonly members?: number
  readonly flags?: readonly string[]
  /** Whether the daemons share a process, if a test does not say otherwise. */
  readonly hosted?: boolean
}

export async function startCluster({
  daemons = 3,
  members = 1,
  flags = [],
  hosted = false,
}: ClusterOptions = {}): Promise<TestCluster> {
  const folder = mkdtempSync(join(tmpdir(), 'natter-cluster-'))
  const secretFile = join(folder, 'secret')
  writeFileSync(secretFile, secret, { mode: 0o600 })
  const etcd = await startEtcd(members)
  const nodes: Node[] = []
  const all = ['--cluster', etcd.urls.join(','), '--secret-file', secretFile, ...longLease, ...flags]
  const add = async (more: readonly string[] = []) => {
    const node = new Node(
      join(folder, `daemon-${nodes.length}`),
      [await freePort(), await freePort()],
      [...all, ...more],
    )
    node.hosted = hosted
    nodes.push(node)
    return node
  }
  const running = () => nodes.filter(({ daemon }) => daemon?.isRunning)
  for (let i = 0; i < daemons; i++) await add()
  // The first one founds the organization.
  await nodes[0]?.start()
  await Promise.all(nodes.slice(1).map(node => node.start()))
  const cluster: TestCluster = {
    etcd,
    nodes,
    add,
    leader: () =>
      until(async () => {
        const leads = await Promise.all(running().map(node => node.isLeader()))
        return running()[leads.indexOf(true)]
      }),
    endLease: () => endLeaseOfLeader(etcd.urls),
    async followers() {
      const leader = await cluster.leader()
      return running().filter(node => node !== leader)
    },
    async agree(among = running()) {
      // A leader that was deposed holds what it decided last until it learns that this was refused, at a position that others have too.
      await until(async () => {
        const [first, ...others] = await Promise.all(among.map(node => node.state()))
        return others.every(state => isDeepStrictEqual(state, first))
      })
    },
    async stop() {
      await Promise.all(nodes.map(({ daemon }) => daemon?.discard()))
      await etcd.stop()
      rmSync(folder, { recursive: true, force: true })
    },
  }
  return cluster
}

async function endLeaseOfLeader(urls: readonly string[]): Promise<void> {
  const etcd = new Etcd({ urls })
  try {
    const { kvs } = await etcd.call('/v3/kv/range', { key: encodeText(new Keys('natter').leader) })
    await etcd.call('/v3/lease/revoke', { ID: kvs[0].lease })
  } finally {
    await etcd.close()
  }
}
