// Checks whether an account may call an endpoint at all. The commands ask the same rules again, for callers without HTTP.

import type { Endpoint } from '../../api/define.ts'
import { subscribe } from './channels.ts'
import { useGroups } from './groups.ts'
import { administer, own } from './organization.ts'
import { callEndpoint } from './people.ts'
import { type Asker, check, insist, isGuest, isHuman, rule } from './rule.ts'

/** A caller without the right role is told so before anything is said about parameters. */
export function checkCall(asker: Asker, { id, callers }: Endpoint): void {
  check(callEndpoint, asker, id)
  if (callers) checkCallers(asker, callers)
}

function checkCallers(asker: Asker, callers: NonNullable<Endpoint['callers']>): void {
  if (callers === 'administrators') insist(administer, asker)
  else if (callers === 'owners') insist(own, asker, 'do this')
  else check(others[callers], asker)
}

export const callAsHuman = rule({
  law: 'Some endpoints are for people; bots may not call them.',
  refusal: 'Bots cannot do this.',
  allows: ({ actor }) => isHuman(actor),
})

export const callAsHumanMember = rule({
  law: 'Some endpoints are for members who are neither guests nor bots.',
  refusal: 'Guests and bots cannot do this.',
  allows: ({ actor }) => isHuman(actor) && !isGuest(actor),
})

const others = {
  members: useGroups,
  'not guests': subscribe,
  humans: callAsHuman,
  'human members': callAsHumanMember,
} as const
