// An hour of everything: mixed traffic at a moderate rate, in which nothing adds up. Memory, descriptors and disk stay level, and
// every queue hears everything once, in order.

import { channels } from '../../daemon/api/channels/channels.ts'
import { subscriptions } from '../../daemon/api/channels/subscriptions.ts'
import { blaming, type Campaign, dice, type Result, type RunOptions } from './campaign.ts'
import { acts, type Place } from './soak/acts.ts'
import { Account } from './traffic/account.ts'
import { type Crowd, withCrowd } from './traffic/crowd.ts'
import { countedTypes, Reader } from './traffic/reader.ts'
import { type Measured, runTraffic, samplesOf } from './traffic/run.ts'
import { assertLevel, type Level } from './traffic/trend.ts'
import { withoutVitals } from './traffic/vitals.ts'

/** Acts, which are one to three calls. Enough to show a leak within an hour, and little enough to run beside other work. */
const perSecond = 40
const accounts = 8
const windowSeconds = 30

const levels: readonly Level<keyof Measured>[] = [
  { figure: 'kept', what: 'memory in use', unit: ' MB', part: 0.05, least: 2 },
  { figure: 'resident', what: 'resident memory', unit: ' MB', part: 0.25, least: 40 },
  { figure: 'descriptors', what: 'descriptors', unit: '', part: 0, least: 10 },
  // It falls with each compaction.
  { figure: 'disk', what: 'store', unit: ' MB', part: 0.5, least: 16 },
]

export const campaign: Campaign = {
  about: 'an hour of mixed traffic: memory, descriptors and disk stay level, and every queue hears everything once',
  unit: 'acts',
  long: perSecond * 3600,
  short: 120,
  unavailable: withoutVitals,
  run: options => blaming(options.seed, options.count, run(options)),
}

async function run(options: RunOptions): Promise<Result> {
  return withCrowd(accounts, async crowd => {
    const random = dice(options.seed)
    const { daemon, heapFile } = crowd
    const { people, place } = await gathered(crowd)
    // One of each account hears all types, as an application does.
    const kinds = [countedTypes, countedTypes, undefined]
    const readers: Reader[] = []
    for (const account of people) for (const types of kinds) readers.push(await Reader.register(account, people, types))
    const idle = [...people]
    const step = async () => {
      const [account] = idle.splice(Math.floor(random() * idle.length), 1)
      await acts[Math.floor(random() * acts.length)]!(account!, place)
      idle.push(account!)
    }
    const plan = { ...options, daemon, heapFile, readers, perSecond, windowSeconds, most: accounts, step }
    const { done, measured } = await runTraffic(plan)
    const events = readers.reduce((sum, { count }) => sum + count, 0)
    const found = assertLevel(levels, figure => samplesOf(measured, figure))
    return { done, summary: `${events} events, each once; ${found}` }
  })
}

async function gathered({ daemon, callers }: Crowd): Promise<{ people: Account[]; place: Place }> {
  const { owner } = daemon
  const principals = callers.map(({ id }) => id)
  await owner.call(subscriptions.subscribe, { subscriptions: [{ name: 'garden' }], principals })
  await owner.call(subscriptions.subscribe, { subscriptions: [{ name: 'aside' }] })
  const { stream_id: channel } = await owner.call(channels.id, { stream: 'garden' })
  const channelRooms = [0, 1, 2].map(n => ({ type: 'channel' as const, to: channel, topic: `topic ${n}` }))
  const rooms = [...channelRooms, { type: 'direct' as const, to: principals }]
  const people = callers.map(caller => new Account(caller, rooms))
  for (const account of people) await account.prepare()
  return { people, place: { owner, channel } }
}
