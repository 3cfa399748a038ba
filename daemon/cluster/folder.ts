// `cluster.json`, which says which cluster the folder of a daemon belongs to.

import { randomUUID } from 'node:crypto'
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { givenSecret } from '../io/secret.ts'
import { forgetCleanStop } from '../journal/clean-stop.ts'
import { activeName, isUnfinished, sealedLast } from '../journal/segment-format.ts'
import { refuseFilesAlone, refuseHalfRestored } from '../journal/store-folder.ts'
import { moveParts, replacedFolder } from '../journal/store-parts.ts'
import { renameDurably, writeFileAtomicallySync } from '../local/atomic-file.ts'
import { clusterFileName } from '../local/ready-file.ts'
import { warn } from '../local/warnings.ts'
import type { Config } from '../start/config.ts'
import { type ClusterRecord, LogTooNew, logFormat } from './keys.ts'

export interface FolderIdentity {
  /** ID of the cluster, given when it began. */
  readonly cluster: string
  readonly name: string
  /** ID of the daemon that uses this folder. */
  readonly member: string
  /** A snapshot that was fetched whole is taking the place of the store. */
  readonly joining?: true
}

export function readIdentity(folder: string): FolderIdentity | undefined {
  const file = join(folder, clusterFileName)
  if (!existsSync(file)) return undefined
  try {
    const { cluster, name, member, joining } = JSON.parse(readFileSync(file, 'utf8'))
    if (typeof cluster === 'string' && typeof name === 'string' && typeof member === 'string')
      return { cluster, name, member, ...(joining && { joining }) }
  } catch {
    // Thrown below.
  }
  throw new Error(`${file} is damaged. Choose another folder with --data; it is filled from the other daemons`)
}

export function writeIdentity(folder: string, identity: FolderIdentity): void {
  writeFileAtomicallySync(join(folder, clusterFileName), `${JSON.stringify(identity)}\n`)
}

/** Deletes what a snapshot replaces. Uploads stay: they are named by their content. */
async function emptyFolder(folder: string): Promise<void> {
  rmSync(join(folder, 'state.json'), { force: true })
  await rm(join(folder, 'messages'), { recursive: true, force: true })
  forgetCleanStop(folder)
  for (const name of await readdir(folder))
    if (name === activeName || sealedLast(name) !== undefined || isUnfinished(name)) rmSync(join(folder, name))
}

/** Parts of a snapshot that is being fetched. */
export const fetchedName = 'state.json.fetched'
export const fetchedMessages = 'messages.fetched'

/** Puts a snapshot that was fetched whole in the place of the store. Goes on where a crash has interrupted it. */
export async function putInPlace(folder: string, { cluster, name, member }: FolderIdentity): Promise<void> {
  const identity = { cluster, name, member }
  writeIdentity(folder, { ...identity, joining: true })
  if (existsSync(join(folder, fetchedName))) {
    await emptyFolder(folder)
    await renameDurably(join(folder, fetchedName), join(folder, 'state.json'))
  }
  if (existsSync(join(folder, fetchedMessages)))
    await renameDurably(join(folder, fetchedMessages), join(folder, 'messages'))
  writeIdentity(folder, identity)
}

/** Deletes what a fetch that did not end has left. */
export async function removeUnfinishedFetch(folder: string): Promise<void> {
  for (const name of [fetchedName, fetchedMessages]) await rm(join(folder, name), { recursive: true, force: true })
}

/** Called before the store is read: ends a fetch that was interrupted, and moves a store from before a restore aside. */
export async function tidyFolder(
  { data: folder, cluster, secret }: Config,
  record: ClusterRecord | undefined,
): Promise<void> {
  const found = readIdentity(folder)
  if (!found) refuseFilesAlone(folder)
  if (found?.joining) await putInPlace(folder, found)
  await removeUnfinishedFetch(folder)
  const isOurs = found?.name === cluster!.name && record?.secretVerifier === givenSecret(secret!).verifier
  if (!isOurs || !record!.previous?.includes(found!.cluster)) return
  refuseHalfRestored(folder, await readdir(folder))
  const aside = replacedFolder(folder, new Date())
  await moveParts(folder, aside)
  warn(`the cluster was restored from a backup: what this daemon had is in ${aside}, and it fetches the new state`)
}

/**
 * Throws when the folder and the cluster do not belong together. Returns the identity of the folder; if it had none a new one, which has the ID
 * of a new cluster where there is none yet.
 */
export function checkFolder(
  folder: string,
  name: string,
  {
    record,
    secretVerifier,
    isEmpty,
  }: {
    readonly record: ClusterRecord | undefined
    readonly secretVerifier: string
    readonly isEmpty: boolean
  },
): FolderIdentity {
  const found = readIdentity(folder)
  if (found && found.name !== name)
    throw new Error(
      `${folder} belongs to the cluster '${found.name}', not to '${name}': change --cluster-name or --data`,
    )
  if (found && !record)
    throw new Error(
      `${folder} belongs to the cluster '${name}', but etcd knows no cluster of this name. ` +
        'Does --cluster name the right etcd? If its data is lost, see "When etcd is lost" in docs/cluster.md',
    )
  if (record && record.secretVerifier !== secretVerifier)
    throw new Error(`the secret is not that of the cluster '${name}': give all of its daemons the same --secret-file`)
  if (found && record && found.cluster !== record.id)
    throw new Error(
      `${folder} belongs to another cluster that was also named '${name}'. ` +
        'Choose an empty folder with --data; it is filled from the other daemons',
    )
  if (!found && record && !isEmpty)
    throw new Error(
      `${folder} has a store that does not belong to the cluster '${name}'. ` +
        'Choose an empty folder with --data; it is filled from the other daemons',
    )
  if (record && record.format > logFormat) throw new LogTooNew(record.format)
  return found ?? { cluster: record?.id ?? randomUUID(), name, member: randomUUID() }
}
