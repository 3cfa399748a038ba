// A space of a daemon that runs in another process, for tests that share one: workers of a test runner, for instance.

import { randomUUID } from 'node:crypto'
import { resolveAddress, siteAddress } from '../api/address.ts'
import { isSpaceName } from '../api/control/spaces.ts'
import { createEndingClient } from '../client/client.ts'
import { NatterError } from '../client/index.ts'
import { readBody } from '../client/sender.ts'
import { attemptAll, runOfTest } from '../client/uncaught.ts'
import type { ShownSpace } from '../control/spaces.ts'
import type { Difference } from '../domain/difference/index.ts'
import type { FailureReport } from '../local/failure-files.ts'
import { harmless } from '../local/harmless.ts'
import { controlTokenIn } from '../local/ready-file.ts'
import { Bots, longestRegistration } from './bots.ts'
import { addRunning, keepReport, removeRunning } from './keep.ts'
import {
  type Account,
  buildVariables,
  checkWait,
  checkWhy,
  type Explanation,
  explainMiss,
  keepingAlive,
  milliseconds,
  mostDifferences,
  type Natter,
  type Pattern,
  readListenerWait,
  type SpaceOptions,
  type WaitKind,
  type WaitOptions,
  wantedSpace,
} from './natter.ts'

export interface RemoteOptions extends SpaceOptions {
  /** The URL of the daemon. With `#token=…`, as in its ready file, it brings the control token along. */
  readonly in: string
  /** Needed unless the URL has it, or the environment: NATTER_CONTROL_TOKEN, for the site in NATTER_SITE. */
  readonly controlToken?: string
}

type Promised<F> = F extends (...args: infer A) => infer R ? (...args: A) => Promise<Awaited<R>> : never
type AllPromised<T> = { readonly [K in keyof T]: Promised<T[K]> }

type Same = 'url' | 'owner' | 'controlToken'
/** What a daemon in another process does not have. */
type InProcess = 'space' | symbol

/** The same as `Natter`, and everything that asks the daemon returns a promise. */
export interface RemoteNatter
  extends AllPromised<Omit<Natter, Same | InProcess | 'clock' | 'faults'>>,
    Pick<Natter, Same>,
    AsyncDisposable {
  readonly name: string
  readonly clock: AllPromised<Natter['clock']>
  readonly faults: AllPromised<Natter['faults']>
}

export async function takeSpace({ in: given, controlToken, ...options }: RemoteOptions): Promise<RemoteNatter> {
  const { site, token } = daemonIn(given, controlToken)
  const daemon = controlAt(site, token)
  const space = await daemon<ShownSpace>('POST', '/spaces', wantedSpace('startNatter', options))
  if (!isSpaceName(space.name))
    throw new Error(
      `startNatter: ${site} answered with ${harmless(String(JSON.stringify(space.name)))}, which cannot be the name of a space; check that it is the daemon that you mean`,
    )
  const ending = new AbortController()
  const end = async () => {
    ending.abort()
    await daemon('DELETE', `/spaces/${space.name}`).catch(unlessGone)
  }
  // Below the site that was given: the address in the answer may be one that only the daemon knows, or lead elsewhere.
  const url = `${site}/spaces/${space.name}`
  const remote = createRemote({ ...space, url }, ending.signal, end)
  addRunning(remote)
  return remote
}

function createRemote(space: ShownSpace, ending: AbortSignal, end: () => Promise<void>): RemoteNatter {
  const { url, name, control_token: token } = space
  const control = controlAt(url, token)
  const connect = ({ email, apiKey }: Account) => createEndingClient({ site: url, email, apiKey }, ending)

  async function account(user: string | number): Promise<Account> {
    const found = await control('GET', `/accounts/${encodeURIComponent(user)}`)
    return readAccount(found.account)
  }

  async function wait(kind: WaitKind, wanted: Pattern, options: WaitOptions = {}) {
    checkWait(kind, wanted, options)
    const { within = 5, user } = options
    const params = {
      [kind]: wanted,
      within: milliseconds('within', within) / 1000,
      ...(user !== undefined && { user }),
    }
    const waited = await control('POST', '/wait', params)
    if (waited.met) return waited[kind]
    const near = Array.isArray(waited.near) ? waited.near.filter(one => Array.isArray(one?.differs)) : []
    const { why, cause } = bots.explainMiss()
    throw new Error(explainMiss(kind, wanted, near, user) + why, cause && { cause })
  }

  const bots = new Bots(url, account)

  function setBack(path: string): Promise<void> {
    const within = longestRegistration / 1000
    return bots.setBack(
      () => ask('POST', path),
      user => control('POST', '/queues/wait', { user, within }).catch(unlessGone),
    )
  }

  const stopping = once(() => bots.stop(end))

  function stop(): Promise<void> {
    removeRunning(remote)
    return stopping()
  }

  const list = async (path: string, field: string) => (await control('GET', `${path}?limit=100000`))[field]
  const ask = async (method: string, path: string, params?: object) => void (await control(method, path, params))

  const functions: Omit<RemoteNatter, typeof Symbol.asyncDispose> = {
    name,
    url,
    owner: connect(readAccount(space.owner)),
    controlToken: token,
    account,
    as: async user => connect(await account(user)),
    env: async user => buildVariables(url, await account(user)),
    runBot: (handler, options) => bots.run(handler, options),
    clock: {
      now: async () => new Date((await control('GET', '/clock')).now),
      freeze: () => ask('POST', '/clock/freeze'),
      resume: () => ask('POST', '/clock/resume'),
      advance: by => ask('POST', '/clock/advance', { by: milliseconds('by', by) / 1000 }),
      set: to => ask('POST', '/clock/set', { to: to.toISOString() }),
    },
    waitFor: async (event, options) => (await wait('event', event, options)).event,
    waitForCall: (call, options) => wait('call', call, options),
    async waitForListener(user, options) {
      const { ms, missed } = readListenerWait(user, options)
      const { met } = await control('POST', '/queues/wait', { user, within: ms / 1000 })
      if (!met) throw missed()
    },
    waitForWebhook: (delivery, options) => wait('webhook', delivery, options),
    faults: {
      add: async rule => (await control('POST', '/faults', rule)).fault,
      list: async () => (await control('GET', '/faults')).faults,
      remove: id => ask('DELETE', `/faults?id=${id}`),
      clear: () => ask('DELETE', '/faults'),
    },
    requests: () => list('/requests', 'requests'),
    findings: async () => (await control('GET', '/findings')).findings,
    forgetRequests: () => ask('DELETE', '/requests'),
    events: () => list('/events', 'events'),
    webhooks: () => list('/webhooks', 'deliveries'),
    outbox: () => list('/outbox', 'mails'),
    reset: () => setBack('/reset'),
    save: snapshot => ask('POST', '/snapshots', { name: snapshot }),
    restore: snapshot => setBack(`/snapshots/${encodeURIComponent(snapshot)}/restore`),
    why: (of, user) => control<Explanation>('GET', `/why?${new URLSearchParams(question(of, user))}`),
    async changed(work) {
      const before = `changed-${randomUUID()}`
      await ask('POST', '/snapshots', { name: before })
      try {
        await runOfTest(work)
        return await control<Difference>('GET', `/snapshots/diff?from=${before}&limit=${mostDifferences}`)
      } finally {
        await ask('DELETE', `/snapshots/${before}`)
      }
    },
    async keep(folder, why) {
      const report = await control<FailureReport & { version: string }>('GET', '/report')
      const { body } = await send(url, token, 'GET', '/snapshots/now/file')
      await keepingAlive(keepReport(report, body!, folder, why))
    },
    stop,
  }
  attemptAll(functions, ['clock', 'faults'])
  const remote = Object.assign(functions, {
    [Symbol.asyncDispose ?? Symbol.for('Symbol.asyncDispose')]: stop,
  }) as RemoteNatter
  return remote
}

function question(of: number | { readonly call: number }, user: string | number = ''): Record<string, string> {
  checkWhy(of)
  return typeof of === 'object' ? { call: String(of.call) } : { message: String(of), user: String(user) }
}

/** A call of the control plane of one world. */
type Control = <R = Record<string, any>>(method: string, path: string, params?: object) => Promise<R>

function controlAt(site: string, token: string): Control {
  return async <R>(method: string, path: string, params?: object) =>
    (await readBody(await send(site, token, method, path, params))) as R
}

/** Resolves to an answer that is no refusal; its body has not been read yet. */
async function send(site: string, token: string, method: string, path: string, params?: object): Promise<Response> {
  const headers = { Authorization: `Bearer ${token}`, ...(params && { 'Content-Type': 'application/json' }) }
  const response = await keepingAlive(
    fetch(resolveAddress(site, `/control/v1${path}`), {
      method,
      headers,
      redirect: 'manual',
      ...(params && { body: JSON.stringify(params) }),
    }),
  )
  if (response.ok) return response
  throw new NatterError(response.status, await readBody(response), null, `${method} /control/v1${path}`)
}

/** A token goes only to the site that it came with. */
function daemonIn(given: string, controlToken: string | undefined): { site: string; token: string } {
  if (typeof given !== 'string' || !/^https?:\/\//.test(given) || !URL.canParse(given))
    throw new TypeError(
      `startNatter: in must be the URL of a daemon, such as http://127.0.0.1:9991, not ${given}; natter exec sets NATTER_SITE`,
    )
  const site = siteAddress(given.replace(/#.*$/s, ''))
  const { NATTER_SITE, NATTER_CONTROL_TOKEN } = process.env
  const ofEnvironment = NATTER_SITE?.replace(/\/+$/, '') === site ? NATTER_CONTROL_TOKEN : undefined
  const token = controlToken ?? controlTokenIn(given) ?? ofEnvironment
  if (!token)
    throw new TypeError(`startNatter: no control token for ${site}: give controlToken, or run the tests by natter exec`)
  return { site, token }
}

function readAccount({ user_id, email, api_key }: ShownSpace['owner']): Account {
  return { userId: user_id, email, apiKey: api_key }
}

/** The space may have expired, and so may the daemon. */
function unlessGone(error: unknown): void {
  if (error instanceof NatterError && error.status !== 404) throw error
}

function once(work: () => Promise<void>): () => Promise<void> {
  let done: Promise<void> | undefined
  return () => {
    done ??= work()
    return done
  }
}
