// Many parked queues and many calls: 10,000 queues in which a poll waits, and 1,000 calls a second beside them. Everything is heard once,
// in order, and neither latency nor memory nor descriptors grow.

import { messages } from '../../daemon/api/messages/messages.ts'
import { savedSnippets } from '../../daemon/api/messages/saved-snippets.ts'
import { typing } from '../../daemon/api/messages/typing.ts'
import { users } from '../../daemon/api/people/users.ts'
import { blaming, type Campaign, dice, type Result, type RunOptions } from './campaign.ts'
import { Account } from './traffic/account.ts'
import { type Crowd, withCrowd } from './traffic/crowd.ts'
import { openFiles } from './traffic/open-files.ts'
import { allAtOnce } from './traffic/pace.ts'
import { countedTypes, Reader } from './traffic/reader.ts'
import { type Measured, runTraffic, samplesOf } from './traffic/run.ts'
import { assertLevel, fewestSamples, type Level } from './traffic/trend.ts'
import { withoutVitals } from './traffic/vitals.ts'

const perSecond = 1000
const queues = 10_000
const queuesOfAccount = 2
const windowSeconds = 30
/** Own messages of an account that are not deleted. */
const mostMessages = 2

const levels: readonly Level<keyof Measured>[] = [
  { figure: 'p50', what: 'half of the calls within', unit: ' ms', part: 0.3, least: 2 },
  { figure: 'p99', what: '99 % of the calls within', unit: ' ms', part: 0.5, least: 20 },
  { figure: 'kept', what: 'memory in use', unit: ' MB', part: 0.1, least: 5 },
  { figure: 'resident', what: 'resident memory', unit: ' MB', part: 0.25, least: 40 },
  { figure: 'descriptors', what: 'descriptors', unit: '', part: 0, least: 20 },
]

export const campaign: Campaign = {
  about: '10,000 parked queues and 1,000 calls a second: nothing is lost; latency, memory and descriptors stay level',
  unit: 'calls',
  long: perSecond * 600,
  short: 250,
  unavailable:
    withoutVitals ?? (openFiles() < queues + 1000 ? `a process may open only ${openFiles()} files` : undefined),
  run: options => blaming(options.seed, options.count, run(options)),
}

async function run(options: RunOptions): Promise<Result> {
  // A short run has fewer queues: most of its time would go into registering them.
  const accounts = 2 * Math.ceil(Math.min(queues, options.count / 6) / queuesOfAccount / 2)
  return withCrowd(accounts, async crowd => {
    const random = dice(options.seed)
    const pairs = await inPairs(crowd)
    const readers = await registered(pairs)
    options.note?.(`${readers.length} queues`)
    const idle = pairs.flat()
    const step = async () => {
      const [account] = idle.splice(Math.floor(random() * idle.length), 1)
      await call(account!, random())
      idle.push(account!)
    }
    const { daemon, heapFile } = crowd
    const most = Math.min(500, accounts)
    const plan = { ...options, daemon, heapFile, readers, perSecond, windowSeconds, most, step }
    const { done, measured } = await runTraffic(plan)
    const events = readers.reduce((sum, { count }) => sum + count, 0)
    const found = assertLevel(levels, figure => samplesOf(measured, figure))
    const summary = [`${readers.length} queues`, `${events} events, each once`, rateOf(measured), found].join('; ')
    return { done, summary }
  })
}

/** Each writes to the other one only, so that an event has few hearers. */
async function inPairs({ callers }: Crowd): Promise<Account[][]> {
  const pairs: Account[][] = []
  for (let at = 0; at < callers.length; at += 2) {
    const pair = callers.slice(at, at + 2)
    const room = { type: 'direct' as const, to: pair.map(({ id }) => id) }
    pairs.push(pair.map(caller => new Account(caller, [room])))
  }
  await allAtOnce(pairs.flat(), account => account.prepare())
  return pairs
}

function registered(pairs: readonly Account[][]): Promise<Reader[]> {
  const everyone = pairs.flatMap(pair => pair.map(account => ({ account, pair })))
  const wanted = everyone.flatMap(one => Array.from({ length: queuesOfAccount }, () => one))
  return allAtOnce(wanted, ({ account, pair }) => Reader.register(account, pair, countedTypes))
}

/** As many writes as reads. Nothing that is written stays: the state is as large at the end as it was after the first minute. */
async function call(account: Account, chance: number): Promise<void> {
  const { caller } = account
  if (chance < 0.25) return account.save()
  if (chance < 0.45) return account.sendOrDelete(mostMessages)
  if (chance < 0.5) return void (await caller.call(typing.set, { op: 'start', to: [caller.id] }))
  if (chance < 0.7) return void (await caller.call(messages.list, { anchor: 'newest', num_before: 4, num_after: 0 }))
  if (chance < 0.85) return void (await caller.call(users.me, {}))
  await caller.call(savedSnippets.list, {})
}

/** A daemon that cannot keep up is a failure of a long run; a short one is over before the machine is warm. */
function rateOf(measured: readonly Measured[]): string {
  const rates = measured.map(one => one.perSecond)
  const mean = rates.reduce((sum, rate) => sum + rate, 0) / rates.length
  if (measured.length >= fewestSamples && mean < perSecond * 0.95)
    throw new Error(`the daemon answered ${mean.toFixed(0)} of ${perSecond} calls a second`)
  return `${mean.toFixed(0)} calls a second`
}
