// Fetches the snapshot of another daemon, for a daemon that is new or lacks entries that the log no longer has.

import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { readStateFile } from '../journal/state-file.ts'
import { writeFileAtomically } from '../local/atomic-file.ts'
import { type FolderIdentity, fetchedMessages, fetchedName, putInPlace, removeUnfinishedFetch } from './folder.ts'
import type { Peers } from './peers.ts'

/** If the other daemon writes a new snapshot meanwhile, or does not answer, the fetch starts over. */
const attempts = 5
/** Milliseconds between two of them. Another daemon may be starting again. */
const usualPause = 1000
/** Milliseconds to write a snapshot, which a daemon with very many messages may need. */
const writing = 120_000

/** Addresses of the other daemons that have a lease now. */
export type ListOthers = () => Promise<readonly string[]>

/**
 * Replaces the store in the folder by the snapshot of one of the daemons, which must reach the position. The store stays until all of the
 * snapshot is here: the other daemon may be lost meanwhile.
 */
export async function fetchSnapshot(
  peers: Peers,
  listOthers: ListOthers,
  folder: string,
  identity: FolderIdentity,
  position: number,
  pause = usualPause,
): Promise<void> {
  let reason =
    'no other daemon of the cluster is running. First start one that has the store; after a restore, the restored one'
  for (let attempt = 0; attempt < attempts; attempt++) {
    if (attempt > 0) await sleep(pause)
    const urls = await listOthers()
    if (urls.length === 0) break
    for (const url of urls)
      try {
        const reached = await requestSnapshot(peers, url, position, listOthers)
        // Its state would be older than what this daemon has, or lack what the log no longer has.
        if (!(reached >= position)) throw new Error(`${url} is behind, at position ${reached}`)
        await removeUnfinishedFetch(folder)
        const files = await fetchState(peers, url, folder)
        await mkdir(join(folder, fetchedMessages), { mode: 0o700 })
        for (const name of files) await fetchFile(peers, url, folder, `messages/${name}`, `${fetchedMessages}/${name}`)
        await putInPlace(folder, identity)
        return
      } catch (error) {
        reason = (error as Error).message
      }
  }
  throw new Error(`the log no longer has what this daemon lacks, and no daemon could give it a snapshot: ${reason}`)
}

/** The position of the newest snapshot that the daemon has, or has written now. Given up when the daemon loses its lease: then it hangs. */
async function requestSnapshot(peers: Peers, url: string, position: number, listOthers: ListOthers): Promise<number> {
  const lost = new AbortController()
  const looking = setInterval(async () => {
    const urls = await listOthers().catch(() => [url])
    if (!urls.includes(url)) lost.abort(new Error(`${url} has lost its lease`))
  }, lookEvery)
  try {
    return (await peers.post(url, '/snapshot', { position }, writing, [lost.signal])).position
  } finally {
    clearInterval(looking)
  }
}

/** Milliseconds. */
const lookEvery = 1000

/** Fetches the state under another name and reads it first, so that a state that this version cannot read replaces nothing. */
async function fetchState(peers: Peers, url: string, folder: string): Promise<string[]> {
  await fetchFile(peers, url, folder, 'state.json', fetchedName)
  const document = await readStateFile(join(folder, fetchedName))
  return (document?.files ?? []).map(({ name }) => name)
}

async function fetchFile(peers: Peers, url: string, folder: string, name: string, as: string): Promise<void> {
  const body = await peers.download(url, `/store/${name}`)
  if (!body) throw new Error(`${url} no longer has ${name}`)
  await writeFileAtomically(join(folder, as), body)
}
