// Checks whether an account may call an endpoint at all. The commands ask the same rules again, for callers without HTTP.

import type { Endpoint } from '../../api/define.ts'
import { subscribe } from './channels.ts'
import { useGroups } from './groups.ts'
import { administer, own } from './organization.ts'
import { type Asker, check, insist, isGuest, isHuman, rule } from './rule.ts'

/** A caller without the right role is told so before anything is said about parameters. */
export function checkCallers(asker: Asker, callers: NonNullable<Endpoint['callers']>): void {
  if (callers === 'administrators') insist(administer, asker)
  else if (callers === 'owners') insist(own, asker, 'do this')
  else check(others[callers], asker)
}

const others = {
  members: useGroups,
  'not guests': subscribe,
  humans: rule({
    law: 'People may call it; bots may not.',
    refusal: 'Bots cannot do this.',
    allows: ({ actor }) => isHuman(actor),
  }),
  'human members': rule({
    law: 'Members who are neither guests nor bots may call it.',
    refusal: 'Guests and bots cannot do this.',
    allows: ({ actor }) => isHuman(actor) && !isGuest(actor),
  }),
} as const
