// An instance of the world of a daemon in a cluster, with the store that it is read from. Each time the daemon loses the lead,
// it makes a new instance: the old one holds decisions that were never committed.

import { setTimeout as sleep } from 'node:timers/promises'
import type { HttpServer } from '../http/server.ts'
import type { SiteParts } from '../http/site.ts'
import type { Files } from '../io/files.ts'
import { namedFiles } from '../io/unneeded-files.ts'
import type { Batch } from '../journal/replicated-journal.ts'
import type { WorldMetrics } from '../metrics/figures.ts'
import type { Config } from '../start/config.ts'
import type { ReplicaStore, StoreFolder } from '../store.ts'
import { World, type WorldCluster } from '../world/world.ts'
import { LeaderForwarding } from './forwarding.ts'
import { Damaged } from './keys.ts'
import type { Term } from './log.ts'
import { idleQueues, Recorder, signalSender } from './messages.ts'
import { type AnswerPeer, peerRoutes } from './peer-routes.ts'
import type { Peers } from './peers.ts'
import { fetchEach, fetchMissing, fetchUpload, sharedFiles } from './shared-files.ts'

/** Milliseconds between two attempts to fetch missing files. */
const firstPause = 500
/** Milliseconds between two looks at all files. */
const usualPause = 10 * 60_000

export interface WorldInstance {
  readonly world: World
  /** `localFiles` has only files on this disk; `files` also asks the other daemons. */
  readonly store: ReplicaStore & { readonly localFiles: Files }
  /** Ends the following of the log. */
  ending: AbortController
  following: Promise<void>
  /** Whether it has applied everything that was in the log when it began. */
  caughtUp: boolean
  /** Files that new entries name, until they are looked for. */
  readonly named: Set<string>
  open: boolean
  /** Set when it is elected. */
  term: Term | undefined
  /** Whether it takes writes. Set after the election, once uncommitted pieces of the leader before are deleted. */
  leads: boolean
}

interface WorldInstancesParts {
  readonly config: Config
  readonly folder: StoreFolder
  readonly server: HttpServer
  readonly metrics: WorldMetrics | undefined
  readonly peers: Peers
  current(): WorldInstance
  leads(): boolean
  /** The address of the leader; waits a few seconds for one. */
  leader(): Promise<string | undefined>
  leaderNow(): string | undefined
  /** Addresses of the other daemons. */
  others(): readonly string[]
  /** ID of this member. */
  self(): string
  /** The address of a member; undefined if etcd names none with this ID. */
  findAddress(member: string): Promise<string | undefined>
  reach(position: number): Promise<boolean>
  /** Waits until this daemon has applied what is in the log now. */
  catchUp(): Promise<boolean>
  /** Takes a digest of the state, in the turn in which the entry at the position is applied. */
  compare(position: number): void
  readonly status: NonNullable<SiteParts['clusterStatus']>
  onFailure(instance: WorldInstance, error: Error): void
}

/** An entry that was committed cannot be applied here. */
export class EntryRefused extends Error {
  constructor(cause: Error) {
    super(
      `an entry of the log cannot be applied (${cause.message}). ` +
        'If the leader has a newer version, upgrade this natterd and start it again',
    )
    this.name = 'EntryRefused'
  }
}

export class WorldInstances {
  /** Settles when requests are answered for the first time. */
  readonly opened: Promise<void>
  hasOpened = false
  refuse!: (error: Error) => void
  readonly #parts: WorldInstancesParts
  readonly #cluster: WorldCluster
  readonly answerPeer: AnswerPeer
  readonly #longestPause: number
  #resolve!: () => void

  constructor(parts: WorldInstancesParts, longestPause = usualPause) {
    this.#parts = parts
    this.#longestPause = longestPause
    this.#cluster = buildCluster(parts)
    this.answerPeer = answerPeer(parts)
    this.opened = new Promise((resolve, reject) => {
      this.#resolve = resolve
      this.refuse = reject
    })
    this.opened.catch(() => {})
  }

  /** Opens the store. The world is read from it later, by `World.follow`. */
  async create(): Promise<WorldInstance> {
    const { config, folder, server, metrics, peers, others, self, leads } = this.#parts
    const opened = await folder.openReplica()
    const committed = () => opened.journal.committed
    const store = {
      ...opened,
      localFiles: opened.files,
      files: sharedFiles({ files: opened.files, peers, others, self, leads, committed }),
    }
    const world = new World({
      // Not at each election: see `reactivateOnce`.
      settings: { ...config, reactivate: false },
      store,
      host: server,
      onFailure: error => this.#parts.onFailure(instance, error),
      metrics,
      cluster: this.#cluster,
    })
    const instance: WorldInstance = {
      world,
      store,
      ending: new AbortController(),
      following: Promise.resolve(),
      caughtUp: false,
      named: new Set(),
      open: false,
      term: undefined,
      leads: false,
    }
    server.mount('', world.site)
    return instance
  }

  open(instance: WorldInstance): void {
    if (!instance.open) {
      instance.world.open()
      void this.#fetchFiles(instance)
    }
    instance.open = true
    this.hasOpened = true
    this.#resolve()
  }

  /**
   * Asks the other daemons for files that this one lacks, until it has all: files are not in the log. Once it has the whole log,
   * it also deletes files that were deleted while it was away, or while the leader could not reach it.
   */
  async #fetchFiles(instance: WorldInstance): Promise<void> {
    const { peers, others, current } = this.#parts
    const { localFiles: files } = instance.store
    for (let pause = firstPause; current() === instance; ) {
      if (instance.caughtUp) instance.world.engine.dropFiles(await files.list())
      const missing = await fetchMissing({ files, peers, others }, namedFiles(instance.world.engine.state)).catch(
        () => 1,
      )
      pause = missing > 0 ? Math.min(2 * pause, this.#longestPause) : firstPause
      await this.#fetchNamed(instance, missing > 0 ? pause : this.#longestPause)
    }
  }

  /**
   * For that long, fetches what new entries name: the leader could not copy an upload to this daemon that had no lease then, and does not
   * copy exports. Ends early if no daemon could give it.
   */
  async #fetchNamed(instance: WorldInstance, ms: number): Promise<void> {
    const { peers, others, current } = this.#parts
    const { localFiles: files } = instance.store
    for (let waited = 0; waited < ms && current() === instance; waited += firstPause) {
      await sleep(firstPause, undefined, { ref: false })
      const names = [...instance.named]
      instance.named.clear()
      // A disk that fails here is reported by the journal.
      if ((await fetchEach({ files, peers, others }, names).catch(() => 1)) > 0) return
    }
  }

  /** A new cluster has no organization until its first leader has founded it. */
  openIfFounded(instance: WorldInstance): void {
    if (!instance.open && instance.caughtUp && instance.world.engine.state.users.size > 0) this.open(instance)
  }

  /** Applies what the leader has committed. */
  take(instance: WorldInstance, batch: Batch): void {
    const { entries, written } = readBatch(instance, batch)
    for (const [, name] of batch.lines.matchAll(/"(?:file|still)":"([0-9a-f]{64})"/g)) instance.named.add(name!)
    written.catch(error => this.#parts.onFailure(instance, error))
    try {
      if (entries.length > 0) instance.world.engine.take(entries)
    } catch (error) {
      throw new EntryRefused(error as Error)
    }
    this.openIfFounded(instance)
  }
}

/** Throws, and changes nothing, if the lines are not entries. */
function readBatch({ store }: WorldInstance, batch: Batch) {
  try {
    return store.journal.take(batch)
  } catch (error) {
    const place = `${batch.first} to ${batch.last}`
    throw new Damaged(`the entry of the log at positions ${place} (${(error as Error).message})`)
  }
}

/** How a world of this daemon reaches the other daemons. The same for all instances. */
function buildCluster(parts: WorldInstancesParts): WorldCluster {
  const { server, peers, current, others } = parts
  const committed = () => current().store.journal.committed
  const recorder = new Recorder(peers, parts.leader, parts.reach)
  const sendSignals = signalSender(peers, others)
  const expire = idleQueues(peers, others, (ids, inUse) => {
    const { world } = current()
    if (!parts.leads()) return
    for (const id of inUse) {
      const queue = world.engine.queues.get(id)
      if (queue) world.engine.queues.revive(queue)
    }
    const ended = ids.filter(id => !inUse.has(id) && world.engine.queues.get(id))
    if (ended.length > 0) world.removeQueues(ended, 'expired')
  })
  return {
    record: (op, actor, facts) => recorder.record({ op, actor, facts }),
    reach: parts.reach,
    compare: parts.compare,
    expire,
    forwarding: new LeaderForwarding({
      peers,
      newId: server.newId,
      leads: parts.leads,
      leader: parts.leader,
      leaderNow: parts.leaderNow,
      committed,
      reach: parts.reach,
      catchUp: parts.catchUp,
    }),
    onSignals(call) {
      if (parts.leads()) sendSignals(call)
    },
    clusterStatus: parts.status,
  }
}

/** Answers the other daemons. */
function answerPeer({
  config,
  server,
  peers,
  current,
  self,
  leads,
  findAddress,
  reach,
}: WorldInstancesParts): AnswerPeer {
  return peerRoutes({
    folder: config.data,
    intake: server.intake,
    engine: () => current().world.engine,
    self,
    leads,
    committed: () => current().store.journal.committed,
    elapsed: () => current().world.clock.elapsed(),
    repeat: call => current().world.site.repeat(call),
    findFile: name => current().store.localFiles.find(name),
    async keepFile(name, member) {
      // Another daemon is said to be at this address. What this one has is no second copy.
      if (member === self()) return false
      const url = await findAddress(member)
      return url !== undefined && fetchUpload(current().store.localFiles, peers, name, url)
    },
    reach,
  })
}
