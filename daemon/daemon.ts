// Joins the parts into a running daemon. `main.ts` does it for a process, the testing library for a test.

import { join } from 'node:path'
import emojiNames from '../data/emoji.json' with { type: 'json' }
import type { Ready } from './api/local.ts'
import { type Config, isLoopback } from './config.ts'
import { ControlPlane } from './control/control-plane.ts'
import { addControlRoutes } from './control/routes.ts'
import { resources } from './domain/index.ts'
import { limits } from './domain/limits.ts'
import { useEmojiNames } from './domain/markdown/emoji-names.ts'
import type { Keys, Surroundings } from './domain/resource.ts'
import { isOwner } from './domain/rules/index.ts'
import { knowsEndpoint } from './endpoints.ts'
import { Engine } from './engine.ts'
import { Queues } from './events/queues.ts'
import { buildServer } from './http/server.ts'
import { type Clock, RealClock, SteeredClock } from './io/clock.ts'
import { hashPassword, keysFrom, verifyPassword } from './io/keys.ts'
import { openMailer } from './io/mail.ts'
import { type Randomness, realRandomness, seededRandomness } from './io/randomness.ts'
import { checkSecret, type Secret } from './io/secret.ts'
import { UnneededFiles } from './io/unneeded-files.ts'
import { Webhooks } from './io/webhooks.ts'
import { Scheduler } from './scheduler.ts'
import { firstFacts } from './seed/found.ts'
import type { SeedContext } from './seed/seed-facts.ts'
import { openStore } from './store.ts'

export interface Daemon {
  readonly ready: Ready
  /** Where it listens, whatever clients call it. */
  readonly localUrl: string
  readonly engine: Engine
  readonly clock: Clock
  /** The control plane, where it is open. */
  readonly control: ControlPlane | undefined
  /** Answers parked polls, flushes, lets go of store and port. */
  stop(): Promise<void>
}

export async function startDaemon(
  config: Config,
  onFailure: (error: Error) => void,
  warn: (text: string) => void,
): Promise<Daemon> {
  useEmojiNames(emojiNames)
  const clock = clockOf(config)
  const now = () => clock.now()
  const store = await openStore(config, warn)
  const keys = keysFrom(store.secret.text)
  let randomness: Randomness = realRandomness
  const random = () => randomness.uuid()
  const control = !(config.control && clock instanceof SteeredClock)
    ? undefined
    : new ControlPlane({
        clock,
        randomNumber: () => randomness.number(),
        keys,
        quiet: () => webhooks.quiet(),
      })
  const queues = new Queues({
    clock,
    limits: {
      maxPending: config.maxPending,
      maxPendingSize: config.maxPendingMiB * 1024 * 1024,
      heartbeatMs: () =>
        config.heartbeat === undefined ? 45_000 + randomness.number() * 10_000 : config.heartbeat * 1000,
    },
    remove: (ids, reason) => {
      engine
        .record(
          'expire-queues',
          null,
          ids.map(queueId => ({ type: 'queue.removed', queueId, reason })),
        )
        .catch(() => {})
    },
    tick: () => {
      engine.record('tick', null, []).catch(() => {})
    },
  })
  const engine = new Engine({
    journal: store.journal,
    snapshots: store.snapshots,
    queues,
    now,
    onFailure,
    onChange: () => {
      scheduler.reconsider()
      webhooks.reconsider()
      control?.deliveries.reconsider()
    },
    post: mails => {
      control?.post(mails)
      mailer.post(mails)
    },
    drop: files => {
      // The control plane may go back to a state that names what this one does not.
      if (!control) void unneededFiles.drop(files)
    },
  })
  const surroundings = (): Surroundings => ({
    state: engine.state,
    now: now(),
    client: 'internal',
    random,
    keys,
    server,
  })
  const scheduler = new Scheduler(
    engine,
    resources.flatMap(resource => resource.jobs ?? []),
    clock,
    surroundings,
    warn,
  )
  const webhooks = new Webhooks({
    engine,
    clock,
    surroundings,
    permitted: { loopback: isLoopback(config.host), private: config.webhookPrivate },
    timeout: config.webhookTimeout * 1000,
    onRequest: (delivery, request) => control?.deliveries.sending(delivery, request),
  })
  let begin = () => {}
  const started = new Promise<void>(resolve => {
    begin = resolve
  })
  let phase: 'starting' | 'ready' | 'stopping' = 'starting'
  const unneededFiles = new UnneededFiles(engine, store.files, warn)
  let localUrl = ''
  const server = {
    url: '',
    emailDomain: 'example.com',
    devAuth: config.devAuth,
    ...(config.uploadQuota !== undefined && { uploadQuotaMiB: config.uploadQuota }),
  }
  const mailer = openMailer({
    folder: config.memory ? null : join(config.data, 'outbox'),
    smtpUrl: config.smtpUrl,
    from: `noreply@${server.emailDomain}`,
    now,
    warn,
  })
  const tools = { hashPassword, verifyPassword, keepFile: store.files.keep, server }
  const http = buildServer({
    engine,
    resources,
    now,
    random,
    keys,
    readFile: store.files.read,
    tools,
    server,
    dialect: config.dialect,
    rateLimit: config.rateLimit,
    maxQueuesPerUser: config.maxQueues,
    // Room for the largest file, and for what a form puts around it.
    bodyLimit: (limits.fileUploadMiB + 1) * 1024 * 1024,
    logger: { level: config.logLevel, stream: process.stderr },
    phase: () => phase,
    started,
    // Two runs of a script give the same transcript, headers included.
    date: clock instanceof SteeredClock ? () => (clock.frozen ? new Date(now()).toUTCString() : undefined) : undefined,
    watch: control?.attach(engine),
    addRoutes: control && (app => addControlRoutes(app, { plane: control, knows: knowsEndpoint })),
  })
  try {
    // Before the world stands: /readyz can say that it does not, and a port in use is known before anything is written.
    const address = await http.listen({ host: config.host, port: config.port })
    await engine.boot()
    await agreeOnSecret(store.secret, engine, config)
    // Another start on the same store must not draw the same again.
    if (config.random !== undefined) randomness = seededRandomness(`${config.random}:${engine.position}`)
    const context = { now: now(), tools, surroundings: { client: 'internal', random, keys, server } }
    await raiseOrganization(config, engine, context, warn)
    if (control) {
      control.worlds.begin()
      // Not earlier: how the world came to be is no news, and telling it would be a third of the start.
      queues.onAnnounced = announcements => control.events.log(announcements)
    }
    localUrl = readableUrl(address, config.host)
    server.url = config.url ?? localUrl
    phase = 'ready'
    begin()
    scheduler.start()
    webhooks.start()
    mailer.resume()
    unneededFiles.sweep()
  } catch (error) {
    await http.close()
    await engine.close().catch(() => {})
    await store.release()
    throw error
  }
  const compaction = setInterval(() => {
    if (store.worthCompacting()) engine.compact().catch(error => warn(`compaction failed: ${error.message}`))
  }, 5000)
  compaction.unref()
  return {
    ready: { ...readyOf(engine, server.url, keys), ...(control && { control_token: keys.controlToken }) },
    localUrl,
    engine,
    clock,
    control,
    async stop() {
      phase = 'stopping'
      scheduler.stop()
      await webhooks.stop()
      clearInterval(compaction)
      queues.answerAll()
      await http.close()
      await unneededFiles.stop()
      await engine.close()
      await mailer.settled()
      await store.release()
    },
  }
}

/** Before anybody gets a key: the keys of existing accounts must not change unless somebody asked for it. */
async function agreeOnSecret(secret: Secret, engine: Engine, config: Config): Promise<void> {
  if (config.memory) return
  if (!config.newSecret) checkSecret(secret, engine.secretVerifier, engine.state.users.size > 0)
  secret.keep()
  if (engine.secretVerifier !== secret.verifier)
    await engine.record('change-secret', null, [{ type: 'store.secret-changed', verifier: secret.verifier }])
}

/** The first start founds it; a later one finds it in the store. */
async function raiseOrganization(
  config: Config,
  engine: Engine,
  context: SeedContext,
  warn: (text: string) => void,
): Promise<void> {
  if (engine.state.users.size === 0) await engine.record('found-organization', null, await firstFacts(config, context))
  else if (config.seed !== undefined) warn('the store has an organization already; the seed is left aside')
  if (config.reactivate && engine.state.organization.deactivated)
    await engine.record('reactivate-organization', null, [{ type: 'organization.reactivated' }])
}

function clockOf({ clock, control }: Config): Clock {
  if (clock === 'real') return control ? new SteeredClock() : new RealClock()
  return new SteeredClock(clock.frozenAt === 'now' ? Date.now() : clock.frozenAt)
}

function readyOf(engine: Engine, url: string, keys: Keys): Ready {
  for (const user of engine.state.users.values())
    if (isOwner(user) && user.active)
      return { url, pid: process.pid, owner: { user_id: user.id, email: user.email, api_key: keys.keyOf(user) } }
  throw new Error('the organization has no active owner')
}

/** What the system gave, not what was asked for; nobody can call 0.0.0.0. */
function readableUrl(address: string, host: string): string {
  const { port } = new URL(address)
  if (host === '0.0.0.0' || host === '::') return `http://127.0.0.1:${port}`
  return isLoopback(host) && !host.includes(':') ? `http://${host}:${port}` : address
}
