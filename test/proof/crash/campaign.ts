// kill -9, again and again, under load: nothing answered may be lost, nothing half done, and the queues go on.

import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { subscriptions } from '../../../daemon/api/channels/subscriptions.ts'
import { events } from '../../../daemon/api/events.ts'
import { defaultLevel, newestLevel } from '../../../daemon/api/levels/releases.ts'
import { messages } from '../../../daemon/api/messages/messages.ts'
import { savedSnippets } from '../../../daemon/api/messages/saved-snippets.ts'
import { typing } from '../../../daemon/api/messages/typing.ts'
import { type Caller, launch, spawnDaemon, type TestDaemon } from '../../support/daemon.ts'
import { cutOff } from '../../support/http.ts'
import { until } from '../../support/until.ts'
import { fetched } from '../../support/world.ts'
import { dice } from '../campaign.ts'
import { foundedWith, seeded, withoutTimeLimits } from '../traffic/crowd.ts'
import { cutEverywhere, startCut } from './cuts.ts'
import { CrashKeeper } from './keeper.ts'
import { placeUsers, preparedPlace } from './place.ts'
import { CrashPlanner } from './planner.ts'
import { CrashReader } from './reader.ts'
import { CrashTalker, read, separateFlags, type Talk, tell } from './talker.ts'
import { CrashWriter } from './writer.ts'

export interface Campaign {
  readonly kills: number
  readonly seed: number
  readonly note?: (text: string) => void
  readonly progress?: (kills: number) => void
}

export interface Tally {
  writes: number
  events: number
  unknown: number
  /** Places where a journal was cut. */
  cuts: number
  scheduled: number
  webhooks: number
  /** Kinds of facts that were written. */
  readonly facts: Set<string>
}

/** One account: what it does at the same time, and the queues it reads. */
interface Player {
  readonly account: Caller
  readonly writers: readonly CrashWriter[]
  readonly talkers: readonly CrashTalker[]
  readonly readers: readonly CrashReader[]
  /** Registered under load, and not yet looked at. */
  readonly newQueues: string[]
  readonly deletedQueues: string[]
}

/** All accounts. */
interface Cast {
  readonly players: readonly Player[]
  readonly keeper: CrashKeeper
  readonly planner: CrashPlanner
}

/** Fewer are for the run of the tests, which has no time for one more daemon. */
const fewKills = 10
/** How often a start is killed, too. */
const duringStart = 0.25
/** Answered writes before a kill: not milliseconds, which mean little on a busy machine. */
const mostWrites = 60
/** Writes of each part after which each has done everything that it can, but for a chance of one in millions. */
const writesOfEach = 50

const talk = ['message', 'update_message', 'delete_message', 'reaction', 'update_message_flags']
/** Of the queues of one account: some hear little, some everything. */
const wanted = [['saved_snippets'], ['saved_snippets', ...talk], ['saved_snippets', 'typing', ...talk]]

export async function campaign({ kills, seed, note = () => {}, progress = () => {} }: Campaign): Promise<Tally> {
  const folder = mkdtempSync(join(tmpdir(), 'natter-crash-'))
  const data = join(folder, 'data')
  const random = dice(seed)
  // Some facts are written at newer levels only.
  const level = ['--level', String(random() < 0.5 ? newestLevel : defaultLevel)]
  const tally: Tally = { writes: 0, events: 0, unknown: 0, cuts: 0, scheduled: 0, webhooks: 0, facts: new Set() }
  let daemon = await found(folder, level)
  /** How long the last start took. */
  let startMs = 300
  let cast: Cast | undefined
  try {
    cast = await gathered(daemon, random)
    // The round after which the store is cut, too.
    const cutAfter = Math.ceil(random() * kills)
    for (let killed = 0; killed < kills; ) {
      await underLoad(daemon, cast, random)
      progress(++killed)
      collectFacts(data, tally.facts)
      if (killed === cutAfter) {
        tally.cuts += await cutEverywhere(data)
        if (kills >= fewKills) await startCut(data, random)
      }
      for (; killed < kills && random() < duringStart; progress(++killed))
        await killDuringStart(data, random() * startMs)
      const begin = performance.now()
      daemon = await launch(data, { flags: level })
      startMs = performance.now() - begin
      await settled(daemon, cast, tally)
      note(`kill ${killed} of ${kills}: ${writesOf(cast)} writes`)
    }
    await cast.planner.finish(daemon.url, kills)
    const everyTalker = cast.players.flatMap(({ talkers }) => talkers)
    for (const player of cast.players) {
      await checkStory(player.account.at(daemon.url), player, everyTalker)
      tally.events += sum(player.readers, ({ heard }) => heard.size)
    }
    tally.writes = writesOf(cast)
    Object.assign(tally, cast.planner.counts)
    // Holds snapshot + journal against the living state.
    await daemon.stop()
    return tally
  } finally {
    await cast?.planner.close()
    daemon.process.kill('SIGKILL')
    rmSync(folder, { recursive: true, force: true })
  }
}

/** The kinds of facts that a campaign writes: each part does all of its writes, and nothing is killed. */
export async function writeEveryKind(seed: number): Promise<ReadonlySet<string>> {
  const folder = mkdtempSync(join(tmpdir(), 'natter-crash-'))
  const daemon = await found(folder, ['--level', String(newestLevel)])
  let planner: CrashPlanner | undefined
  try {
    const cast = await gathered(daemon, dice(seed))
    planner = cast.planner
    // Takes the facts of the preparation out of the journal: they are written before the first kill.
    await daemon.compact()
    await cast.keeper.writeEach(daemon.url)
    const living = { is: true }
    const parts = cast.players.flatMap(({ account, writers, talkers }) =>
      [...writers, ...talkers].map(part => ({ part, ended: part.work(account, living) })),
    )
    const planning = planner.work(daemon.url, living)
    await until(() => [planner!, ...parts.map(({ part }) => part)].every(({ done }) => done >= writesOfEach))
    living.is = false
    await Promise.all([planning, ...parts.map(({ ended }) => ended)])
    await planner.finish(daemon.url, 0)
    const facts = new Set<string>()
    collectFacts(daemon.data, facts)
    return facts
  } finally {
    await planner?.close()
    daemon.process.kill('SIGKILL')
    rmSync(folder, { recursive: true, force: true })
  }
}

/** A daemon with the accounts of a campaign, whose store is the folder `data` in this one. */
function found(folder: string, level: readonly string[]): Promise<TestDaemon> {
  const names = ['amy', 'bob', 'pat'].map(name => ({ name }))
  const flags = foundedWith(join(folder, 'seed.json'), { users: [...names, ...placeUsers] })
  return launch(join(folder, 'data'), { flags: [...flags, ...level] })
}

/** A start that is killed at any point of it. */
async function killDuringStart(data: string, milliseconds: number): Promise<void> {
  const starting = spawnDaemon(data)
  const ended = new Promise<string>(resolve =>
    starting.once('close', (code, signal) => resolve(String(signal ?? code))),
  )
  // Read to the end, or `close` never comes.
  let stderr = ''
  starting.stdout!.resume()
  starting.stderr!.setEncoding('utf8').on('data', text => {
    stderr += text
  })
  await Promise.race([ended, sleep(milliseconds)])
  starting.kill('SIGKILL')
  assert.equal(await ended, 'SIGKILL', `natterd ended while it started: ${stderr}`)
}

/** After a restart: everything that was answered is there, and the queues go on. */
async function settled(daemon: TestDaemon, { players, keeper, planner }: Cast, tally: Tally): Promise<void> {
  for (const player of players) {
    const caller = player.account.at(daemon.url)
    await checkWrites(caller, player, tally)
    for (const reader of player.readers) await reader.recover(caller)
    await checkQueues(caller, player)
  }
  if (await keeper.settle(daemon.url)) tally.unknown++
  await planner.settle(daemon.url)
}

/** What a store has written since its last compaction. */
function collectFacts(data: string, facts: Set<string>): void {
  for (const name of readdirSync(data))
    if (/^journal.*\.ndjson$/.test(name))
      for (const [, type] of readFileSync(join(data, name), 'utf8').matchAll(/\{"type":"([a-z-]+\.[a-z-]+)"/g))
        facts.add(type!)
}

async function gathered(daemon: TestDaemon, random: () => number): Promise<Cast> {
  await withoutTimeLimits(daemon.owner)
  const accounts = [daemon.owner, await seeded(daemon, 'amy'), await seeded(daemon, 'bob')]
  const ids = accounts.map(({ id }) => id)
  await daemon.owner.call(subscriptions.subscribe, { subscriptions: [{ name: 'garden' }], principals: ids })
  const { subscriptions: list } = await fetched(daemon.owner, ['subscription'])
  const garden = list.find(({ name }: { name: string }) => name === 'garden').stream_id
  const player = async (account: Caller, index: number): Promise<Player> => {
    const readers: CrashReader[] = []
    for (const event_types of wanted) {
      const { queue_id } = await account.call(events.register, { event_types, fetch_event_types: [] })
      readers.push(new CrashReader(queue_id, dice(random() * 2 ** 32)))
    }
    const each = <T>(count: number, make: (name: string, random: () => number) => T) =>
      Array.from({ length: count }, (_, n) => make(`${index}.${n}`, dice(random() * 2 ** 32)))
    return {
      account,
      writers: each(2, (name, random) => new CrashWriter(name, random)),
      talkers: each(2, (name, random) => new CrashTalker(name, garden, ids, random)),
      readers,
      newQueues: [],
      deletedQueues: [],
    }
  }
  const keeper = new CrashKeeper(await preparedPlace(daemon), dice(random() * 2 ** 32))
  // Before the first write it has to know what is there.
  await keeper.settle(daemon.url)
  return {
    players: await Promise.all(accounts.map(player)),
    keeper,
    planner: await CrashPlanner.create(await seeded(daemon, 'pat'), dice(random() * 2 ** 32)),
  }
}

async function underLoad(daemon: TestDaemon, cast: Cast, random: () => number): Promise<void> {
  const { players, keeper, planner } = cast
  const living = { is: true }
  const callers = players.map(({ account }) => account.at(daemon.url))
  const work = players.flatMap((player, index) => [
    ...[...player.writers, ...player.talkers, ...player.readers].map(one => one.work(callers[index]!, living)),
    chatter(callers[index]!, callers, living),
    comeAndGo(callers[index]!, player, living),
  ])
  work.push(keeper.work(daemon.url, living), planner.work(daemon.url, living))
  const everyWork = Promise.all(work)
  // Its failure is reported below, when the daemon is dead.
  everyWork.catch(() => {})
  const before = writesOf(cast)
  const count = 1 + Math.floor(random() * mostWrites)
  // Half of the time a compaction is under way, or just done, when the end comes; often it has just begun.
  if (random() < 0.5) {
    const compactAt = random() < 0.5 ? count : Math.floor(random() * count)
    await until(() => writesOf(cast) >= before + compactAt)
    daemon.process.kill('SIGUSR2')
  }
  await until(() => writesOf(cast) >= before + count)
  await sleep(random() * 15)
  const killed = daemon.kill()
  living.is = false
  await Promise.all([killed, everyWork])
}

/** Signals, which a crash may forget. */
async function chatter(caller: Caller, others: readonly Caller[], living: { readonly is: boolean }): Promise<void> {
  while (living.is) {
    const reply = await caller.try(typing.set, { op: 'start', to: others.map(({ id }) => id) }).catch(cutOff)
    if (!reply) return
    await sleep(2)
  }
}

/** Queues are born and deleted all the time. */
async function comeAndGo(caller: Caller, player: Player, living: { readonly is: boolean }): Promise<void> {
  while (living.is) {
    const born = await caller.try(events.register, { event_types: [], fetch_event_types: [] }).catch(cutOff)
    if (!born) return
    player.newQueues.push(born.body.queue_id)
    await sleep(20)
    if (player.newQueues.length < 3) continue
    const queue_id = player.newQueues.shift()!
    const gone = await caller.try(events.delete, { queue_id }).catch(cutOff)
    // Without an answer it may be there or not.
    if (!gone) return
    player.deletedQueues.push(queue_id)
  }
}

/** Every queue that was answered is there, and none that was deleted. */
async function checkQueues(caller: Caller, { newQueues, deletedQueues }: Player): Promise<void> {
  for (const queue_id of newQueues.splice(0)) {
    const { events: none } = await caller.call(events.get, { queue_id, dont_block: true })
    assert.deepEqual(none, [])
    await caller.call(events.delete, { queue_id })
  }
  for (const queue_id of deletedQueues.splice(0)) await caller.refused(events.get, { queue_id }, 'BAD_EVENT_QUEUE_ID')
}

async function checkWrites(caller: Caller, { writers, talkers }: Player, tally: Tally): Promise<void> {
  const { saved_snippets: kept } = await caller.call(savedSnippets.list, {})
  const left = new Map(kept.map(({ id, title, content }) => [id, { title, content }]))
  for (const writer of writers) if (writer.settle(left)) tally.unknown++
  assert.deepEqual([...left], [], 'there are snippets that were never written')
  for (const talker of talkers) if (await talker.settle(caller)) tally.unknown++
}

/** All queues of an account tell the same story: everything that was done, once, in order, and it adds up to the state. */
async function checkStory(caller: Caller, player: Player, everyTalker: readonly CrashTalker[]): Promise<void> {
  const { saved_snippets: kept } = await caller.call(savedSnippets.list, {})
  const stories = player.readers.map(reader => reader.story())
  for (const story of stories) assert.deepEqual(story, stories[0], 'two queues of one user tell different stories')
  const told = new Map(kept.map(({ id, title, content }) => [id, { title, content }]))
  assert.deepEqual(player.readers[0]!.folded(), told, 'the events do not add up to the state')
  for (const writer of player.writers) writer.checkTold(stories[0]!)

  const [heard, again] = player.readers.slice(1).map(reader => reader.talk())
  assert.deepEqual(
    separateFlags(again!),
    separateFlags(heard!),
    'two queues of one user tell different stories of messages',
  )
  const folded = new Map<number, Talk>()
  for (const said of heard!) tell(folded, said)
  const everything = await read(caller, await everyId(caller))
  assert.deepEqual([...folded], [...everything], 'the events about messages do not add up to the state')
  for (const talker of everyTalker) talker.checkTold(heard!, player.talkers.includes(talker))
  const written = everyTalker.flatMap(({ mine }) => [...mine.keys()]).sort((a, b) => a - b)
  assert.deepEqual([...everything.keys()], written, 'there are messages that were never sent')
}

/** Of all messages except those of the notification bot, which were sent before the campaign. */
async function everyId(caller: Caller): Promise<number[]> {
  const ids: number[] = []
  for (let anchor = 0; ; ) {
    const page = { anchor: String(anchor), num_before: 0, num_after: 1000 }
    const { messages: list, found_newest } = await caller.call(messages.list, page)
    for (const { id, sender_full_name } of list) if (sender_full_name !== 'Notification Bot') ids.push(id)
    if (found_newest) return ids
    anchor = list.at(-1)!.id + 1
  }
}

function writesOf({ players, keeper, planner }: Cast): number {
  return sum([keeper, planner, ...players.flatMap(({ writers, talkers }) => [...writers, ...talkers])], one => one.done)
}

function sum<T>(list: readonly T[], of: (item: T) => number): number {
  return list.reduce((total, item) => total + of(item), 0)
}
