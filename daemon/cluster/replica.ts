// One daemon of a cluster, from joining to leaving: which world it has, whether that follows or leads, and what it knows
// of the others.

import { randomUUID } from 'node:crypto'
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
import { Complaints, Etcd, patiently } from './etcd.ts'
import { checkFolder, type FolderIdentity, tidyFolder, writeIdentity } from './folder.ts'
import { Following } from './following.ts'
import { type Incarnation, IncarnationMaker } from './incarnation.ts'
import { fetchSnapshot } from './joining.ts'
import { AnotherHistory, type ClusterRecord, createKeys, logFormat } from './keys.ts'
import { Lease } from './lease.ts'
import { LogTrimmed, SharedLog, type Term } from './log.ts'
import { LogKeeper } from './log-keeper.ts'
import type { View } from './membership.ts'
import { addressIn, checkHistory, checkOthers, Membership, outliveLead, outliveOneself } from './membership.ts'
import type { AnswerPeer } from './peer-routes.ts'
import { Peers } from './peers.ts'
import { CatchingUp, PositionWaiters } from './position-waiters.ts'
import { describeStatus } from './status.ts'
import { type Standing, Whereabouts } from './whereabouts.ts'

interface ReplicaParts {
  readonly config: Config
  readonly folder: StoreFolder
  readonly server: HttpServer
  readonly metrics?: WorldMetrics | undefined
  readonly onFailure: (error: Error) => void
}

/** Milliseconds between two looks at who leads and who is there. */
const lookEvery = 500
/** Milliseconds between two reports of this daemon on itself. */
const reportEvery = 2000
/** Milliseconds that a request waits for a leader, or for this daemon to catch up. */
const patience = 10_000

export class Replica {
  readonly #parts: ReplicaParts
  readonly #etcd: Etcd
  readonly #log: SharedLog
  readonly #membership: Membership
  readonly peers: Peers
  readonly answerPeer: AnswerPeer
  readonly #positions = new PositionWaiters()
  readonly #catchingUp = new CatchingUp(async () => this.#reach((await this.#log.head()).position))
  readonly #whereabouts: Whereabouts
  readonly #keeper: LogKeeper
  readonly #comparison: Comparison
  readonly #lives: IncarnationMaker
  readonly #following: Following
  #record: ClusterRecord | undefined
  #identity: FolderIdentity | undefined
  /** The present world. There is a new one each time this daemon loses the lead. */
  #life: Incarnation | undefined
  #url = ''
  #peerUrl = ''
  #publicUrl = ''
  #lease: Lease | undefined
  #reportedAt = Number.NEGATIVE_INFINITY
  #looking: NodeJS.Timeout | undefined
  /** Changes of the world, one after the other. */
  #changing: Promise<unknown> = Promise.resolve()
  readonly #complaints = new Complaints()
  #stopped = false

  constructor(parts: ReplicaParts) {
    const { config, folder, server, metrics } = parts
    const { name, lease } = config.cluster!
    const keys = createKeys(name)
    this.#parts = parts
    this.#whereabouts = new Whereabouts(lease)
    this.#etcd = new Etcd(config.cluster!)
    this.#log = new SharedLog(this.#etcd, keys)
    this.#membership = new Membership(this.#etcd, keys)
    this.peers = new Peers(config.secret!)
    this.#keeper = new LogKeeper(this.#log, this.#membership)
    this.#comparison = new Comparison(config.data, () => this.#life!)
    this.#lives = new IncarnationMaker({
      config,
      folder,
      server,
      metrics,
      peers: this.peers,
      current: () => this.#life!,
      leads: () => this.#leads,
      leader: () => this.#whereabouts.findLeader(() => this.#standing),
      leaderNow: () => this.#whereabouts.view?.leader?.peer,
      others: () => this.#others(),
      self: () => this.#self.id,
      findAddress: async member => addressIn(await this.#membership.view(), member),
      reach: position => this.#reach(position),
      catchUp: () => this.#catchingUp.now(),
      compare: position => this.#comparison.take(position),
      status: () => this.status(),
      onFailure: (life, error) => this.#onWorldFailure(life, error),
    })
    this.answerPeer = this.#lives.answerPeer
    this.#following = new Following(this.#etcd, this.#log, this.#lives, this.#positions, () => this.#membership.view())
  }

  get world(): World {
    return this.#life!.world
  }

  journalSize(): number | null {
    return this.#life!.store.journalSize()
  }

  /** Checks etcd, the cluster and the folder, and opens the store. Writes nothing to etcd. */
  async prepare(): Promise<void> {
    const { config } = this.#parts
    await patiently(() => this.#membership.checkEtcd())
    this.#record = await patiently(() => this.#membership.record())
    await tidyFolder(config, this.#record)
    this.#life = await this.#lives.begin()
    const { store } = this.#life
    this.#identity = checkFolder(config.data, config.cluster!.name, {
      record: this.#record,
      secretVerifier: store.secret.verifier,
      isEmpty: store.journal.position === 0,
    })
  }

  /** Becomes one of the cluster, which its first daemon founds. Resolves when requests are answered. */
  async join(localUrl: string, peerUrl: string): Promise<void> {
    const { config } = this.#parts
    this.#url = config.cluster!.advertise ?? localUrl
    this.#peerUrl = peerUrl
    this.#publicUrl = config.url ?? localUrl
    if (this.#record) {
      await patiently(() => outliveOneself(this.#membership, this.#self))
      const { members, head } = await patiently(() => this.#membership.view())
      checkOthers(members, this.#self, Date.now())
      checkHistory(this.#life!.store.journal.position, head.position)
    }
    await this.#life!.world.follow(this.#publicUrl)
    await patiently(() => this.#enter())
    this.#startFollowing()
    void this.#look()
    await this.#lives.opened
  }

  async stop(): Promise<void> {
    this.#stopped = true
    clearTimeout(this.#looking)
    await this.#changing.catch(() => {})
    if (this.#leads) await this.#handOver()
    await this.#stopFollowing()
    await this.#life?.world.stop(() => this.#parts.server.close())
    await this.#lease?.revoke()
    await this.peers.close()
    await this.#etcd.close()
  }

  // --- joining --------------------------------------------------------------------------------------------------

  get #self(): { readonly id: string; readonly url: string; readonly peer: string } {
    return { id: this.#identity!.member, url: this.#url, peer: this.#peerUrl }
  }

  /** The first writes to etcd. */
  async #enter(): Promise<void> {
    const { config } = this.#parts
    const { store, world } = this.#life!
    checkSecret(store.secret, world.engine.secretVerifier, world.engine.state.users.size > 0)
    if (!this.#record) {
      const { verifier: secretVerifier } = store.secret
      const { position } = store.journal
      this.#record = await this.#membership.create({ id: randomUUID(), format: logFormat, secretVerifier }, position)
      if (position > 0 && (await this.#log.head()).position !== position)
        throw new Error(
          `another daemon has just founded the cluster '${config.cluster!.name}'; this folder is not empty`,
        )
    }
    const { name, member } = this.#identity!
    this.#identity = { cluster: this.#record.id, name, member }
    writeIdentity(config.data, this.#identity)
    await this.#renewLease()
  }

  async #renewLease(): Promise<void> {
    this.#lease = await Lease.grant(this.#etcd, this.#parts.config.cluster!.lease)
    await this.#report()
  }

  async #report(): Promise<void> {
    const { journal } = this.#life!.store
    const synced = await journal.sync()
    const { committed: position } = journal
    const digest = this.#comparison.report()
    const member = { ...this.#self, version: version(), position, synced, time: Date.now(), digest }
    await this.#membership.report(member, this.#lease!)
    this.#reportedAt = performance.now()
  }

  async #fetchSnapshot(): Promise<void> {
    const view = await this.#membership.view()
    this.#whereabouts.see(view)
    this.#comparison.forget()
    await fetchSnapshot(this.peers, this.#others(), this.#parts.config.data, this.#identity!, view.head.position)
  }

  // --- the world ------------------------------------------------------------------------------------------------

  /** Ends this world and begins another one on what `between` leaves in the folder. */
  #replace(between: () => Promise<void>): Promise<void> {
    const change = this.#changing.then(async () => {
      if (this.#stopped) return
      await this.#stopFollowing()
      const wasOpen = this.#life!.open
      await this.#life!.world.stop()
      await between()
      this.#life = await this.#lives.begin()
      await this.#life.world.follow(this.#publicUrl)
      // Its state is committed, though it may be old: reads are answered without waiting for etcd.
      if (wasOpen) this.#lives.open(this.#life)
    })
    this.#changing = change.catch(() => {})
    return change
  }

  #onWorldFailure(life: Incarnation, error: Error): void {
    if (life !== this.#life || this.#stopped) return
    if (error instanceof NotLeading) this.#stepDown(error.message)
    else this.#parts.onFailure(error)
  }

  /** Nothing that this world decided since its last commit has reached a client, and nothing will. */
  #stepDown(reason: string): void {
    if (!this.#life!.term || this.#stopped) return
    warn(`this daemon no longer leads the cluster: ${reason}`)
    this.#life!.term = undefined
    const lease = this.#lease
    this.#lease = undefined
    this.#replace(async () => {
      await lease?.revoke()
    })
      .then(() => this.#startFollowing())
      .catch(error => this.#fail(error))
  }

  // --- following ------------------------------------------------------------------------------------------------

  #startFollowing(): void {
    if (this.#stopped) return
    const life = this.#life!
    life.ending = new AbortController()
    life.following = this.#following.follow(life).catch(error => {
      if (error instanceof LogTrimmed)
        this.#replace(() => this.#fetchSnapshot())
          .then(() => this.#startFollowing())
          .catch(failure => this.#fail(failure))
      else this.#fail(error)
    })
  }

  /** This daemon cannot recover from the error. It gives up its lease, so that the others need not wait for its end. */
  #fail(error: Error): void {
    const failure = new ReplicaFailed(error.message)
    if (this.#stopped) return
    this.#stopped = true
    this.#lives.refuse(failure)
    if (this.#life?.open) this.#parts.onFailure(failure)
    void this.#lease?.revoke()
  }

  async #stopFollowing(): Promise<void> {
    this.#life?.ending.abort()
    this.#following.beginAgain()
    await this.#life?.following
  }

  /** Waits until this daemon is at the position. False when that takes too long, or when the log does not go that far. */
  async #reach(position: number): Promise<boolean> {
    const at = () => this.#life!.store.journal.committed
    if (position <= at()) return true
    const head = await this.#log.head().catch(() => undefined)
    if (head && head.position < position) return false
    if (position <= at()) return true
    return this.#positions.wait(position, patience)
  }

  // --- leading --------------------------------------------------------------------------------------------------

  get #standing(): Standing {
    return { ...this.#self, leads: this.#leads, stopped: this.#stopped }
  }

  get #leads(): boolean {
    return this.#life?.term !== undefined && this.#life.leads
  }

  async #campaign(): Promise<void> {
    const life = this.#life!
    const lease = this.#lease!
    const election = await this.#membership.campaign(this.#self, lease)
    if (!election) return
    const { journal } = life.store
    const caughtUp = journal.position >= election.head.position || (await this.#reach(election.head.position))
    await this.#stopFollowing()
    if (!caughtUp || journal.position !== election.head.position || lease.signal.aborted) {
      // Another daemon may be further: try again later.
      await lease.revoke()
      this.#lease = undefined
      return this.#startFollowing()
    }
    const term: Term = { number: election.term, head: election.head, signal: lease.signal }
    life.term = term
    lease.signal.addEventListener('abort', () => this.#life === life && this.#stepDown('its lease has ended'))
    journal.lead({
      commit: batch =>
        this.#log.commit(term, batch).catch(error => {
          throw new NotLeading((error as Error).message)
        }),
    })
    try {
      await this.#log.dropStaged(term)
      await life.world.lead()
      life.leads = true
      this.#lives.open(life)
    } catch (error) {
      this.#stepDown((error as Error).message)
    }
  }

  /** What was begun is finished, what comes is left to the next leader, and the others know it before the port closes. */
  async #handOver(): Promise<void> {
    this.#life!.leads = false
    await this.world.engine.settled().catch(() => {})
    await this.#lease?.revoke()
    if (this.#others().length > 0) await outliveLead(this.#membership, this.#self.id, lookEvery)
  }

  // --- the others -----------------------------------------------------------------------------------------------

  /** Reads the members and the leader from etcd, and tries to be elected where there is none. */
  async #look(): Promise<void> {
    try {
      await this.#changing
      const { committed } = this.#life!.store.journal
      const view = await this.#membership.view()
      checkHistory(committed, view.head.position)
      this.#whereabouts.see(view)
      await this.#act(view)
      this.#complaints.end()
    } catch (error) {
      if (error instanceof AnotherHistory) return this.#fail(error)
      if (!this.#stopped) this.#complaints.report(error as Error)
    }
    if (!this.#stopped) this.#looking = setTimeout(() => void this.#look(), lookEvery)
  }

  async #act(view: View): Promise<void> {
    if (this.#stopped) return
    if (!this.#lease || this.#lease.signal.aborted) await this.#renewLease()
    else if (this.#comparison.hasNews || performance.now() - this.#reportedAt > reportEvery) await this.#report()
    const { leader, head } = view
    const life = this.#life!
    if (life.term && leader?.id !== this.#self.id) this.#stepDown('another daemon leads the cluster')
    else if (!life.term && leader === undefined && life.caughtUp) await this.#campaign()
    else if (!life.term) this.#following.checkProgress(life, head.position)
    this.#keeper.keep(view, this.#leads ? life.term : undefined)
    this.#comparison.look(view, this.#self.id, this.#leads ? life.term?.number : undefined)
  }

  #others(): string[] {
    return this.#whereabouts.others(this.#identity?.member)
  }

  status() {
    const { store, caughtUp } = this.#life!
    const { committed: position } = store.journal
    const { isFresh, headBefore, view } = this.#whereabouts
    const details = describeStatus({
      name: this.#parts.config.cluster!.name,
      self: this.#self,
      leads: this.#leads,
      position,
      view,
      reachesEtcd: isFresh,
      log: this.#keeper.size,
    })
    return { caughtUp: caughtUp && position >= headBefore && isFresh, details }
  }
}
