// The network between the daemons of a proof, etcd and their clients, which can be cut. Two forms: gates in this process, and,
// where the administrator runs it, namespaces of the kernel.

import type { EtcdCluster, Host } from '../../support/etcd.ts'
import { startEtcd } from '../../support/etcd.ts'
import { freePort } from '../../support/free-port.ts'
import { Gate } from './gate.ts'
import { Namespaces } from './namespaces.ts'

export type Side = 'etcd' | 'peers' | 'clients'

/** What leads to one daemon and away from it. */
export interface Wires {
  readonly host: Host
  /** Of clients, and of the other daemons. */
  readonly ports: readonly [number, number]
  /** Where this daemon finds etcd, the other daemons find it, and clients do. */
  readonly etcd: readonly string[]
  readonly advertised: string
  readonly url: string
  /** Nothing passes, and neither side is told. `random` chooses in which direction, where both are possible. */
  cut(side: Side, random: () => number): void
  mend(): void
}

export interface Network {
  readonly etcd: EtcdCluster
  readonly wires: readonly Wires[]
  end(): Promise<void>
}

const size = 3
const here: Host = { address: '127.0.0.1', exec: [] }

export async function gatedNetwork(): Promise<Network> {
  const etcd = await startEtcd(size)
  const all: Gate[] = []
  const gateTo = async (url: string) => {
    const gate = await Gate.to(url)
    all.push(gate)
    return gate
  }
  const wires: Wires[] = []
  for (let i = 0; i < size; i++) {
    const ports = [await freePort(), await freePort()] as const
    const [port, peerPort] = ports
    const gates = {
      etcd: await Promise.all(etcd.urls.map(gateTo)),
      peers: [await gateTo(`http://127.0.0.1:${peerPort}`)],
      clients: [await gateTo(`http://127.0.0.1:${port}`)],
    }
    wires.push({
      host: here,
      ports,
      etcd: gates.etcd.map(({ url }) => url),
      advertised: gates.peers[0]!.url,
      url: gates.clients[0]!.url,
      cut(side) {
        for (const gate of gates[side]) gate.close()
      },
      mend() {
        for (const gate of Object.values(gates).flat()) gate.open()
      },
    })
  }
  return {
    etcd,
    wires,
    async end() {
      for (const gate of all) gate.end()
      await etcd.stop()
    },
  }
}

export async function namespacedNetwork(): Promise<Network> {
  const spaces = Namespaces.create(2 * size)
  const members = spaces.hosts.slice(0, size)
  const daemons = spaces.hosts.slice(size)
  try {
    const etcd = await startEtcd(size, { hosts: members })
    const ports = [9991, 9992] as const
    const wires = daemons.map((host, index): Wires => {
      const [url, advertised] = ports.map(port => `http://${host.address}:${port}`) as [string, string]
      const others: Record<Side, readonly string[]> = {
        etcd: members.map(({ address }) => address),
        peers: daemons.filter((_, at) => at !== index).map(({ address }) => address),
        clients: [spaces.outside],
      }
      return {
        host,
        ports,
        etcd: etcd.urls,
        advertised,
        url,
        cut(side, random) {
          const direction = Math.floor(random() * 3)
          for (const other of others[side]) {
            // What this daemon sends is lost, or what it is sent, or both.
            if (direction !== 0) spaces.lose(host.address, other)
            if (direction !== 1) spaces.lose(other, host.address)
          }
        },
        mend: () => spaces.mend(),
      }
    })
    return {
      etcd,
      wires,
      async end() {
        await etcd.stop()
        spaces.end()
      },
    }
  } catch (error) {
    spaces.end()
    throw error
  }
}
