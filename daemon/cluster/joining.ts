// How a daemon that is new, or was away for long, gets what the log no longer has: the snapshot of another daemon.

import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { writeFileAtomically } from '../journal/atomic-file.ts'
import { readStateFile } from '../journal/state-file.ts'
import { emptyFolder, type FolderIdentity, writeIdentity } from './folder.ts'
import type { Peers } from './peers.ts'

/** A daemon can write its next snapshot while this one is fetched: then it begins again. */
const attempts = 5

/**
 * Replaces the store in the folder by the snapshot of one of the daemons, which must reach the position. A crash on the
 * way leaves a folder that says so.
 */
export async function fetchSnapshot(
  peers: Peers,
  urls: readonly string[],
  folder: string,
  identity: FolderIdentity,
  position: number,
): Promise<void> {
  let reason = 'no other daemon of the cluster is running'
  for (let attempt = 0; attempt < attempts; attempt++)
    for (const url of urls)
      try {
        await peers.post(url, '/snapshot', { position }, 120_000)
        writeIdentity(folder, { ...identity, joining: true })
        await emptyFolder(folder)
        await fetchStore(peers, url, folder)
        writeIdentity(folder, identity)
        return
      } catch (error) {
        reason = (error as Error).message
      }
  throw new Error(`the log no longer has what this daemon lacks, and no daemon could give it a snapshot: ${reason}`)
}

async function fetchStore(peers: Peers, url: string, folder: string): Promise<void> {
  const fetchFile = async (name: string) => {
    const body = await peers.download(url, `/store/${name}`)
    if (!body) throw new Error(`${url} no longer has ${name}`)
    await writeFileAtomically(join(folder, name), body)
  }
  await fetchFile('state.json')
  const document = await readStateFile(join(folder, 'state.json'))
  await mkdir(join(folder, 'messages'), { recursive: true, mode: 0o700 })
  for (const { name } of document?.files ?? []) await fetchFile(`messages/${name}`)
}
