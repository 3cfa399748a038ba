// Restores a whole cluster from a backup, for `natter cluster restore`. A bundle of its own, which the command line loads for it.

import type { Restored } from '../maintenance/restore.ts'
import { readConfig, UsageError } from '../start/config.ts'
import { withConfigFile } from '../start/config-file.ts'
import { Etcd } from './etcd.ts'
import { moveCluster, planRestore, RestoreRefused } from './restore-plan.ts'

interface ClusterRestored extends Restored {
  readonly cluster: string
  readonly folder: string
}

/**
 * Takes the flags of natterd that name the cluster, etcd, the secret and the folder. After a crash on the way, the cluster is as it was, or
 * restored with a folder that has still to be filled, which the same call does.
 */
export async function restoreCluster(
  file: string,
  flags: readonly string[],
  { incomplete, now }: { readonly incomplete: boolean; readonly now: Date },
): Promise<ClusterRestored> {
  const { data: folder, cluster, secret } = configFrom(flags)
  const { openBackup, restoreBackup } = await import('../maintenance/index.ts')
  const { name, lease: _, advertise: __, ...options } = cluster!
  const etcd = new Etcd(options)
  try {
    const plan = await planRestore(etcd, name, folder, secret!).catch(refuseRestore)
    const source = file === '-' ? process.stdin : openBackup(file)
    const restored = await restoreBackup(source, {
      folder,
      replace: true,
      incomplete,
      now,
      cluster: { secret: secret!, move: (unpacked, position) => moveCluster(etcd, plan, unpacked, position) },
    })
    return { cluster: name, folder, ...restored }
  } finally {
    await etcd.close()
  }
}

function configFrom(flags: readonly string[]) {
  try {
    // Where a daemon would listen does not matter here.
    const config = readConfig([...flags, '--host', '127.0.0.1'], withConfigFile(process.env))
    if (config.cluster) return config
  } catch (error) {
    if (error instanceof UsageError) throw new RestoreRefused(error.message)
    throw error
  }
  throw new RestoreRefused('name the members of etcd with --cluster, as natterd takes it')
}

/** Errors without a name are sentences for people: about the version of etcd, or a file of the folder. */
function refuseRestore(error: Error): never {
  throw error.name === 'Error' ? new RestoreRefused(error.message) : error
}
