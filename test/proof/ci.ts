// A day of CI in one process, in 20 minutes: jobs that each make a space, use it as a test does, and delete it. Every job ends with a poll
// that waits, and many with a snapshot or a fault: whatever a space leaves behind adds up.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { events } from '../../daemon/api/events.ts'
import { uploads } from '../../daemon/api/files/uploads.ts'
import { messages } from '../../daemon/api/messages/messages.ts'
import { reactions } from '../../daemon/api/messages/reactions.ts'
import { users } from '../../daemon/api/people/users.ts'
import { Control } from '../support/control.ts'
import { launch, type TestDaemon } from '../support/daemon.ts'
import { reportingHeap } from '../support/heap.ts'
import { openSpace, type TestSpace } from '../support/spaces.ts'
import { blaming, type Campaign, dice, type Result, type RunOptions } from './campaign.ts'
import { type Measured, runTraffic, samplesOf } from './traffic/run.ts'
import { assertLevel, type Level } from './traffic/trend.ts'
import { withoutVitals } from './traffic/vitals.ts'

/** With the long count, 20 minutes. A machine that cannot keep up takes longer. */
const perSecond = 84
const windowSeconds = 12
const atOnce = 8
const callsOfJob = 10

const levels: readonly Level<keyof Measured>[] = [
  { figure: 'kept', what: 'memory in use', unit: ' MB', part: 0.05, least: 2 },
  { figure: 'resident', what: 'resident memory', unit: ' MB', part: 0.1, least: 20 },
  { figure: 'descriptors', what: 'descriptors', unit: '', part: 0, least: 10 },
]

export const campaign: Campaign = {
  about: 'a day of CI in one process: 100,000 spaces made, used and deleted, with 1,000,000 calls; memory stays level',
  unit: 'spaces',
  long: 100_000,
  short: 25,
  unavailable: withoutVitals,
  run: options => blaming(options.seed, options.count, run(options)),
}

async function run(options: RunOptions): Promise<Result> {
  const folder = mkdtempSync(join(tmpdir(), 'natter-prove-'))
  const heapFile = join(folder, 'heap')
  const data = mkdtempSync(join(folder, 'data-'))
  const flags = ['--memory', '--preset', 'dev', '--no-rate-limit']
  const daemon = await launch(data, { flags, env: reportingHeap(heapFile) })
  try {
    const random = dice(options.seed)
    const step = () => job(daemon, random())
    const plan = { ...options, daemon, heapFile, readers: [], perSecond, windowSeconds, most: atOnce, step }
    const { done, measured } = await runTraffic(plan)
    const { spaces } = await new Control(daemon).call('GET', '/spaces')
    if (spaces.length > 0) throw new Error(`${spaces.length} spaces were not deleted`)
    const found = assertLevel(levels, figure => samplesOf(measured, figure))
    return { done, summary: `${done * callsOfJob} calls; ${found}` }
  } finally {
    await daemon.kill()
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Ten calls, with those that make and delete the space. */
async function job(daemon: TestDaemon, chance: number): Promise<void> {
  const clock = chance < 0.5 ? { clock: 'frozen@2030-01-01T09:00:00Z' } : {}
  const space = await openSpace(daemon, clock)
  const { owner } = space
  const { queue_id } = await owner.call(events.register, {})
  const { id } = await owner.call(messages.send, { type: 'direct', to: [owner.id], content: `job **${chance}**` })
  await owner.call(reactions.add, { message_id: id, emoji_name: 'tada' })
  const file = { filename: 'log.txt', contentType: 'text/plain', bytes: Buffer.alloc(2000, 'x') }
  await owner.call(uploads.upload, { file })
  const { events: heard } = await owner.call(events.get, { queue_id: queue_id!, last_event_id: -1 })
  await owner.call(users.list, {})
  await controls[Math.floor(chance * 1000) % controls.length]!(space)
  // With the space, its poll ends.
  const poll = owner.try(events.get, { queue_id: queue_id!, last_event_id: heard!.at(-1)!.id })
  await Promise.all([poll, new Control(daemon).call('DELETE', `/spaces/${space.name}`)])
}

const controls: readonly ((space: TestSpace) => Promise<unknown>)[] = [
  ({ control }) => control.call('POST', '/snapshots', { name: 'before' }),
  ({ control }) => control.call('POST', '/reset'),
  ({ control }) => control.call('POST', '/faults', { kind: 'rate-limit', seconds: 1, times: 1 }),
  ({ control }) => control.call('GET', '/requests'),
  ({ owner }) => owner.call(messages.list, { anchor: 'newest', num_before: 10, num_after: 0 }),
]
