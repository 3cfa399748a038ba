// kill -9, again and again, under load: nothing answered may be lost, nothing half done, and the queues go on.

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { events } from '../../daemon/api/events.ts'
import { savedSnippets } from '../../daemon/api/saved-snippets.ts'
import { typing } from '../../daemon/api/typing.ts'
import { CrashReader } from './crash-reader.ts'
import { CrashWriter } from './crash-writer.ts'
import { Caller, launch, type TestDaemon } from './daemon.ts'
import { cutOff } from './http.ts'
import { person } from './world.ts'

export interface Campaign {
  readonly kills: number
  readonly seed: number
  readonly writers?: number
  readonly readers?: number
  readonly note?: (text: string) => void
}

export interface Tally {
  writes: number
  events: number
  unknown: number
}

/** Seeded: the same seed gives the same choices and the same waits. What the machine makes of them is its own affair. */
function dice(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }
}

export async function campaign({ kills, seed, writers = 5, readers = 3, note = () => {} }: Campaign): Promise<Tally> {
  const data = mkdtempSync(join(tmpdir(), 'natter-crash-'))
  const random = dice(seed)
  const tally: Tally = { writes: 0, events: 0, unknown: 0 }
  let daemon = await launch(data)
  try {
    const amy = await person(daemon, 'amy')
    const accounts = [daemon.owner, amy]
    const people = accounts.map((_, index) => ({
      writers: Array.from({ length: writers }, (_, n) => new CrashWriter(`${index}.${n}`, dice(random() * 2 ** 32))),
      readers: [] as CrashReader[],
    }))
    for (const [index, { readers: list }] of people.entries())
      for (let n = 0; n < readers; n++) {
        const wanted = { event_types: n === 0 ? ['saved_snippets'] : ['saved_snippets', 'typing'] }
        const { queue_id } = await accounts[index]!.call(events.register, wanted)
        list.push(new CrashReader(queue_id, dice(random() * 2 ** 32)))
      }

    for (let round = 1; round <= kills; round++) {
      await underLoad(daemon, accounts, people, random)
      await daemon.kill()
      daemon = await launch(data)
      for (const [index, person] of people.entries()) {
        const caller = movedTo(daemon, accounts[index]!)
        await checkWrites(caller, person.writers, tally)
        for (const reader of person.readers) await reader.recover(caller)
      }
      note(
        `kill ${round} of ${kills}: ${people.flatMap(({ writers }) => writers).reduce((sum, { done }) => sum + done, 0)} writes`,
      )
    }

    for (const [index, person] of people.entries()) {
      const caller = movedTo(daemon, accounts[index]!)
      const { saved_snippets: kept } = await caller.call(savedSnippets.list, {})
      const stories = person.readers.map(reader => reader.story())
      for (const story of stories) assert.deepEqual(story, stories[0], 'two queues of one user tell different stories')
      const told = new Map(kept.map(({ id, title, content }) => [id, { title, content }]))
      assert.deepEqual(person.readers[0]!.folded(), told, 'the events do not add up to the state')
      for (const writer of person.writers) writer.checkTold(stories[0]!)
      tally.writes += person.writers.reduce((sum, { done }) => sum + done, 0)
      tally.events += person.readers.reduce((sum, { heard }) => sum + heard.size, 0)
    }
    // Holds snapshot + journal against the living state.
    await daemon.stop()
    return tally
  } finally {
    daemon.process.kill('SIGKILL')
    rmSync(data, { recursive: true, force: true })
  }
}

async function underLoad(
  daemon: TestDaemon,
  accounts: readonly Caller[],
  people: readonly { readonly writers: readonly CrashWriter[]; readonly readers: readonly CrashReader[] }[],
  random: () => number,
): Promise<void> {
  const living = { is: true }
  const callers = accounts.map(account => movedTo(daemon, account))
  const work = people.flatMap(({ writers, readers }, index) => [
    ...writers.map(writer => writer.work(callers[index]!, living)),
    ...readers.map(reader => reader.work(callers[index]!, living)),
    chatter(callers[index]!, callers, living),
  ])
  const until = 20 + random() * 380
  // Half of the time a compaction is under way, or just done, when the end comes.
  const compactAt = random() < 0.5 ? until * random() : undefined
  if (compactAt !== undefined) setTimeout(() => daemon.process.kill('SIGUSR2'), compactAt)
  await sleep(until)
  const killed = daemon.kill()
  living.is = false
  await Promise.all([killed, ...work])
}

/** Signals, which a crash may forget. */
async function chatter(caller: Caller, others: readonly Caller[], living: { readonly is: boolean }): Promise<void> {
  while (living.is) {
    const reply = await caller.try(typing.set, { op: 'start', to: others.map(({ id }) => id) }).catch(cutOff)
    if (!reply) return
    await sleep(2)
  }
}

async function checkWrites(caller: Caller, writers: readonly CrashWriter[], tally: Tally): Promise<void> {
  const { saved_snippets: kept } = await caller.call(savedSnippets.list, {})
  const left = new Map(kept.map(({ id, title, content }) => [id, { title, content }]))
  for (const writer of writers) if (writer.settle(left)) tally.unknown++
  assert.deepEqual([...left], [], 'there are snippets that nobody wrote')
}

function movedTo(daemon: TestDaemon, { email, key, id }: Caller): Caller {
  return new Caller(daemon.url, email, key, id)
}
