// Files beside the store, in a cluster. They are named by their content, so any daemon can give them to another. An upload is
// answered when a second daemon has it too, if there is one.

import { Refusal } from '../domain/refusal.ts'
import { type Files, hashFile } from '../io/files.ts'
import { warn } from '../local/warnings.ts'
import { gather } from './messages.ts'
import type { Peers } from './peers.ts'

interface SharedFilesParts {
  readonly files: Files
  readonly peers: Peers
  /** Addresses of the other daemons. */
  others(): readonly string[]
  /** ID of this member. */
  self(): string
  leads(): boolean
  /** Position of the newest entry that is committed and applied here. */
  committed(): number
}

export function sharedFiles(parts: SharedFilesParts): Files {
  const { files } = parts
  const announceRemovals = removalSender(parts)
  const copyToAnother = copier(parts)
  const fetchOnce = fetcher(parts)
  return {
    ...files,
    async keep(file) {
      const name = await files.keep(file)
      // The same content may be deleted as another upload meanwhile.
      const release = files.hold(name)
      await copyToAnother(name).finally(() => setImmediate(release))
      return name
    },
    async read(name) {
      return (await files.read(name)) ?? fetchOnce(name).then(() => files.read(name))
    },
    async find(name) {
      return (await files.find(name)) ?? fetchOnce(name).then(() => files.find(name))
    },
    remove(name) {
      const isRemoved = files.remove(name)
      if (isRemoved && parts.leads()) announceRemovals([name])
      return isRemoved
    },
  }
}

/**
 * Fetches files that are read. All that read one at a time wait for the same fetch. Refuses when it fails: a daemon that is away may
 * have the file, so it is not known to be lost.
 */
function fetcher(parts: FetchingParts): (name: string) => Promise<void> {
  const fetches = new Map<string, Promise<void>>()
  const reported = new Set<string>()
  const fail = (name: string, { message }: Error) => {
    if (!reported.has(name)) warn(`the file ${name} is not here and cannot be fetched: ${message}`)
    reported.add(name)
    throw new Refusal(
      'The daemon does not have the file, and cannot fetch it from the other daemons of its cluster at the moment.',
      { code: 'SERVER_NOT_READY', status: 503, retryAfter: 1 },
    )
  }
  return name => {
    const begun = fetches.get(name)
    if (begun) return begun
    const fetching = fetchFromAny(parts, name)
      .then(
        () => void reported.delete(name),
        error => fail(name, error),
      )
      .finally(() => fetches.delete(name))
    fetches.set(name, fetching)
    return fetching
  }
}

/** Tells the other daemons which files the leader has deleted. A daemon that is not reached deletes them at its next start. */
function removalSender({ peers, others, committed }: SharedFilesParts): (names: readonly string[]) => void {
  return gather<string>(files => {
    const call = { files, position: committed() }
    for (const url of others()) peers.post(url, '/drop', call, dropTime).catch(() => {})
  })
}

/** Milliseconds that another daemon has to reach the position of the leader and to delete the files. */
const dropTime = 30_000

/**
 * Fetches the files that the state names and this daemon lacks because it joined later or was away. Returns how many no other
 * daemon could give it. Bounded by the files that are named.
 */
export async function fetchMissing(parts: FetchingParts, named: Iterable<string>): Promise<number> {
  const missing = new Set(named)
  for (const name of await parts.files.list()) missing.delete(name)
  return fetchEach(parts, missing)
}

type FetchingParts = Pick<SharedFilesParts, 'files' | 'peers' | 'others'>

/** Fetches those of the files that are not on this disk. Returns how many no other daemon could give it. */
export async function fetchEach(parts: FetchingParts, names: Iterable<string>): Promise<number> {
  let left = 0
  for (const name of names)
    if (!(await parts.files.find(name)))
      await fetchFromAny(parts, name).catch(() => {
        left++
      })
  return left
}

/** Throws what each of the other daemons, or this disk, did not do. */
async function fetchFromAny({ files, peers, others }: FetchingParts, name: string): Promise<void> {
  const reasons = new Set<string>()
  for (const url of others())
    try {
      return await fetchFile(files, peers, name, url)
    } catch (error) {
      reasons.add((error as Error).message)
    }
  throw new Error([...reasons].join('; ') || 'no other daemon runs')
}

async function fetchFile(files: Files, peers: Peers, name: string, url: string): Promise<void> {
  const receiving = files.receive()
  try {
    const body = await peers.download(url, `/files/${name}`)
    if (!body) throw new Error(`${url} does not have it`)
    for await (const piece of body) await receiving.write(piece)
    if ((await receiving.keep()) !== name) throw new Error(`${url} sent something else`)
  } finally {
    await receiving.discard()
  }
}

/** Milliseconds in which the entry that names a file arrives, or the call of the leader that deletes it. */
const holdTime = 10_000

/**
 * Whether an upload of the leader is on this disk, after fetching it if it was not, or with other bytes. Its entry is still to come: it is not deleted as
 * another upload of the same content.
 */
export async function fetchUpload(files: Files, peers: Peers, name: string, url: string): Promise<boolean> {
  const release = files.hold(name)
  const found = await files.find(name)
  const isKept =
    (found && (await hashFile(found).catch(() => undefined)) === name) ||
    (await fetchFile(files, peers, name, url).then(
      () => true,
      () => false,
    ))
  if (isKept) setTimeout(release, holdTime).unref()
  else release()
  return isKept
}

/** Milliseconds that another daemon has to fetch a file. */
const copyTime = 15_000

/** Copies a file to another daemon, if there is one. The others fetch it when they apply the entry that names it. */
function copier({ peers, others, self }: SharedFilesParts): (name: string) => Promise<void> {
  let wasAlone = false
  return async name => {
    const urls = others()
    if (urls.length === 0 && !wasAlone)
      warn(`no other daemon runs: ${name} and later files are on this one only until one does`)
    wasAlone = urls.length === 0
    if (wasAlone) return
    const copies = urls.map(async url => {
      const { kept } = await peers.post(url, '/keep', { file: name, from: self() }, copyTime)
      if (!kept) throw new Error(`${url} could not fetch it`)
    })
    await Promise.any(copies).catch(() => warn(`the file ${name} is on this daemon only: no other one could fetch it`))
  }
}
