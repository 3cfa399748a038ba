// kill -9 under load, again and again (test/proof/crash/campaign.ts), on a new store every 25 kills.

import { blaming, type Campaign } from './campaign.ts'
import { campaign as kill } from './crash/campaign.ts'

const perStore = 25

export const campaign: Campaign = {
  about: 'kill -9 under load: nothing answered is lost, nothing is half done, and every queue goes on',
  unit: 'kills',
  long: 2000,
  short: 10,
  async run({ count, seed, deadline = Number.POSITIVE_INFINITY, note = () => {}, progress = () => {} }) {
    const total = { writes: 0, events: 0, unknown: 0 }
    let done = 0
    for (let next = seed; done < count && performance.now() < deadline; next++) {
      const kills = Math.min(perStore, count - done)
      const before = done
      const killing = kill({
        kills,
        seed: next,
        note: text => note(`seed ${next}: ${text}`),
        progress: killed => progress(before + killed),
      })
      const { writes, events, unknown } = await blaming(next, kills, killing)
      total.writes += writes
      total.events += events
      total.unknown += unknown
      done += kills
    }
    const { writes, events, unknown } = total
    return { done, summary: `${writes} writes, ${events} events, ${unknown} unanswered writes found done` }
  },
}
