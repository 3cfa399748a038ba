// For every event type: the state fetched by `register` before, and the events since, give the state fetched after.
// `npm run prove -- hybrid` runs many histories; a run of the tests only a few.

import { describe, test } from 'node:test'
import fc from 'fast-check'
import { histories } from '../support/histories.ts'
import { clientKinds, live } from '../support/hybrid.ts'

const numRuns = Number(process.env.NATTER_HISTORIES ?? 1)

describe('state before + events = state after', () => {
  for (const [index, { title, declared, only }] of clientKinds.entries())
    test(title, () => {
      fc.assert(
        fc.property(histories(40), steps => live(declared, steps, only)),
        { numRuns, includeErrorInReport: true, ...(numRuns === 1 && { seed: 1000 + index }) },
      )
    })
})
