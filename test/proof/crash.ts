// kill -9 under load, again and again (test/proof/crash/campaign.ts), on a new store every 25 kills, several stores at once.

import { blaming, type Campaign, type Result, type RunOptions } from './campaign.ts'
import { campaign as kill, type Tally } from './crash/campaign.ts'

const perStore = 25
/** Stores at the same time: most of a kill is waiting for a daemon to start. */
const lanes = 3

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
  return { done, summary: summaryOf(tallies) }
}

function summaryOf(tallies: readonly Tally[]): string {
  const total = (what: 'writes' | 'events' | 'unknown' | 'cuts' | 'scheduled' | 'webhooks') =>
    tallies.reduce((sum, tally) => sum + tally[what], 0)
  const facts = new Set(tallies.flatMap(tally => [...tally.facts]))
  return [
    `${total('writes')} writes of ${facts.size} kinds`,
    `${total('events')} events`,
    `${total('unknown')} unanswered writes found done`,
    `${total('scheduled')} scheduled messages`,
    `${total('webhooks')} webhooks`,
    `journals cut at ${total('cuts')} bytes`,
  ].join(', ')
}
