// One running organization: state, engine, queues, clock, scheduler, webhooks, mail and control plane. Worlds share nothing;
// what a process has only once (port, lock, log) is in `daemon.ts`.

import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Level } from '../api/levels/level.ts'
import { Boundary, type Cancel, Defect } from '../boundary.ts'
import { type Clock, SteeredClock } from '../clock.ts'
import { ControlPlane } from '../control/control-plane.ts'
import { Findings } from '../control/strict.ts'
import { resources } from '../domain/index.ts'
import type { User } from '../domain/model/state.ts'
import { rateLimited } from '../domain/refusal.ts'
import type { Keys, Surroundings, Tools } from '../domain/resource.ts'
import { isOwner } from '../domain/rules/index.ts'
import { Engine } from '../engine.ts'
import { Queues } from '../events/queues.ts'
import { type ControlHandler, Site } from '../http/site.ts'
import { Exports } from '../io/exports.ts'
import { keysFrom } from '../io/keys.ts'
import { type Mailer, openMailer } from '../io/mail.ts'
import { Passwords } from '../io/passwords.ts'
import { type Randomness, realRandomness, seededRandomness } from '../io/randomness.ts'
import { UnneededFiles } from '../io/unneeded-files.ts'
import { Webhooks } from '../io/webhooks.ts'
import { version } from '../local/version.ts'
import { warn } from '../local/warnings.ts'
import { WrittenBudget } from '../written-budget.ts'
import { agreeOnSecret, checkImport, foundOrganization } from './first-start.ts'
import type { Beginning, WorldParts } from './parts.ts'
import { Scheduler } from './scheduler.ts'
import { createClock, createDateHeader, serverFacts } from './settings.ts'
import { snapshotFiles } from './snapshot-file.ts'

export type { Beginning, WorldCluster, WorldParts } from './parts.ts'

/** Milliseconds until an idle world notices that its folder is gone. A write notices it immediately. */
const storeCheckMs = 1000

export class World {
  readonly clock: Clock
  readonly keys: Keys
  readonly engine: Engine
  /** Undefined where the control plane is closed. */
  readonly control: ControlPlane | undefined
  /** Mounted on the server, it answers the requests to this world. */
  readonly site: Site
  readonly #parts: WorldParts
  readonly #queues: Queues
  readonly #scheduler: Scheduler
  readonly #webhooks: Webhooks
  readonly #exports: Exports
  readonly #mailer: Mailer
  readonly #unneededFiles: UnneededFiles
  readonly #server: ReturnType<typeof serverFacts>
  readonly #tools: Tools
  #randomness: Randomness = realRandomness
  #leading = false
  /** The defect that ended it. */
  ended: string | undefined
  #compaction: Cancel | undefined
  #storeCheck: Cancel | undefined
  /** Runs timers and tasks of this world. A defect in one of them ends this world and no other. */
  readonly #boundary = new Boundary(error => this.#endBy(error))

  constructor(parts: WorldParts) {
    const { settings, store } = parts
    const passwords = new Passwords(settings.passwordCost, rateLimited)
    this.#parts = parts
    this.clock = createClock(settings, this.#boundary)
    this.keys = keysFrom(store.secret.text)
    this.#server = serverFacts(settings)
    this.#tools = {
      hashPassword: password => passwords.hashPassword(password),
      verifyPassword: (password, hash) => passwords.verifyPassword(password, hash),
      keepFile: store.files.keep,
      server: this.#server,
    }
    this.#mailer = this.#buildMailer()
    this.#queues = this.#buildQueues()
    this.engine = this.#buildEngine()
    const surroundings = () => this.#surroundings()
    const jobs = resources.flatMap(resource => resource.jobs ?? [])
    this.#scheduler = new Scheduler(this.engine, jobs, this.clock, surroundings)
    this.#unneededFiles = new UnneededFiles(this.engine, store.files, store.isHeld)
    this.#webhooks = new Webhooks({
      engine: this.engine,
      clock: this.clock,
      surroundings,
      permitted: { loopback: settings.webhookLoopback, private: settings.webhookPrivate },
      timeout: settings.webhookTimeout * 1000,
      onRequest: (delivery, request) => this.control?.deliveries.sending(delivery, request),
      onAttempt: parts.metrics?.countWebhook,
    })
    this.#exports = new Exports({ engine: this.engine, files: store.files, surroundings })
    this.control = this.#buildControl()
    this.site = this.#buildSite()
  }

  /**
   * Reads the store, founds the organization if there is none, and opens. `url` is the address for clients, without a slash at
   * the end. Requests that arrive before this is done wait up to a second, and are refused then.
   */
  async start(url: string): Promise<void> {
    await this.engine.read()
    await this.lead(url)
    this.#startMaintenance()
  }

  /** Reads the store and leaves commands to the leader of the cluster. The world opens when it leads itself, or by `open`. */
  async follow(url: string): Promise<void> {
    await this.engine.read()
    this.engine.follow()
    this.#server.url = url
    this.#startMaintenance()
  }

  /** Answers requests. */
  open(): void {
    this.site.open()
  }

  /** Runs commands from now on. */
  async lead(url = this.#server.url): Promise<void> {
    const { settings, beginning } = this.#parts
    const { random } = settings
    this.#leading = true
    await this.engine.lead()
    if (beginning) this.#beginWith(beginning)
    await checkImport(settings, this.engine)
    await agreeOnSecret(settings, this.#parts.store.secret, this.engine)
    // The next start on this store must draw other numbers, even after a restore has set its position back.
    const { position, restoreId = '' } = this.engine
    if (random !== undefined) this.#randomness = seededRandomness(`${random}:${restoreId}${position}`)
    await this.#found()
    this.control?.begin(beginning?.sections)
    this.#server.url = url
    this.site.open()
    this.#scheduler.start()
    this.#webhooks.start()
    this.#exports.start()
    this.#unneededFiles.sweep()
  }

  #startMaintenance(): void {
    this.#mailer.resume()
    if (this.#parts.settings.memory) return
    this.#compactWhenWorthIt()
    this.#storeCheck = this.#boundary.every(storeCheckMs, () => this.engine.checkStore())
  }

  /** A beginning for another world: this one as it is now, or as it was when a snapshot was saved. */
  copy(snapshot?: string): Beginning {
    const copied = this.control!.snapshots.copy(snapshot, 'snapshot')
    return { ...copied, files: this.#parts.store.files, level: this.level.number }
  }

  /** Whether a call or a poll waits for an answer from it. */
  get isAwaited(): boolean {
    for (const { waiter } of this.#queues.values()) if (waiter) return true
    return this.control?.isAwaited ?? false
  }

  /** Answers a request whose path, as this world sees it, is in `request.url`. */
  serve(request: IncomingMessage, response: ServerResponse): void {
    this.site.serve(request, response)
  }

  /**
   * Stops timers and tasks, answers waiting polls, and closes the journal. `drain` resolves when the requests in progress are
   * answered; requests after that are refused with `why`. Can be called before `start`, too.
   */
  async stop(drain: () => Promise<void> = async () => {}, why?: string): Promise<void> {
    this.site.beginClosing()
    this.#scheduler.stop()
    await this.#webhooks.stop()
    await this.#exports.stop()
    this.#compaction?.()
    this.#storeCheck?.()
    this.#queues.answerAll()
    this.control?.end()
    await drain()
    await this.#unneededFiles.stop()
    await this.#savePresence()
    await this.engine.close(why)
    this.site.close(why)
    if (this.clock instanceof SteeredClock) this.clock.stop()
    await this.#mailer.settled()
    this.control?.findings?.report(this.#parts.prefix)
  }

  #endBy(error: Error): void {
    this.ended = error.message
    this.#parts.host.log.error({ err: error, url: this.url }, 'a defect ended the organization at this address')
    this.engine.fail(new Defect(error))
  }

  /** After a defect: refuses calls, and polls and waits in progress. */
  #refuseAll(): void {
    const refusal = this.engine.failure!
    this.site.end(refusal)
    this.#queues.refuseAll(refusal)
    this.control?.end()
  }

  /** Presence is not journaled report by report: without this, reports since the last snapshot would be lost. */
  async #savePresence(): Promise<void> {
    const rows = this.engine.state.presence.unsaved()
    if (rows.length === 0 || this.#parts.settings.memory || !this.#leading) return
    // The engine has reported the error already.
    await this.engine.record('save-presence', null, [{ type: 'presence.saved', rows }]).catch(() => {})
  }

  removeQueues(ids: readonly string[], reason: 'expired' | 'overflowed'): void {
    const facts = ids.map(queueId => ({ type: 'queue.removed' as const, queueId, reason }))
    this.engine.record('expire-queues', null, facts).catch(() => {})
  }

  get url(): string {
    return this.#server.url
  }

  get level(): Level {
    return this.#server.level
  }

  /** The first of its active owners. */
  get owner(): User {
    for (const user of this.engine.state.users.values()) if (isOwner(user) && user.active) return user
    throw new Error('the organization has no active owner')
  }

  // --- start ----------------------------------------------------------------------------------------------------

  #beginWith({ sections, clock, level }: Beginning): void {
    this.engine.begin(sections)
    this.#server.chooseLevel(level)
    if (clock && this.clock instanceof SteeredClock) this.clock.jump(clock)
  }

  async #found(): Promise<void> {
    const { clock, engine, keys } = this
    const surroundings = { client: 'internal', random: this.#random, keys, server: this.#server }
    await foundOrganization({ ...this.#parts, clock, engine }, () => ({
      now: clock.now(),
      tools: this.#tools,
      surroundings,
      chooseLevel: this.#server.chooseLevel,
    }))
  }

  #compactWhenWorthIt(): void {
    const { store } = this.#parts
    this.#compaction = this.#boundary.every(5000, async () => {
      if (store.worthCompacting())
        await this.engine.compact().catch(error => warn(`compaction failed: ${error.message}`))
    })
  }

  // --- parts: they look each other up when they call each other, so they can be built in any order ----------------

  readonly #now = (): number => this.clock.now()
  readonly #elapsed = (): number => this.clock.elapsed()

  readonly #random = (): string => this.#randomness.uuid()

  #surroundings(): Surroundings {
    const { engine, keys } = this
    const random = this.#random
    return { state: engine.state, now: this.#now(), client: 'internal', random, keys, server: this.#server }
  }

  #buildQueues(): Queues {
    const { heartbeat, maxPending, maxPendingMib } = this.#parts.settings
    return new Queues({
      clock: this.clock,
      limits: {
        maxPending,
        maxPendingSize: maxPendingMib * 1024 * 1024,
        heartbeatMs: () => (heartbeat === undefined ? 45_000 + this.#randomness.number() * 10_000 : heartbeat * 1000),
      },
      ownerOf: userId => this.engine.state.users.get(userId)?.bot?.ownerId ?? userId,
      remove: (ids, reason) => {
        if (!this.#leading) return
        if (this.#parts.cluster && reason === 'expired') this.#parts.cluster.expire(ids)
        else this.removeQueues(ids, reason)
      },
      tick: () => {
        this.engine.record('tick', null, []).catch(() => {})
      },
    })
  }

  #buildEngine(): Engine {
    const { store, onFailure } = this.#parts
    return new Engine({
      journal: store.journal,
      snapshots: store.snapshots,
      queues: this.#queues,
      now: this.#now,
      onFailure: error => {
        if (error instanceof Defect) this.#refuseAll()
        else this.site.beginClosing()
        onFailure(error)
      },
      boundary: this.#boundary,
      whenEnded: this.#parts.whenEnded,
      budget: this.#parts.settings.rateLimit ? new WrittenBudget(this.#elapsed) : undefined,
      ...(this.#parts.settings.control && { onFact: (...fact) => this.control?.take(...fact) }),
      onChange: () => {
        this.#scheduler.reconsider()
        this.#webhooks.reconsider()
        this.#exports.reconsider()
        this.control?.deliveries.reconsider()
      },
      post: mails => {
        this.control?.post(mails)
        this.#mailer.post(mails.filter(({ push }) => !push))
      },
      drop: files => {
        // With the control plane, a client can go back to a state that needs the files.
        if (!this.control) this.#boundary.run(() => this.#unneededFiles.drop(files))
      },
      cluster: this.#parts.cluster,
    })
  }

  #buildMailer(): Mailer {
    const { settings, store } = this.#parts
    const from = `noreply@${this.#server.emailDomain}`
    return openMailer({ folder: store.outbox, smtpUrl: settings.smtpUrl, from, now: this.#now })
  }

  #buildControl(): ControlPlane | undefined {
    const { clock, engine, keys } = this
    if (!this.#parts.settings.control || !(clock instanceof SteeredClock)) return undefined
    return new ControlPlane({
      engine,
      clock,
      keys,
      level: () => this.level,
      randomNumber: () => this.#randomness.number(),
      kept: !this.#parts.settings.memory,
      quiet: async () => {
        await this.#webhooks.quiet()
        await this.#exports.quiet()
      },
      version: version(),
      findings: this.#parts.settings.strict ? (this.#parts.findings ?? new Findings()) : undefined,
      snapshotFiles: snapshotFiles(this.#parts.store.files),
      journalSize: this.#parts.store.journalSize,
    })
  }

  /** Routes are loaded with the first request. */
  #controlHandler(plane: ControlPlane): ControlHandler {
    let handler: Promise<ControlHandler> | undefined
    const { host, spaces } = this.#parts
    return async (request, reply) => {
      handler ??= import('../control/routes.ts').then(({ controlHandler }) => controlHandler({ plane, spaces, host }))
      return (await handler)(request, reply)
    }
  }

  #buildSite(): Site {
    const { settings, store, host, cluster } = this.#parts
    const { clock, control, engine, keys } = this
    return new Site(
      {
        engine,
        resources,
        now: this.#now,
        elapsed: this.#elapsed,
        random: this.#random,
        keys,
        findFile: store.files.find,
        files: store.files,
        tools: this.#tools,
        server: this.#server,
        dialect: settings.dialect,
        rateLimit: settings.rateLimit,
        trustProxy: settings.trustProxy,
        mcp: settings.mcp,
        maxQueuesPerUser: settings.maxQueues,
        date: createDateHeader(clock),
        watch: control?.watch,
        control: control && this.#controlHandler(control),
        takesLargeSnapshots: this.#parts.spaces !== undefined,
        metrics: this.#parts.metrics,
        ...(cluster && {
          forwarding: cluster.forwarding,
          onSignals: cluster.onSignals,
          clusterStatus: cluster.clusterStatus,
        }),
      },
      host,
    )
  }
}
