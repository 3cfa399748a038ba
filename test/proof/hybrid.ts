// Random histories in which clients keep their state up to date by events. The law test test/laws/hybrid-state.test.ts is
// the short form.

import { setImmediate as nextTurn } from 'node:timers/promises'
import fc from 'fast-check'
import { histories } from '../support/histories.ts'
import { clientKinds, live } from '../support/hybrid.ts'
import { type Campaign, Failure } from './campaign.ts'

export const campaign: Campaign = {
  about: 'register + events = register, over random histories, for clients with all, some and no capabilities',
  unit: 'histories',
  long: 1600,
  short: 16,
  async run({ count, seed, deadline = Number.POSITIVE_INFINITY, note = () => {}, progress = () => {} }) {
    let done = 0
    let steps = 0
    for (; done < count && performance.now() < deadline; done++) {
      // A seed decides on the history and on the kind of client, so that it alone repeats a failure.
      const number = seed + done
      const { declared, only, title } = clientKinds[number % clientKinds.length]!
      const lived = fc.check(
        fc.property(histories(40), history => {
          steps += history.length
          live(declared, history, only)
        }),
        { numRuns: 1, seed: number, includeErrorInReport: true },
      )
      if (lived.failed) throw new Failure(number, `${title}: ${fc.defaultReportMessage(lived)}`)
      progress(done + 1)
      if ((done + 1) % 50 === 0) note(`${done + 1} histories, ${steps} steps`)
      await nextTurn()
    }
    return { done, summary: `${steps} steps, ${Math.min(done, clientKinds.length)} kinds of clients` }
  },
}
