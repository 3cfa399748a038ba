// Replaces the cluster in etcd for `natter cluster restore`: ends the old one and begins a cluster of a new ID, whose log
// goes on from the backup. Daemons that have the old ID cannot read or write the new log.

import { randomUUID } from 'node:crypto'
import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { givenSecret } from '../io/secret.ts'
import { isRestoring, refuseLinks } from '../journal/store-folder.ts'
import { partsIn } from '../journal/store-parts.ts'
import { clusterFileName } from '../local/ready-file.ts'
import { decodeText, type Etcd, encodeText, rangeEnd } from './etcd.ts'
import { readIdentity, writeIdentity } from './folder.ts'
import { type ClusterRecord, headText, Keys, logFormat, readMember } from './keys.ts'
import { Membership } from './membership.ts'

/** IDs of the past that are remembered. A folder that is older is refused instead of replaced. */
const mostPrevious = 100

export class RestoreRefused extends Error {
  override readonly name = 'RestoreRefused'
}

interface ClusterPlan {
  /** The record in etcd, and its text there; undefined when etcd has none of this cluster. */
  readonly found: ClusterRecord | undefined
  readonly text: string | undefined
  readonly next: ClusterRecord
  readonly name: string
  /** Of the daemon whose folder is restored. */
  readonly member: string
}

/** Checks everything that can be known before the backup is read. Writes nothing. */
export async function planRestore(etcd: Etcd, name: string, folder: string, secret: string): Promise<ClusterPlan> {
  const keys = new Keys(name)
  const membership = new Membership(etcd, keys)
  await membership.checkEtcd()
  const { kvs } = await etcd.call('/v3/kv/range', { key: encodeText(keys.cluster) })
  const found = await membership.record()
  await refuseLiving(etcd, keys.members, keys.leader)
  const identity = checkOwner(folder, name, found)
  const before = found ? [...(found.previous ?? []), found.id] : identity ? [identity.cluster] : []
  const next = {
    id: randomUUID(),
    format: logFormat,
    secretVerifier: givenSecret(secret).verifier,
    previous: before.slice(-mostPrevious),
  }
  return { found, text: kvs?.[0].value, next, name, member: identity?.member ?? randomUUID() }
}

/**
 * Replaces the old cluster and its log by the new one, in one transaction. Before that, the folder `unpacked` gets the new identity, so
 * that afterwards only files have to be moved.
 */
export async function moveCluster(etcd: Etcd, plan: ClusterPlan, unpacked: string, position: number): Promise<void> {
  const { found, text, next, name, member } = plan
  writeIdentity(unpacked, { cluster: next.id, name, member })
  const { cluster, head, leader, members, log, staged } = new Keys(name, found)
  const range = (key: string) => ({
    key: encodeText(key),
    ...(key.endsWith('/') && { range_end: encodeText(rangeEnd(key)) }),
  })
  const absent = (key: string) => ({ ...range(key), target: 'CREATE', create_revision: 0 })
  const put = (key: string, value: string) => ({ request_put: { key: encodeText(key), value: encodeText(value) } })
  await etcd.call('/v3/kv/txn', {
    compare: [
      text === undefined ? absent(cluster) : { ...range(cluster), target: 'VALUE', value: text },
      absent(leader),
      absent(members),
    ],
    success: [
      put(cluster, JSON.stringify(next)),
      put(new Keys(name, next).head, headText({ position, term: 0 })),
      ...[head, leader, members, log, staged].map(key => ({ request_delete_range: range(key) })),
    ],
  })
  // Read in any case: an attempt that was not answered may have been carried out.
  if ((await new Membership(etcd, new Keys(name)).record())?.id === next.id) return
  await refuseLiving(etcd, members, leader)
  throw new RestoreRefused(`the cluster '${name}' has changed while the backup was read; run the command again`)
}

async function refuseLiving(etcd: Etcd, members: string, leader: string): Promise<void> {
  for (const [key, end] of [[members, rangeEnd(members)] as const, [leader] as const]) {
    const range = { key: encodeText(key), ...(end && { range_end: encodeText(end) }) }
    const { kvs = [] } = await etcd.call('/v3/kv/range', range)
    if (kvs.length === 0) continue
    // Every key of a daemon ends with its lease, so waiting would not help here.
    const foreign = kvs.find(({ lease }: { lease?: string }) => !Number(lease))
    if (foreign)
      throw new RestoreRefused(
        `etcd has a key that natterd did not write: ${decodeText(foreign.key)}. Find out which program wrote it, and delete it with etcdctl del`,
      )
    const urls = kvs.map(
      ({ key: name, value }: { key: string; value: string }) => readMember(decodeText(value))?.url ?? decodeText(name),
    )
    throw new RestoreRefused(
      `the cluster has daemons that run: ${urls.join(', ')}. Stop all of them first; ` +
        'one that crashed is forgotten when its lease has ended, after 20 seconds at most',
    )
  }
}

/** Throws unless the folder is one of this cluster, however old, or has no store. */
function checkOwner(folder: string, name: string, found: ClusterRecord | undefined) {
  if (!existsSync(folder)) return undefined
  refuseLinks(folder)
  const identity = readIdentity(folder)
  if (identity && identity.name !== name)
    throw new RestoreRefused(
      `${folder} belongs to the cluster '${identity.name}', not to '${name}': change --cluster-name or --data`,
    )
  if (identity && found && ![...(found.previous ?? []), found.id].includes(identity.cluster))
    throw new RestoreRefused(
      `${folder} belongs to another cluster that was also named '${name}': choose another folder with --data`,
    )
  // An attempt that was interrupted leaves a folder without the file.
  const interrupted = readdirSync(folder).some(isRestoring)
  if (!identity && !interrupted && partsIn(folder).length > 0)
    throw new RestoreRefused(
      `${folder} has a store of a single daemon (${join(folder, clusterFileName)} is missing): choose another folder with --data`,
    )
  return identity
}
