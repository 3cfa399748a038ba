// Calls of the whole catalogue with values that no client would send on purpose, as owner, member, guest, bot and stranger: no
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
import { formOf, type HttpReply } from '../support/http.ts'
import { type Campaign, dice, Failure } from './campaign.ts'
import { type Lane, lanesOf } from './fuzz/callers.ts'
import { Connections } from './fuzz/connections.ts'
import { type Random, Values } from './fuzz/values.ts'
import { assertSameViews, viewsOf } from './fuzz/view.ts'

/** Calls of one round. */
const round = 2500
/**
 * Rounds on one store. Then it is restarted, compared, and a new one begins: the larger it is, the longer a call takes. A
 * call can depend on all before it, so a failure is repeated with all rounds of its store.
 */
const roundsPerStore = 10
/** Calls that are under way at the same time in one lane. */
const callsAtOnce = 4
const answerTimeout = 60_000
/** Megabytes that a daemon may keep beyond what it keeps after a restart with the same state: caches, which have bounds. */
const mayKeepMore = 24

export const campaign: Campaign = {
  about: 'calls of the whole catalogue with random values, as owner, member, guest, bot and stranger',
  unit: 'calls',
  long: 1_000_000,
  short: 1_000,
  unavailable: process.platform === 'linux' ? undefined : 'it runs on Linux only',
  async run({ count, seed, deadline = Number.POSITIVE_INFINITY, note = () => {}, progress = () => {} }) {
    const all = (await catalogueEndpoints()).map(({ endpoint }) => endpoint)
    const endpoints = all.filter(({ served }) => served !== 'outgoing')
    const statuses = new Map<number, number>()
    const called = new Set<string>()
    const tally = (endpoint: Endpoint, { status }: HttpReply) => {
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
      called.add(endpoint.id)
    }
    let done = 0
    let most = 0
    const isOver = () => done >= count || performance.now() >= deadline
    for (let next = seed; !isOver(); next += roundsPerStore) {
      const target = new FuzzedStore(endpoints, tally)
      let rounds = 0
      try {
        await target.open()
        while (rounds < roundsPerStore && !isOver()) {
          rounds++
          done += await target.playRound(next + rounds - 1, Math.min(round, count - done))
          progress(done)
        }
        const { before, after } = await target.renew(next)
        most = Math.max(most, before)
        note(`${done} calls, kept ${before.toFixed(1)} MB, after a restart ${after.toFixed(1)} MB`)
      } catch (error) {
        throw new Failure(
          next,
          error instanceof Found ? error.message : ((error as Error).stack ?? String(error)),
          Math.min(rounds * round, count),
        )
      } finally {
        await target.close()
      }
    }
    const missed = endpoints.filter(({ id }) => !called.has(id)).map(({ id }) => id)
    // A round or two may miss some by chance.
    if (done >= 10_000 && missed.length > 0) throw new Failure(seed, `never called: ${missed.join(', ')}`)
    const tallies = [...statuses].sort(([a], [b]) => a - b).map(([status, times]) => `${times} × ${status}`)
    return {
      done,
      summary: `${endpoints.length} endpoints, ${tallies.join(', ')}; kept at most ${most.toFixed(1)} MB`,
    }
  },
}

/** What is wrong with an answer, or with what a daemon keeps. */
class Found extends Error {}

type Tally = (endpoint: Endpoint, reply: HttpReply) => void

/** One store, and the daemons that follow each other on it. Time only passes when it is told to, so that answers can be compared. */
class FuzzedStore {
  #daemon!: TestDaemon
  #lanes: readonly Lane[] = []
  #now = '2030-01-01T00:00:00.000Z'
  readonly #endpoints: readonly Endpoint[]
  readonly #tally: Tally
  readonly #data = mkdtempSync(join(tmpdir(), 'natter-prove-'))
  readonly #heap = `${this.#data}-heap`
  readonly #connections = new Connections(64, answerTimeout)

  constructor(endpoints: readonly Endpoint[], tally: Tally) {
    this.#endpoints = endpoints
    this.#tally = tally
  }

  async open(...more: string[]): Promise<void> {
    const free = ['--dev-auth', '--no-rate-limit', '--control', '--webhook-timeout', '1', '--durability', 'os']
    const flags = ['--preset', 'dev', ...free, '--clock', `frozen@${this.#now}`, ...more]
    this.#daemon = await launch(this.#data, { flags, env: reportingHeap(this.#heap) })
  }

  /** All lanes at the same time. Returns the number of calls. */
  async playRound(seed: number, calls: number): Promise<number> {
    this.#lanes = await lanesOf(this.#daemon, seed)
    const works = this.#lanes.flatMap(lane => Array.from({ length: callsAtOnce }, () => lane))
    const each = Math.ceil(calls / works.length)
    await Promise.all(works.map((lane, number) => this.#callAll(lane, dice(seed * works.length + number), each)))
    await this.#passAnHour()
    return each * works.length
  }

  /** What falls due meanwhile happens: scheduled messages, reminders, the end of queues. */
  async #passAnHour(): Promise<void> {
    const { time } = await new Control(this.#daemon).call('POST', '/clock/advance', { by: '1h' })
    this.#now = time
  }

  /** A restart, on which nothing may change but the memory that is kept; the organization is closed and opened again on the way. */
  async renew(seed: number): Promise<{ before: number; after: number }> {
    const callers = this.#lanes
      .map(({ caller }) => caller)
      .filter(({ id }) => id > 0)
      .slice(0, 4)
    // The logs of the control plane hold the newest calls, and large ones among them: as much as they may.
    for (const log of ['/requests', '/events', '/outbox']) await new Control(this.#daemon).call('DELETE', log)
    const before = await megabytesKept(this.#daemon, this.#heap)
    const views = await viewsOf(callers)
    await this.#closeOrganization(dice(seed))
    // Stopping replays the journal and loads the snapshot, and both must give the state that was: `test/support/daemon.ts`.
    await this.#daemon.stop()
    await this.open('--reactivate')
    const moved = callers.map(caller => caller.at(this.#daemon.url))
    assertSameViews(moved, views, await viewsOf(moved))
    const after = await megabytesKept(this.#daemon, this.#heap)
    if (before > after + mayKeepMore)
      throw new Found(`${before.toFixed(1)} MB before the restart and ${after.toFixed(1)} MB after it`)
    return { before, after }
  }

  async close(): Promise<void> {
    await this.#connections.close()
    await this.#daemon?.kill()
    rmSync(this.#data, { recursive: true, force: true })
    rmSync(this.#heap, { force: true })
  }

  /** One call after the other. */
  async #callAll(lane: Lane, random: Random, count: number): Promise<void> {
    const { spares, goOn } = lane
    const values = this.#valuesFor(random)
    const open = this.#endpoints.filter(({ id }) => !spares.includes(id))
    let { caller } = lane
    for (let i = 0; i < count; i++) {
      const endpoint = open[Math.floor(random() * open.length)]!
      const reply = await this.#callOnce(caller, endpoint, values)
      if (goOn) caller = await goOn(endpoint, reply)
    }
  }

  /** The owner closes the organization; from then on every call gets a refusal, and nothing else. */
  async #closeOrganization(random: Random): Promise<void> {
    const values = this.#valuesFor(random)
    const owner = this.#lanes[0]!.caller
    // Most values are refused.
    for (let isClosed = false, tries = 0; !isClosed; tries++) {
      if (tries === 200) throw new Found('the owner could not deactivate the organization')
      const reply = await this.#callOnce(owner, organization.deactivate, values)
      isClosed = reply.body.result === 'success'
    }
    for (const endpoint of this.#endpoints) {
      const { caller } = this.#lanes[Math.floor(random() * this.#lanes.length)]!
      const reply = await this.#callOnce(caller, endpoint, values)
      if (endpoint.access === 'user' && reply.body.result === 'success')
        throw new Found(`${endpoint.id} still answers ${caller.email} after the organization was deactivated`)
    }
  }

  /** Only as much harm as leaves an account to make the next call; the last lane needs none. */
  #valuesFor(random: Random): Values {
    const spared = this.#lanes.filter(({ goOn }) => !goOn).map(({ caller }) => caller)
    return new Values(random, {
      ids: new Set(spared.map(({ id }) => id)),
      emails: new Set(spared.flatMap(({ email }) => (email === undefined ? [] : [email]))),
    })
  }

  async #callOnce(caller: Caller, endpoint: Endpoint, values: Values): Promise<HttpReply> {
    const { method } = endpoint
    const path = values.path(endpoint)
    const fields = values.fields(endpoint)
    if (endpoint.id === 'get-events') fields.set('dont_block', 'true')
    const call = () => `${method} ${path} as ${caller.email ?? 'a stranger'} with ${shown(fields)}`
    const options = { method, auth: caller.auth, ...formOf(method, fields) }
    const reply = await this.#connections.send(`${caller.url}/api/v1${path}`, options).catch(error => {
      throw new Found(`no answer (${(error as Error).message}): ${call()}`)
    })
    if (reply.status >= 500) throw new Found(`status ${reply.status}: ${call()}\n${reply.text.slice(0, 1000)}`)
    if (reply.body.result !== 'success' && reply.body.result !== 'error')
      throw new Found(`not a reply: ${call()}\n${reply.text.slice(0, 1000)}`)
    this.#tally(endpoint, reply)
    return reply
  }
}

function shown(fields: ReadonlyMap<string, unknown>): string {
  return JSON.stringify([...fields].map(([name, value]) => [name, String(value).slice(0, 200)]))
}
