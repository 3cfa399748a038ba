// Random histories by people of every role, against a model of the permission rules that was written from the specification
// (test/proof/histories/model.ts): no user reads, hears or changes what they may not, or is denied what they may.

import { type Campaign, dice, Failure } from './campaign.ts'
import { Difference, History } from './histories/history.ts'

/** Steps of one organization: enough to reach odd states, and few enough to read when something is found. */
const perHistory = 250

export const campaign: Campaign = {
  about: 'random histories by people of every role, against an independent model of the permission rules',
  unit: 'steps',
  long: 100_000,
  short: 1000,
  async run({ count, seed, deadline = Number.POSITIVE_INFINITY, note = () => {}, progress = () => {} }) {
    const total = { allowed: 0, refused: 0, heard: 0, read: 0 }
    let done = 0
    for (let number = seed; done < count && performance.now() < deadline; number++) {
      const history = new History(dice(number))
      for (let steps = 0; steps < perHistory && done < count; steps++, done++)
        try {
          history.step()
        } catch (error) {
          const text = error instanceof Difference ? error.message : ((error as Error).stack ?? String(error))
          throw new Failure(number, text, steps + 1)
        }
      for (const key of ['allowed', 'refused', 'heard', 'read'] as const) total[key] += history.tally[key]
      progress(done)
      note(`${done} steps, ${total.allowed} allowed, ${total.refused} refused`)
      // A Ctrl-C gets its turn.
      await new Promise(resolve => setImmediate(resolve))
    }
    const { allowed, refused, heard, read } = total
    return {
      done,
      summary: `${allowed} allowed, ${refused} refused, ${heard} events heard, ${read} times everything read`,
    }
  },
}
