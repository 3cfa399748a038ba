// What callers are told when a world cannot answer them: its disk failed, a defect ended it, or another daemon leads.

import { Refusal } from '../domain/refusal.ts'

export function storeFailed(): Refusal {
  return new Refusal('The daemon cannot write its store and is stopping; see its log.', { code: 'SERVER_NOT_READY' })
}

export function endedByDefect(
  msg = 'A defect of the daemon has ended this organization, and the daemon is stopping; see its log.',
): Refusal {
  return new Refusal(msg, { code: 'SERVER_NOT_READY', status: 503 })
}

/** For calls that have changed nothing. */
export function notLeading(): Refusal {
  return new Refusal('This daemon no longer leads its cluster. Try again.', { code: 'SERVER_NOT_READY', status: 503 })
}

export function perhapsSaved(): Refusal {
  return new Refusal(
    'This daemon no longer leads its cluster, so your change may or may not have been saved. Check before you repeat it.',
    { code: 'SERVER_NOT_READY', status: 503 },
  )
}
