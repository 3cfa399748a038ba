// Disks that fail: an error at every call of a whole scenario, once or from then on, and disks that fill up. Each run ends in
// success, a refusal, a stop or a start that fails, and never in a lie: a restart has everything that was answered.

import { cpSync, mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Campaign, dice, Failure } from './campaign.ts'
import { BrokenDisk, type Fault } from './faults/broken-disk.ts'
import { type End, Scenario } from './faults/scenario.ts'
import { canMount, mountSmallDisk, unmount } from './faults/small-disk.ts'

/** What a scenario must have called, or the layer is not under the store. */
const expected = ['open', 'write', 'fdatasync', 'fsync', 'rename', 'unlink', 'openSync', 'renameSync', 'appendFile']
/** One run in so many is on a small disk. */
const smallEvery = 8

export const campaign: Campaign = {
  about: 'disks that fail at any call, or fill up: a refusal, a stop or success, and never a lie',
  unit: 'faults',
  long: 2000,
  short: 12,
  unavailable: process.platform === 'linux' ? undefined : 'it finds the name of an open file in /proc',
  async run({ count, seed, deadline = Number.POSITIVE_INFINITY, note = () => {}, progress = () => {} }) {
    const folder = mkdtempSync(join(tmpdir(), 'natter-prove-'))
    const mounts = canMount(folder)
    const ends = new Map<string, number>()
    const broken = new Map<string, number>()
    let answered = 0
    let done = 0
    try {
      const calls = await listCalls(join(folder, 'whole'), seed)
      for (let number = seed; done < count && performance.now() < deadline; number++) {
        const data = join(folder, String(number))
        const isSmall = mounts && number % smallEvery === 0
        const run = isSmall ? fillUp(data, number) : breakOnce(data, number, calls)
        const { end, broke, kept } = await run.catch(error => {
          throw new Failure(number, error.stack)
        })
        answered += kept
        count1(ends, end)
        count1(broken, broke)
        rmSync(data, { recursive: true, force: true })
        progress(++done)
        if (done % 50 === 0) note(`${done} faults, ${listed(ends)}`)
      }
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
    return {
      done,
      summary: `${listed(ends)}; ${answered} answered writes, all there; broken: ${listed(broken)}`,
      skipped: mounts ? [] : ['small disks: needs the right to mount a file system'],
    }
  },
}

interface Run {
  readonly end: End
  readonly broke: string
  /** Answered writes that were found again. */
  readonly kept: number
}

/** A whole scenario without a fault: the numbers of the calls it makes, by their names. */
async function listCalls(data: string, seed: number): Promise<readonly number[][]> {
  const scenario = new Scenario(data, dice(seed))
  const disk = await BrokenDisk.install(data)
  const end = await scenario.live().finally(() => disk.mend())
  const missing = expected.filter(name => !disk.seen.includes(name))
  if (end !== 'success' || missing.length > 0)
    throw new Failure(seed, `without a fault: ${end}; never called: ${missing.join(', ')}`)
  await scenario.check()
  const numbers = new Map<string, number[]>()
  for (const [index, name] of disk.seen.entries()) numbers.set(name, [...(numbers.get(name) ?? []), index + 1])
  return [...numbers.values()]
}

async function breakOnce(data: string, seed: number, calls: readonly number[][]): Promise<Run> {
  const random = dice(seed)
  const pick = <T>(list: readonly T[]): T => list[Math.floor(random() * list.length)]!
  const fault: Fault = {
    // First the kind of call: some are made once, others a hundred times.
    at: pick(pick(calls)),
    code: random() < 0.5 ? 'EIO' : 'ENOSPC',
    lasts: random() < 0.5,
  }
  const scenario = new Scenario(data, random)
  const disk = await BrokenDisk.install(data, fault)
  const end = await scenario.live().finally(() => disk.mend())
  return { end, broke: disk.broke ?? 'nothing', kept: await scenario.check() }
}

async function fillUp(data: string, seed: number): Promise<Run> {
  const random = dice(seed)
  mkdirSync(data)
  mountSmallDisk(data, 8 + Math.floor(random() * 150))
  try {
    const scenario = new Scenario(data, random)
    const end = await scenario.live()
    // Where there is room.
    const copy = `${data}-copy`
    cpSync(data, copy, { recursive: true })
    const kept = await scenario.check(copy)
    rmSync(copy, { recursive: true, force: true })
    return { end, broke: 'small disk', kept }
  } finally {
    unmount(data)
  }
}

function count1(tally: Map<string, number>, name: string): void {
  tally.set(name, (tally.get(name) ?? 0) + 1)
}

function listed(tally: ReadonlyMap<string, number>): string {
  return [...tally]
    .sort(([, a], [, b]) => b - a)
    .map(([name, number]) => `${number} × ${name}`)
    .join(', ')
}
