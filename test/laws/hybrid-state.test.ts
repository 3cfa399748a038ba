// For every event type: the state fetched by `register` before, and the events since, give the state fetched after.
// `npm run hybrid` runs many histories; a run of the tests only a few.

import { describe, test } from 'node:test'
import fc from 'fast-check'
import { type Capability, capabilities } from '../../daemon/api/capabilities.ts'
import { histories } from '../support/histories.ts'
import { live } from '../support/hybrid.ts'

const all = Object.keys(capabilities) as Capability[]
const sets: readonly (readonly Capability[])[] = [
  all,
  [],
  ['archived_channels', 'user_settings_object', 'empty_topic_name'],
  ['include_deactivated_groups', 'bulk_message_deletion', 'user_list_incomplete', 'notification_settings_null'],
]
const numRuns = Number(process.env.NATTER_HISTORIES ?? 2)

const title = (declared: readonly Capability[]) =>
  `for clients with ${declared.length === all.length ? 'all' : declared.join(', ') || 'no'} capabilities`

describe('state before + events = state after', () => {
  for (const [index, declared] of sets.entries())
    for (const only of [undefined, 'people'] as const)
      test(only ? `${title(declared)}, where guests know of some people only` : title(declared), () => {
        fc.assert(
          fc.property(histories(40), steps => live(declared, steps, only)),
          { numRuns, includeErrorInReport: true, ...(numRuns <= 2 && { seed: 1000 + index }) },
        )
      })
})
