// One daemon of a cluster, from joining to leaving: the world it has at present, whether it follows or leads, and what it knows
// of the other daemons.

import type { HttpServer } from '../http/server.ts'
import { checkSecret } from '../io/secret.ts'
import { NotLeading, ReplicaFailed } from '../journal/replicated-journal.ts'
import { version } from '../local/version.ts'
import { warn } from '../local/warnings.ts'
import type { WorldMetrics } from '../metrics/figures.ts'
import type { Config } from '../start/config.ts'
import type { StoreFolder } from '../store.ts'
import type { World } from '../world/world.ts'
import { Comparison } from './comparison.ts'
import { DiskWatch } from './disk-watch.ts'
import { Etcd, EtcdWarnings, ignoreUnreachable, retryWhileSilent } from './etcd.ts'
import { fetchSnapshot } from './fetch-snapshot.ts'
import { checkFolder, type FolderIdentity, tidyFolder, writeIdentity } from './folder.ts'
import { Following } from './following.ts'
import { checkEnd, checkHistory } from './history.ts'
import { AnotherHistory, type ClusterRecord, foundsEmpty, Keys, logFormat } from './keys.ts'
import { KnownCluster, leaderTimeout, type OwnStatus } from './known-cluster.ts'
import { Lease } from './lease.ts'
import { LogTrimmed, SharedLog, type Term } from './log.ts'
import { LogKeeper } from './log-keeper.ts'
import { addressIn, checkOthers, Membership, type View, waitForNextLeader, waitForOwnExpiry } from './membership.ts'
import type { AnswerPeer } from './peer-routes.ts'
import { Peers } from './peers.ts'
import { CatchingUp, PositionWaiters } from './position-waiters.ts'
import { untilDescriptorsAreFree } from './scarce-descriptors.ts'
import { describeStatus } from './status.ts'
import { type WorldInstance, WorldInstances } from './world-instance.ts'

interface ReplicaParts {
  readonly config: Config
  readonly folder: StoreFolder
  readonly server: HttpServer
  readonly metrics?: WorldMetrics | undefined
  readonly onFailure: (error: Error) => void
}

/** Milliseconds between two reads of the members and the leader. */
const lookEvery = 500
/** Milliseconds between two reports of this daemon's position. */
const reportEvery = 2000
/** To callers meanwhile. */
const replacing = 'This daemon of the cluster is reading its state again. Try again in a moment.'

export class Replica {
  readonly #parts: ReplicaParts
  readonly #etcd: Etcd
  readonly #log: SharedLog
  readonly #membership: Membership
  readonly peers: Peers
  readonly answerPeer: AnswerPeer
  readonly #positions = new PositionWaiters()
  readonly #catchingUp = new CatchingUp(async () => this.#reach((await this.#log.head()).position))
  readonly #known: KnownCluster
  readonly #keeper: LogKeeper
  readonly #comparison: Comparison
  readonly #disk = new DiskWatch(hanging => this.#fail(hanging))
  readonly #instances: WorldInstances
  readonly #following: Following
  #record: ClusterRecord | undefined
  #identity: FolderIdentity | undefined
  /** The present world and its store. There is a new one each time this daemon loses the lead. */
  #instance: WorldInstance | undefined
  #url = ''
  #peerUrl = ''
  #publicUrl = ''
  #lease: Lease | undefined
  #reportedAt = Number.NEGATIVE_INFINITY
  #looking: NodeJS.Timeout | undefined
  /** Replacements of the world run one after the other. */
  #changing: Promise<unknown> = Promise.resolve()
  readonly #etcdWarnings = new EtcdWarnings()
  #stopped = false

  constructor(parts: ReplicaParts) {
    const { config, folder, server, metrics } = parts
    const { name, lease } = config.cluster!
    const keys = new Keys(name)
    this.#parts = parts
    this.#known = new KnownCluster(lease)
    this.#etcd = new Etcd(config.cluster!)
    this.#log = new SharedLog(this.#etcd, keys)
    this.#membership = new Membership(this.#etcd, keys)
    this.peers = new Peers(config.secret!)
    this.#keeper = new LogKeeper(this.#log, this.#membership)
    this.#comparison = new Comparison(config.data, () => this.#instance!)
    this.#instances = new WorldInstances({
      config,
      folder,
      server,
      metrics,
      peers: this.peers,
      current: () => this.#instance!,
      leads: () => this.leads,
      leader: () => this.#known.findLeader(() => this.#ownStatus),
      leaderNow: () => this.#known.view?.leader?.peer,
      others: () => this.#others(),
      self: () => this.self.id,
      findAddress: async member => addressIn(await this.#membership.view(), member),
      reach: position => this.#reach(position),
      catchUp: () => this.#catchingUp.now(),
      compare: position => this.#comparison.take(position),
      status: () => this.status(),
      onFailure: (instance, error) => this.#onWorldFailure(instance, error),
    })
    this.answerPeer = this.#instances.answerPeer
    this.#following = new Following(this.#etcd, this.#log, this.#instances, this.#positions, () =>
      this.#membership.view(),
    )
  }

  get world(): World {
    return this.#instance!.world
  }

  journalSize(): number | null {
    return this.#instance!.store.journalSize()
  }

  /** Checks etcd, the cluster and the folder, and opens the store. Writes nothing to etcd. */
  async prepare(): Promise<void> {
    await retryWhileSilent(() => this.#membership.checkEtcd())
    this.#record = await retryWhileSilent(() => this.#membership.record())
    await tidyFolder(this.#parts.config, this.#record)
    this.#instance = await this.#instances.create()
    this.#identity = this.#checkFolder()
  }

  #checkFolder(): FolderIdentity {
    const { data, cluster } = this.#parts.config
    const { secret, journal } = this.#instance!.store
    const secretVerifier = secret.verifier
    return checkFolder(data, cluster!.name, { record: this.#record, secretVerifier, isEmpty: journal.position === 0 })
  }

  /** Becomes a member of the cluster, or founds it. Resolves when requests are answered. */
  async join(localUrl: string, peerUrl: string): Promise<void> {
    const { config } = this.#parts
    this.#url = config.cluster!.advertise ?? localUrl
    this.#peerUrl = peerUrl
    this.#publicUrl = config.url ?? localUrl
    if (this.#record) {
      await retryWhileSilent(() => waitForOwnExpiry(this.#membership, this.self))
      await retryWhileSilent(() => checkOthers(this.#membership, this.self))
      const { head } = await retryWhileSilent(() => this.#membership.view())
      await retryWhileSilent(() => checkHistory(this.#log, this.#instance!.store.journal.newest, head))
    }
    await this.#instance!.world.follow(this.#publicUrl)
    await retryWhileSilent(() => this.#enter())
    this.#startFollowing()
    void this.#look()
    await this.#instances.opened
  }

  async stop(): Promise<void> {
    this.#stopped = true
    clearTimeout(this.#looking)
    await this.#changing.catch(() => {})
    if (this.leads) await this.#handOver()
    // A call that was sent on is answered when this daemon has what the leader has written.
    await this.#instance?.world.stop(async () => {
      await this.#parts.server.close()
      await this.#stopFollowing()
    })
    await this.#lease?.revoke()
    await this.peers.close()
    await this.#etcd.close()
  }

  // --- joining --------------------------------------------------------------------------------------------------

  get self(): { readonly id: string; readonly url: string; readonly peer: string } {
    return { id: this.#identity!.member, url: this.#url, peer: this.#peerUrl }
  }

  /** Founds the cluster if there is none, and registers this daemon: the first writes to etcd. */
  async #enter(): Promise<void> {
    const { store, world } = this.#instance!
    checkSecret(store.secret, world.engine.secretVerifier, world.engine.state.users.size > 0)
    const { cluster: id, name, member } = this.#identity!
    if (!this.#record) {
      const own = { id, format: logFormat, secretVerifier: store.secret.verifier }
      this.#record = await this.#membership.create(own, store.journal.position)
      // Another daemon has founded it meanwhile.
      if (this.#record.id !== id) this.#checkFolder()
      else if (store.journal.position === 0) warn(foundsEmpty(name))
    }
    this.#identity = { cluster: this.#record.id, name, member }
    writeIdentity(this.#parts.config.data, this.#identity)
    await this.#renewLease()
  }

  async #renewLease(): Promise<void> {
    this.#lease = await Lease.grant(this.#etcd, this.#parts.config.cluster!.lease)
    await this.#report()
  }

  async #report(): Promise<void> {
    const { journal } = this.#instance!.store
    const synced = await this.#disk.sync(journal)
    const { committed: position } = journal
    const digest = this.#comparison.report()
    const member = { ...this.self, version: version(), position, synced, time: Date.now(), digest }
    await this.#membership.report(member, this.#lease!)
    this.#reportedAt = performance.now()
  }

  async #fetchSnapshot(): Promise<void> {
    const view = await this.#membership.view().catch(ignoreUnreachable)
    // Then this daemon begins to follow as it is, and finds the log trimmed again.
    if (!view) return
    this.#comparison.forget()
    const listOthers = async () => {
      await this.#membership.view().then(now => this.#known.update(now), ignoreUnreachable)
      return this.#others()
    }
    await fetchSnapshot(this.peers, listOthers, this.#parts.config.data, this.#identity!, view.head.position)
  }

  // --- the world ------------------------------------------------------------------------------------------------

  /** Ends this world, and follows the log with another one from the folder as `between` leaves it. */
  #replace(between: () => Promise<void>): void {
    const change = this.#changing.then(async () => {
      if (this.#stopped) return
      await this.#stopFollowing()
      const wasOpen = this.#instance!.open
      const replace = async () => {
        await this.#instance!.world.stop(undefined, replacing)
        await between()
        this.#instance = await this.#instances.create()
        await this.#instance.world.follow(this.#publicUrl)
      }
      await untilDescriptorsAreFree(replace, () => this.#stopped)
      // Its state is committed, though it may be old: reads are answered without waiting for etcd.
      if (wasOpen) this.#instances.open(this.#instance!)
      this.#startFollowing()
    })
    this.#changing = change.catch(error => this.#fail(error))
  }

  #onWorldFailure(instance: WorldInstance, error: Error): void {
    if (instance !== this.#instance || this.#stopped) return
    if (error instanceof NotLeading) this.#stepDown(error.message)
    else this.#parts.onFailure(error)
  }

  /** Discards the world: no client has seen what it decided since its last commit. */
  #stepDown(reason: string): void {
    if (!this.#instance!.term || this.#stopped) return
    warn(`this daemon no longer leads the cluster: ${reason}`)
    this.#instance!.term = undefined
    const lease = this.#lease
    this.#lease = undefined
    this.#replace(async () => lease?.revoke())
  }

  // --- following ------------------------------------------------------------------------------------------------

  #startFollowing(): void {
    if (this.#stopped) return
    const instance = this.#instance!
    instance.ending = new AbortController()
    instance.following = this.#following.follow(instance).catch(error => {
      if (error instanceof LogTrimmed) this.#replace(() => this.#fetchSnapshot())
      else this.#fail(error)
    })
  }

  /** This daemon cannot recover from the error. It gives up its lease, so that the others need not wait for its end. */
  #fail(error: Error): void {
    const failure = new ReplicaFailed(error.message)
    if (this.#stopped) return
    this.#stopped = true
    if (this.#instances.hasOpened) this.#parts.onFailure(failure)
    else this.#instances.refuse(failure)
    void this.#lease?.revoke()
  }

  async #stopFollowing(): Promise<void> {
    this.#instance?.ending.abort()
    this.#following.endWatch()
    await this.#instance?.following
  }

  /** Waits until this daemon is at the position. False when that takes too long, or when the log does not go that far. */
  async #reach(position: number): Promise<boolean> {
    const at = () => this.#instance!.store.journal.committed
    if (position <= at()) return true
    const head = await this.#log.head().catch(() => undefined)
    if (head && head.position < position) return false
    if (position <= at()) return true
    return this.#positions.wait(position, leaderTimeout)
  }

  // --- leading --------------------------------------------------------------------------------------------------

  get #ownStatus(): OwnStatus {
    return { ...this.self, leads: this.leads, stopped: this.#stopped }
  }

  get leads(): boolean {
    return this.#instance?.term !== undefined && this.#instance.leads
  }

  async #campaign(): Promise<void> {
    const instance = this.#instance!
    const lease = this.#lease!
    const election = await this.#membership.campaign(this.self, lease)
    if (!election) return
    const { journal } = instance.store
    const change = this.#changing
    const caughtUp = journal.position >= election.head.position || (await this.#reach(election.head.position))
    if (this.#changing === change) await this.#stopFollowing()
    // It may have found the log trimmed meanwhile. Then another world takes its place, and follows.
    const isReplaced = this.#changing !== change
    if (isReplaced || !caughtUp || journal.position !== election.head.position || lease.signal.aborted) {
      // Another daemon may have more entries: let it be elected.
      await lease.revoke()
      this.#lease = undefined
      return isReplaced ? undefined : this.#startFollowing()
    }
    const term: Term = { number: election.term, head: election.head, signal: lease.signal }
    instance.term = term
    lease.signal.addEventListener('abort', () => this.#instance === instance && this.#stepDown('its lease has ended'))
    journal.lead({
      commit: batch =>
        this.#log.commit(term, batch).catch(error => {
          throw new NotLeading((error as Error).message)
        }),
    })
    try {
      await this.#log.dropStaged(term)
      await instance.world.lead()
      instance.leads = true
      this.#instances.open(instance)
    } catch (error) {
      this.#stepDown((error as Error).message)
    }
  }

  /** Finishes writes in progress, leaves new ones to the next leader, and waits until the other daemons know it. */
  async #handOver(): Promise<void> {
    this.#instance!.leads = false
    await this.world.engine.settled().catch(() => {})
    await this.#lease?.revoke()
    if (this.#others().length > 0) await waitForNextLeader(this.#membership, this.self.id, lookEvery)
  }

  // --- the others -----------------------------------------------------------------------------------------------

  /** Reads the members and the leader from etcd, and campaigns if no daemon leads. Calls itself again after a pause. */
  async #look(): Promise<void> {
    const change = this.#changing
    try {
      await change
      const { committed } = this.#instance!.store.journal
      const view = await this.#membership.viewAs(this.self)
      checkEnd(committed, view.head.position)
      this.#known.update(view)
      await this.#act(view)
      this.#etcdWarnings.clear()
    } catch (error) {
      if (error instanceof AnotherHistory) return this.#fail(error)
      // A world that is being replaced reports nothing.
      if (!this.#stopped && change === this.#changing) this.#etcdWarnings.report(error as Error)
    }
    if (!this.#stopped) this.#looking = setTimeout(() => void this.#look(), lookEvery)
  }

  async #act(view: View): Promise<void> {
    if (this.#stopped) return
    if (!this.#lease || this.#lease.signal.aborted) await this.#renewLease()
    else if (this.#comparison.hasNews || performance.now() - this.#reportedAt > reportEvery) await this.#report()
    // It may have lost the lead meanwhile.
    await this.#changing
    const { leader, head } = view
    const instance = this.#instance!
    const isOurs = leader?.id === this.self.id
    if (instance.term && !isOurs) this.#stepDown('another daemon leads the cluster')
    // An election that was not answered in time may have been carried out.
    else if (!instance.term && (isOurs || !leader) && instance.caughtUp) await this.#campaign()
    else if (!instance.term) this.#following.checkProgress(instance, head.position)
    this.#keeper.keep(view, this.leads ? instance.term : undefined)
    this.#comparison.look(view, this.self.id, this.leads ? instance.term?.number : undefined)
  }

  #others(): string[] {
    return this.#known.others(this.#identity?.member)
  }

  status() {
    const own = { self: this.self, leads: this.leads, instance: this.#instance!, log: this.#keeper.size }
    return describeStatus({ name: this.#parts.config.cluster!.name, ...own, known: this.#known })
  }
}
