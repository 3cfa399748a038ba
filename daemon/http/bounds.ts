// Bounds on what a caller may make the daemon hold, and for how long. Only attackers reach them.

import { readFileSync } from 'node:fs'

const KiB = 1024
const MiB = 1024 * KiB

export interface Bounds {
  /** Connections at a time. */
  readonly connections: number
  /** Milliseconds in which a head must arrive, and a small body. */
  readonly receiveMs: number
  /** Milliseconds in which a client must take some of what was written to it. */
  readonly stalledMs: number
  /** Bytes of answers that clients have not taken, over all connections. */
  readonly unsentBytes: number
  /** Bytes of bodies that have not arrived whole, over all connections. */
  readonly bufferedBytes: number
  /** Bytes of files that are arriving at a daemon without a disk. */
  readonly bufferedFileBytes: number
  /** Files that are arriving, and their bytes on the disk. */
  readonly arrivingFiles: number
  readonly arrivingFileBytes: number
  /** Bytes of a body, uploads excepted. */
  readonly bodyBytes: number
  /** Bytes that give a body another second to arrive. */
  readonly uploadPace: number
}

export const usualBounds: Bounds = {
  connections: 20_000,
  receiveMs: 30_000,
  stalledMs: 30_000,
  unsentBytes: 256 * MiB,
  bufferedBytes: 64 * MiB,
  bufferedFileBytes: 512 * MiB,
  arrivingFiles: 1024,
  arrivingFileBytes: 8192 * MiB,
  bodyBytes: MiB,
  uploadPace: 32 * KiB,
}

/** Connections to `--cluster-listen`: more than daemons need. The bound is for what strangers can open. */
const peerConnections = 2000
/** Calls at a time to etcd and to the other daemons. */
const ownCalls = 400
/** File descriptors that the store, mail and webhooks need. */
const reserved = 200

interface Fitting extends Pick<Bounds, 'arrivingFiles'> {
  /** From clients. */
  readonly connections: number
  /** From other daemons. */
  readonly peerConnections: number
}

/**
 * What fits below the limit of file descriptors, all at once: without a free one, the daemon cannot write its store. If the limit is
 * low, each part but that of the clients has an eighth of it at most.
 */
export function fitDescriptors(inCluster: boolean, limit = openFilesLimit()): Fitting {
  const part = (wanted: number) => Math.max(1, Math.min(wanted, Math.floor(limit / 8)))
  const arrivingFiles = part(usualBounds.arrivingFiles)
  const peers = inCluster ? part(addRefusals(peerConnections)) : 0
  const clients = limit - reserved - arrivingFiles - peers - (inCluster ? part(ownCalls) : 0)
  return { arrivingFiles, connections: subtractRefusals(clients), peerConnections: subtractRefusals(peers) }
}

/** Connections beyond a bound that are open until their clients have read the refusal. */
export function refusedBeside(connections: number): number {
  return Math.ceil(Math.min(200, connections / 10))
}

function addRefusals(connections: number): number {
  return connections + refusedBeside(connections)
}

function subtractRefusals(descriptors: number): number {
  return Math.max(1, Math.floor(Math.max(descriptors / 1.1, descriptors - 200)))
}

/** The bounds unless a flag sets others. */
function openFilesLimit(): number {
  try {
    const limits = readFileSync('/proc/self/limits', 'utf8')
    return Number(/^Max open files\s+(\d+)/m.exec(limits)?.[1] ?? Number.POSITIVE_INFINITY)
  } catch {
    return Number.POSITIVE_INFINITY
  }
}
