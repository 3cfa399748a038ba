// natter/testing: a daemon inside the test's own process, on a port of its own, gone when the test is.

import { refuseUnknown } from '../api/did-you-mean.ts'
import { parseDuration } from '../api/durations.ts'
import { type Client, createClient } from '../client/index.ts'
import { type Caller, callerOf } from '../client/sender.ts'
import { readConfig } from '../config.ts'
import type { Call } from '../control/calls.ts'
import type { Delivery } from '../control/deliveries.ts'
import type { LoggedEvent } from '../control/events.ts'
import type { Fault, FaultRule } from '../control/faults.ts'
import { readRule } from '../control/faults.ts'
import { userOf, waitFor } from '../control/wait.ts'
import { startDaemon } from '../daemon.ts'
import { knowsEndpoint } from '../domain/index.ts'
import type { Seed } from '../seed/format.ts'

export type { Call, Client, Delivery, Fault, FaultRule, LoggedEvent, Seed }

export interface NatterOptions {
  /** `dev` (the default): a small named world; `empty`: an owner and nothing else. */
  readonly preset?: 'empty' | 'dev'
  /** A file in JSON or YAML, or its content as an object. */
  readonly seed?: string | Seed
  /** `frozen` stops time now, a date at that moment. */
  readonly clock?: 'real' | 'frozen' | Date
  /** Makes keys and queue IDs the same in every run. */
  readonly secret?: string
  readonly random?: string
  readonly dialect?: 'auto' | 'spec' | 'zulip'
  readonly port?: number
  readonly rateLimit?: boolean
  readonly heartbeatSeconds?: number
  readonly logLevel?: 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'silent'
}

export interface Account {
  readonly userId: number
  readonly email: string
  readonly apiKey: string
}

/** Fields that must be there; texts such as `/ok/i` are patterns. */
export type Pattern = Readonly<Record<string, unknown>>

export interface WaitOptions {
  /** `5s` unless said. */
  readonly within?: Duration
  /** Only events that this person received. */
  readonly user?: string
}

/** `10m`, `1h30m`, or a number of seconds. */
export type Duration = string | number

export interface Natter extends AsyncDisposable {
  readonly url: string
  readonly owner: Client
  /** The control plane's, for other programs that talk to this daemon. */
  readonly controlToken: string
  /** By name (`amy`), address or ID. */
  as(user: string | number): Client
  account(user: string | number): Account
  /** What programs find their account by: NATTER_* and ZULIP_*. */
  env(user: string | number): Record<string, string>
  readonly clock: {
    now(): Date
    freeze(): void
    resume(): void
    /** Fires everything that falls due on the way, in order, and returns when it is done. */
    advance(by: Duration): Promise<void>
    set(to: Date): Promise<void>
  }
  /** The first event that fits, since the start or the last reset. Rejects with what came closest. */
  waitFor(event: Pattern, options?: WaitOptions): Promise<Record<string, any>>
  /** The same for a call of the API. */
  waitForCall(call: Pattern, options?: Pick<WaitOptions, 'within'>): Promise<Call>
  readonly faults: {
    add(rule: FaultRule): Fault
    list(): Fault[]
    remove(id: number): void
    clear(): void
  }
  requests(): Call[]
  /** From here on the log of calls begins anew. */
  forgetRequests(): void
  events(): LoggedEvent[]
  /** Deliveries to the servers of outgoing webhook bots, oldest first. */
  webhooks(): Delivery[]
  /** The first delivery that fits, tried at least once. Rejects with what came closest. */
  waitForWebhook(delivery: Pattern, options?: Pick<WaitOptions, 'within'>): Promise<Delivery>
  outbox(): { to: string; subject: string; text: string }[]
  /** Everything as it was at the start. */
  reset(): Promise<void>
  save(snapshot: string): void
  restore(snapshot: string): Promise<void>
  stop(): Promise<void>
}

/**
 * A daemon that is forgotten does not keep the test run alive: it is reported when the process ends. For a server that runs
 * by itself there is `natterd`.
 */
export async function startNatter(options: NatterOptions = {}): Promise<Natter> {
  refuseUnknown('startNatter', options, optionNames)
  const caller = callerOf(startNatter)
  const config = { ...readConfig(flagsOf(options), {}), seed: options.seed }
  const daemon = await startDaemon(config, fail, warn)
  daemon.unref()
  const forgotten = reportIfForgotten(caller)
  const control = daemon.world.control!
  const clients = new Map<number, Client>()
  let stopping: Promise<void> | undefined

  function account(name: string | number): Account {
    const user = userOf(control, name)
    return { userId: user.id, email: user.email, apiKey: control.parts.keys.keyOf(user) }
  }

  function as(name: string | number): Client {
    const { userId, email, apiKey } = account(name)
    const known = clients.get(userId)
    if (known?.email === email) return known
    const client = createClient({ site: daemon.localUrl, email, apiKey })
    clients.set(userId, client)
    return client
  }

  async function wait(kind: 'event' | 'call' | 'webhook', wanted: Pattern, { within = 5, user }: WaitOptions = {}) {
    const reader = user === undefined ? undefined : userOf(control, user).id
    const waited = await keepingAlive(waitFor(control, { [kind]: wanted, reader, within: milliseconds(within) }))
    if (waited.met) return waited[kind]
    throw new Error(missed(kind, wanted, waited.near))
  }

  function stop(): Promise<void> {
    stopping ??= keepingAlive(daemon.stop())
    forgotten.withdraw()
    return stopping
  }

  return {
    url: daemon.localUrl,
    owner: as(daemon.ready.owner.user_id),
    controlToken: control.parts.keys.controlToken,
    as,
    account,
    env(name) {
      const { email, apiKey } = account(name)
      const values = { SITE: daemon.localUrl, EMAIL: email, API_KEY: apiKey }
      return Object.fromEntries(
        Object.entries(values).flatMap(([key, value]) =>
          ['NATTER', 'ZULIP'].map(prefix => [`${prefix}_${key}`, value]),
        ),
      )
    },
    clock: {
      now: () => new Date(control.clock.now()),
      freeze: () => control.clock.freeze(),
      resume: () => control.clock.resume(),
      advance: by => keepingAlive(control.moveTo(now => now + milliseconds(by))),
      set: to => keepingAlive(control.moveTo(now => forward(now, to.getTime()))),
    },
    waitFor: async (event, options) => (await wait('event', event, options)).event,
    waitForCall: (call, options) => wait('call', call, options),
    faults: {
      add: rule =>
        control.faults.add(
          readRule({ ...rule }, { endpoint: knowsEndpoint, user: name => userOf(control, name).email }),
        ),
      list: () => control.faults.list(),
      remove: id => void control.faults.remove(id),
      clear: () => control.faults.clear(),
    },
    requests: () => control.calls.since(),
    forgetRequests: () => control.calls.clear(),
    events: () => control.events.since(),
    webhooks: () => control.deliveries.since(),
    waitForWebhook: (delivery, options) => wait('webhook', delivery, options),
    outbox: () => control.outbox.since(),
    reset: () => keepingAlive(control.reset()),
    save: snapshot => void control.worlds.save(snapshot),
    restore: snapshot => keepingAlive(control.worlds.restore(snapshot)),
    stop,
    [Symbol.asyncDispose ?? Symbol.for('Symbol.asyncDispose')]: stop,
  } as Natter
}

const optionNames = Object.keys({
  preset: 1,
  seed: 1,
  clock: 1,
  secret: 1,
  random: 1,
  dialect: 1,
  port: 1,
  rateLimit: 1,
  heartbeatSeconds: 1,
  logLevel: 1,
} satisfies Record<keyof NatterOptions, 1>)

/** A daemon that does not keep the process alive must still finish what somebody awaits. */
async function keepingAlive<T>(work: T | Promise<T>): Promise<T> {
  const hold = setInterval(() => {}, 2 ** 30)
  try {
    return await work
  } finally {
    clearInterval(hold)
  }
}

/** On stderr at the end of the process, unless withdrawn. */
function reportIfForgotten({ stack = '' }: Caller): { withdraw(): void } {
  const place = /^\s+at (.*)$/m.exec(stack)?.[1]
  const report = () =>
    warn(`a daemon was never stopped. Call stop() on what startNatter() returned ${place ?? ''}`.trimEnd())
  process.once('exit', report)
  return { withdraw: () => void process.removeListener('exit', report) }
}

function flagsOf(options: NatterOptions): string[] {
  const { preset = 'dev', clock = 'real', logLevel = 'error', port = 0 } = options
  const flags = ['--memory', '--no-profile', '--port', String(port), '--preset', preset, '--log-level', logLevel]
  flags.push('--clock', clock instanceof Date ? `frozen@${clock.toISOString()}` : clock)
  if (options.secret !== undefined) flags.push('--secret', options.secret)
  if (options.random !== undefined) flags.push('--random', options.random)
  if (options.dialect !== undefined) flags.push('--dialect', options.dialect)
  if (options.heartbeatSeconds !== undefined) flags.push('--heartbeat', String(options.heartbeatSeconds))
  if (options.rateLimit) flags.push('--rate-limit')
  return flags
}

function missed(kind: string, wanted: Pattern, near: readonly { readonly differs: readonly string[] }[]): string {
  const closest = near.map(({ differs }) => `  - ${differs.join('; ')}`)
  const seen = closest.length > 0 ? `The closest were:\n${closest.join('\n')}` : `There was no ${kind} at all.`
  return `no ${kind} matched ${JSON.stringify(wanted)}. ${seen}`
}

function milliseconds(given: Duration): number {
  const ms = typeof given === 'number' ? given * 1000 : parseDuration(given)
  if (ms === undefined || !(ms >= 0)) throw new TypeError(`"${given}" is not a time such as 10m or 1h30m`)
  return Math.round(ms)
}

function forward(now: number, to: number): number {
  if (!(to >= now)) throw new RangeError(`it is ${new Date(now).toISOString()} already; time goes back by reset only`)
  return to
}

function fail(error: Error): void {
  throw error
}

function warn(text: string): void {
  process.stderr.write(`natter: ${text}\n`)
}
