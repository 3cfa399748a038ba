// Calls of the whole catalogue with values nobody would send on purpose, as owner, member, guest, bot and stranger: no
// status of 5xx, no hang, no reply that is not JSON, memory that does not grow, and the same state after a restart.

import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bots } from '../../daemon/api/bots/bots.ts'
import type { Endpoint } from '../../daemon/api/define.ts'
import { keys } from '../../daemon/api/people/keys.ts'
import { users } from '../../daemon/api/people/users.ts'
import { catalogueEndpoints } from '../support/catalogue.ts'
import { Caller, launch, type TestDaemon } from '../support/daemon.ts'
import { formOf, type HttpReply, send } from '../support/http.ts'
import { type Campaign, dice, Failure } from './campaign.ts'
import { Values } from './fuzz/values.ts'

/** Calls of one round; a seed brings back a whole round, since a call can depend on all before it. */
const round = 2500
/** Rounds between two restarts. */
const restartAfter = 20
const patience = 60_000
/** They would end the accounts that make the calls, or the organization. */
const left = ['deactivate-realm', 'deactivate-own-user', 'regenerate-api-key', 'regenerate-bot-api-key', 'update-bot']

export const campaign: Campaign = {
  about: 'calls of the whole catalogue with random values, as owner, member, guest, bot and stranger',
  unit: 'calls',
  long: 1_000_000,
  short: 10_000,
  async run({ count, seed, deadline = Number.POSITIVE_INFINITY, note = () => {} }) {
    const data = mkdtempSync(join(tmpdir(), 'natter-prove-'))
    const endpoints = (await catalogueEndpoints())
      .map(({ endpoint }) => endpoint)
      .filter(({ id, served }) => served !== 'outgoing' && !left.includes(id))
    const statuses = new Map<number, number>()
    let daemon = await start(data)
    let done = 0
    let largest = 0
    try {
      for (let number = seed; done < count && performance.now() < deadline; number++) {
        const callers = await callersOf(daemon)
        await Promise.all(
          callers.map((caller, lane) =>
            callAll(caller, callers, endpoints, number, lane, round / callers.length, statuses),
          ),
        )
        done += round
        const used = megabytesOf(daemon)
        largest = Math.max(largest, used)
        note(`${done} calls, ${used} MB`)
        if ((number - seed + 1) % restartAfter === 0 || done >= count) {
          daemon = await restarted(daemon, data, used, number)
        }
      }
    } finally {
      await daemon.kill()
      rmSync(data, { recursive: true, force: true })
    }
    const tally = [...statuses].sort(([a], [b]) => a - b).map(([status, times]) => `${times} × ${status}`)
    return { done, summary: `${tally.join(', ')}; at most ${largest} MB` }
  },
}

function start(data: string): Promise<TestDaemon> {
  return launch(data, {
    flags: ['--preset', 'dev', '--durability', 'os', '--dev-auth', '--no-rate-limit', '--webhook-timeout', '1'],
  })
}

/** Stopping replays the journal and loads the snapshot, and both must give the state that was; see `test/support/daemon.ts`. */
async function restarted(daemon: TestDaemon, data: string, used: number, seed: number): Promise<TestDaemon> {
  await daemon.stop()
  const next = await start(data)
  const fresh = megabytesOf(next)
  // What a long life adds to the state itself must be small: the rest is a leak.
  if (used > 2 * fresh + 300) {
    await next.kill()
    throw new Failure(seed, `${used} MB before the restart and ${fresh} MB after it`)
  }
  return next
}

async function callersOf(daemon: TestDaemon): Promise<Caller[]> {
  const { owner, nobody, url } = daemon
  const login = async (email: string) => {
    const { api_key, user_id } = await nobody.call(keys.devFetch, { username: email })
    return new Caller(url, email, api_key, user_id)
  }
  const amy = await login('amy@example.com')
  const guest = await login('guy@example.com')
  const { members } = await owner.call(users.list, {})
  const bot = members.find(({ full_name, is_bot }) => is_bot && full_name === 'Echo Bot')!
  const { api_key } = await owner.call(bots.key, { bot_id: bot.user_id })
  return [owner, amy, guest, new Caller(url, bot.email, api_key, bot.user_id), nobody]
}

async function callAll(
  caller: Caller,
  callers: readonly Caller[],
  endpoints: readonly Endpoint[],
  seed: number,
  lane: number,
  count: number,
  statuses: Map<number, number>,
): Promise<void> {
  const random = dice(seed * 5 + lane)
  const spared = {
    ids: new Set(callers.map(({ id }) => id)),
    emails: new Set(callers.flatMap(({ email }) => (email === undefined ? [] : [email]))),
  }
  const values = new Values(random, spared)
  for (let i = 0; i < count; i++) {
    const endpoint = endpoints[Math.floor(random() * endpoints.length)]!
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
    statuses.set(reply.status, (statuses.get(reply.status) ?? 0) + 1)
    if (reply.status >= 500) throw new Failure(seed, `status ${reply.status}: ${call}\n${reply.text.slice(0, 1000)}`)
    if (reply.body.result !== 'success' && reply.body.result !== 'error')
      throw new Failure(seed, `not a reply: ${call}\n${reply.text.slice(0, 1000)}`)
  }
}

function shown(fields: ReadonlyMap<string, unknown>): string {
  return JSON.stringify([...fields].map(([name, value]) => [name, String(value).slice(0, 200)]))
}

function megabytesOf({ process }: TestDaemon): number {
  const status = readFileSync(`/proc/${process.pid}/status`, 'utf8')
  return Math.round(Number(/VmRSS:\s+(\d+)/.exec(status)![1]) / 1024)
}
