// kill -9 under load, again and again (test/proof/crash/campaign.ts), on a new store every 25 kills, several stores at once.

import assert from 'node:assert/strict'
import { resources } from '../../daemon/domain/index.ts'
import { blaming, type Campaign, type Result, type RunOptions } from './campaign.ts'
import { campaign as kill, type Tally } from './crash/campaign.ts'

const perStore = 25
/** Stores at the same time: most of a kill is waiting for a daemon to start. */
const lanes = 6

/** Kills after which every kind of fact was written, whatever the seed, but for these. */
const manyKills = 1000
const notWritten: Readonly<Record<string, readonly string[]>> = {
  'there before the first kill': ['organization.founded'],
  'ends all other writes': ['organization.deactivated', 'organization.reactivated'],
  'made by the clock, over hours or days': [
    'channel.activity-changed',
    'presence.saved',
    'reminder.delivered',
    'user.waiting-settled',
  ],
  'made when a delivery is no longer permitted': ['reminder.failed', 'scheduled-message.failed'],
  'needs a password or a link from an email': ['user.password-changed', 'email-change.confirmed'],
  'made in the background, long after the call': [
    'export.requested',
    'export.finished',
    'export.failed',
    'export.deleted',
  ],
  'asked for by the control plane': ['webhook.asked'],
}

export const campaign: Campaign = {
  about: 'kill -9 under load: nothing answered is lost, nothing is half done, and every queue goes on',
  unit: 'kills',
  long: 2000,
  short: 3,
  run,
}

async function run(options: RunOptions): Promise<Result> {
  const { count, seed, deadline = Number.POSITIVE_INFINITY, note = () => {}, progress = () => {} } = options
  const tallies: Tally[] = []
  let begun = 0
  let done = 0
  let next = seed
  const lane = async () => {
    while (begun < count && performance.now() < deadline) {
      const kills = Math.min(perStore, count - begun)
      const own = next++
      begun += kills
      let before = 0
      const killing = kill({
        kills,
        seed: own,
        note: text => note(`seed ${own}: ${text}`),
        progress(killed) {
          done += killed - before
          before = killed
          progress(done)
        },
      })
      tallies.push(await blaming(own, kills, killing))
    }
  }
  await Promise.all(Array.from({ length: lanes }, lane))
  const facts = new Set(tallies.flatMap(tally => [...tally.facts]))
  if (done >= manyKills)
    assert.deepEqual(
      kinds().filter(kind => !facts.has(kind)),
      [],
      'kinds of facts never written',
    )
  return { done, summary: summaryOf(tallies, facts) }
}

/** Of facts that can be written while daemons are killed. */
export function kinds(): string[] {
  const all = resources.flatMap(({ apply }) => Object.keys(apply))
  const excluded = Object.values(notWritten).flat()
  assert.deepEqual(
    excluded.filter(kind => !all.includes(kind)),
    [],
    'there are no such facts',
  )
  return all.filter(kind => !excluded.includes(kind))
}

function summaryOf(tallies: readonly Tally[], facts: ReadonlySet<string>): string {
  const total = (what: 'writes' | 'events' | 'unknown' | 'cuts' | 'scheduled' | 'webhooks') =>
    tallies.reduce((sum, tally) => sum + tally[what], 0)
  return [
    `${total('writes')} writes of ${facts.size} kinds of facts`,
    `${total('events')} events`,
    `${total('unknown')} unanswered writes found done`,
    `${total('scheduled')} scheduled messages`,
    `${total('webhooks')} webhooks`,
    `journals cut at ${total('cuts')} bytes`,
  ].join(', ')
}
