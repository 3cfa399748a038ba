// Calls of the whole catalogue with values nobody would send on purpose, as owner, member, guest, bot and stranger: no
// status of 5xx, no hang, no reply that is not JSON, memory that does not grow, and the same state after a restart.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Endpoint } from '../../daemon/api/define.ts'
import { organization } from '../../daemon/api/organization/organization.ts'
import { catalogueEndpoints } from '../support/catalogue.ts'
import { Control } from '../support/control.ts'
import { type Caller, launch, type TestDaemon } from '../support/daemon.ts'
import { megabytesKept, reportingHeap } from '../support/heap.ts'
import { formOf, type HttpReply, send } from '../support/http.ts'
import { type Campaign, dice, Failure } from './campaign.ts'
import { type Lane, lanesOf } from './fuzz/callers.ts'
import { type Random, Values } from './fuzz/values.ts'
import { assertSameViews, viewsOf } from './fuzz/view.ts'

/** Calls of one round; a seed brings back a whole round, since a call can depend on all before it. */
const round = 2500
/** Rounds between two restarts. */
const restartAfter = 20
const patience = 60_000
/** Megabytes that a daemon may keep beyond what it keeps after a restart with the same state: caches, which have bounds. */
const mayKeepMore = 24

export const campaign: Campaign = {
  about: 'calls of the whole catalogue with random values, as owner, member, guest, bot and stranger',
  unit: 'calls',
  long: 1_000_000,
  short: 10_000,
  unavailable: process.platform === 'linux' ? undefined : 'it runs on Linux only',
  async run({ count, seed, deadline = Number.POSITIVE_INFINITY, note = () => {}, progress = () => {} }) {
    const house = new House()
    const all = (await catalogueEndpoints()).map(({ endpoint }) => endpoint)
    const endpoints = all.filter(({ served }) => served !== 'outgoing')
    const statuses = new Map<number, number>()
    const called = new Set<string>()
    let done = 0
    try {
      await house.open()
      for (let number = seed; done < count && performance.now() < deadline; number++) {
        const lanes = await lanesOf(house.daemon, number)
        const each = Math.ceil(round / lanes.length)
        const tally = (endpoint: Endpoint, { status }: HttpReply) => {
          statuses.set(status, (statuses.get(status) ?? 0) + 1)
          called.add(endpoint.id)
        }
        await Promise.all(lanes.map((_, lane) => callAll(lanes, lane, endpoints, number, each, tally)))
        done += each * lanes.length
        progress(done)
        await house.passAnHour()
        const isLast = done >= count || performance.now() >= deadline
        if ((number - seed + 1) % restartAfter === 0 || isLast) {
          const { before, after } = await house.renew(lanes, endpoints, number, tally)
          note(`${done} calls, kept ${before.toFixed(1)} MB, after a restart ${after.toFixed(1)} MB`)
        }
      }
    } finally {
      await house.close()
    }
    const missed = endpoints.filter(({ id }) => !called.has(id)).map(({ id }) => id)
    // A round or two may miss some by chance.
    if (done >= 10_000 && missed.length > 0) throw new Failure(seed, `never called: ${missed.join(', ')}`)
    const tallies = [...statuses].sort(([a], [b]) => a - b).map(([status, times]) => `${times} × ${status}`)
    return {
      done,
      summary: `${endpoints.length} endpoints, ${tallies.join(', ')}; kept at most ${house.most.toFixed(1)} MB`,
    }
  },
}

/** One store, and the daemons that follow each other on it. Time only passes when it is told to, so that answers can be compared. */
class House {
  daemon!: TestDaemon
  /** Most megabytes that a daemon kept. */
  most = 0
  readonly #data = mkdtempSync(join(tmpdir(), 'natter-prove-'))
  readonly #heap = `${this.#data}-heap`
  #now = '2030-01-01T00:00:00.000Z'

  async open(...more: string[]): Promise<void> {
    const free = ['--dev-auth', '--no-rate-limit', '--control', '--webhook-timeout', '1', '--durability', 'os']
    const flags = ['--preset', 'dev', ...free, '--clock', `frozen@${this.#now}`, ...more]
    this.daemon = await launch(this.#data, { flags, env: reportingHeap(this.#heap) })
  }

  /** What falls due meanwhile happens: scheduled messages, reminders, the end of queues. */
  async passAnHour(): Promise<void> {
    const { time } = await new Control(this.daemon).call('POST', '/clock/advance', { by: '1h' })
    this.#now = time
  }

  /** A restart, on which nothing may change but the memory that is kept; the organization is closed and opened again on the way. */
  async renew(
    lanes: readonly Lane[],
    endpoints: readonly Endpoint[],
    seed: number,
    tally: Tally,
  ): Promise<{ before: number; after: number }> {
    const callers = lanes
      .map(({ caller }) => caller)
      .filter(({ id }) => id > 0)
      .slice(0, 4)
    // The logs of the control plane hold the newest calls, and large ones among them: as much as they may.
    for (const log of ['/requests', '/events', '/outbox']) await new Control(this.daemon).call('DELETE', log)
    const before = await megabytesKept(this.daemon, this.#heap)
    const views = await viewsOf(callers)
    await closeOrganization(lanes, endpoints, dice(seed), seed, tally)
    // Stopping replays the journal and loads the snapshot, and both must give the state that was: `test/support/daemon.ts`.
    await this.daemon.stop()
    await this.open('--reactivate')
    const moved = callers.map(caller => caller.at(this.daemon.url))
    try {
      assertSameViews(moved, views, await viewsOf(moved))
    } catch (error) {
      throw new Failure(seed, (error as Error).message)
    }
    const after = await megabytesKept(this.daemon, this.#heap)
    this.most = Math.max(this.most, before)
    if (before > after + mayKeepMore)
      throw new Failure(seed, `${before.toFixed(1)} MB before the restart and ${after.toFixed(1)} MB after it`)
    return { before, after }
  }

  async close(): Promise<void> {
    await this.daemon?.kill()
    rmSync(this.#data, { recursive: true, force: true })
    rmSync(this.#heap, { force: true })
  }
}

type Tally = (endpoint: Endpoint, reply: HttpReply) => void

/** Makes the calls of one lane in one round. */
async function callAll(
  lanes: readonly Lane[],
  lane: number,
  endpoints: readonly Endpoint[],
  seed: number,
  count: number,
  tally: Tally,
): Promise<void> {
  const { spares, goOn } = lanes[lane]!
  const random = dice(seed * lanes.length + lane)
  const values = valuesFor(lanes, random)
  const open = endpoints.filter(({ id }) => !spares.includes(id))
  let { caller } = lanes[lane]!
  for (let i = 0; i < count; i++) {
    const endpoint = open[Math.floor(random() * open.length)]!
    const reply = await callOnce(caller, endpoint, values, seed)
    tally(endpoint, reply)
    if (goOn) caller = await goOn(endpoint, reply)
  }
}

/** The owner closes the organization; from then on everybody gets a refusal from every endpoint, and no more. */
async function closeOrganization(
  lanes: readonly Lane[],
  endpoints: readonly Endpoint[],
  random: Random,
  seed: number,
  tally: Tally,
): Promise<void> {
  const values = valuesFor(lanes, random)
  const owner = lanes[0]!.caller
  // Most values are refused.
  for (let isClosed = false, tries = 0; !isClosed; tries++) {
    if (tries === 200) throw new Failure(seed, 'the owner could not deactivate the organization')
    const reply = await callOnce(owner, organization.deactivate, values, seed)
    tally(organization.deactivate, reply)
    isClosed = reply.body.result === 'success'
  }
  for (const endpoint of endpoints) {
    const { caller } = lanes[Math.floor(random() * lanes.length)]!
    const reply = await callOnce(caller, endpoint, values, seed)
    if (endpoint.access === 'user' && reply.body.result === 'success')
      throw new Failure(seed, `${endpoint.id} still answers ${caller.email} after the organization was deactivated`)
  }
}

/** Only as much harm as leaves somebody to make the next call: the last lane is nobody's concern. */
function valuesFor(lanes: readonly Lane[], random: Random): Values {
  const spared = lanes.filter(({ goOn }) => !goOn).map(({ caller }) => caller)
  return new Values(random, {
    ids: new Set(spared.map(({ id }) => id)),
    emails: new Set(spared.flatMap(({ email }) => (email === undefined ? [] : [email]))),
  })
}

async function callOnce(caller: Caller, endpoint: Endpoint, values: Values, seed: number): Promise<HttpReply> {
  const path = values.path(endpoint)
  const fields = values.fields(endpoint)
  if (endpoint.id === 'get-events') fields.set('dont_block', 'true')
  const form = formOf(endpoint.method, fields)
  const call = `${endpoint.method} ${path} as ${caller.email ?? 'a stranger'} with ${shown(fields)}`
  let reply: HttpReply
  try {
    const signal = AbortSignal.timeout(patience)
    reply = await send(`${caller.url}/api/v1${path}`, { method: endpoint.method, auth: caller.auth, signal, ...form })
  } catch (error) {
    throw new Failure(seed, `no answer (${(error as Error).message}): ${call}`)
  }
  if (reply.status >= 500) throw new Failure(seed, `status ${reply.status}: ${call}\n${reply.text.slice(0, 1000)}`)
  if (reply.body.result !== 'success' && reply.body.result !== 'error')
    throw new Failure(seed, `not a reply: ${call}\n${reply.text.slice(0, 1000)}`)
  return reply
}

function shown(fields: ReadonlyMap<string, unknown>): string {
  return JSON.stringify([...fields].map(([name, value]) => [name, String(value).slice(0, 200)]))
}
