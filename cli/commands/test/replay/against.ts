// `natter replay FILE --against natter|SITE`: plays the recording of one server on another, and reports where the two differ.

import { siteAddress } from '../../../../daemon/api/address.ts'
import { Ending, exitCodes, usage } from '../../../base/failure.ts'
import type { Globals } from '../../../base/globals.ts'
import { note } from '../../../base/note.ts'
import { accountFor, demandKey } from '../../../base/profile.ts'
import { print } from '../../../base/writer.ts'
import { printJson } from '../../../print/output.ts'
import { acceptedFile, knownDifferences, saveDifferences } from './accepted.ts'
import { type Difference, Drift, keyOf } from './drift.ts'
import { playAll } from './play-all.ts'
import { Player } from './player.ts'
import type { Recording } from './recording.ts'

export async function reportDrift(
  file: string,
  recording: Recording,
  against: string,
  accept: boolean,
  globals: Globals,
): Promise<void> {
  const accepted = knownDifferences(acceptedFile(file))
  const drift = new Drift()
  await playAll(playerFor(recording, against, globals), recording, drift)
  const { differences } = drift
  if (accept) {
    saveDifferences(acceptedFile(file), differences)
    note(`wrote ${acceptedFile(file)}, ${count(differences.length)}`)
    return
  }
  const news = differences.filter(difference => !accepted.has(keyOf(difference)))
  if (globals.json) printJson({ differences: news, accepted: differences.length - news.length })
  else for (const line of formatDifferences(news)) print(`${line}\n`)
  const known = differences.length - news.length
  note(`${recording.calls.length} calls, ${count(news.length)}${known > 0 ? `, and ${known} accepted` : ''}`)
  if (news.length > 0) throw new Ending(exitCodes.unmet)
}

/** Another server gives its keys to nobody: only the calls of one account can be made again there. */
function playerFor({ calls }: Recording, against: string, globals: Globals): Player {
  if (against === 'natter') return new Player(globals)
  const account = accountFor({ ...globals, site: siteIn(against) }, process.env)
  demandKey(account)
  const users = new Set(calls.flatMap(({ user }) => user ?? []))
  // A disguised recording has another name for the only account in it.
  const [only] = users
  return new Player(globals, { account, user: users.size === 1 ? only! : account.email! })
}

function siteIn(given: string): string {
  try {
    return siteAddress(given)
  } catch (error) {
    throw usage(`--against: give natter, or a server; ${(error as Error).message}`)
  }
}

function count(number: number): string {
  return `${number} ${number === 1 ? 'difference' : 'differences'}`
}

/** Grouped by endpoint and event. */
function formatDifferences(differences: readonly Difference[]): string[] {
  const width = Math.max(0, ...differences.map(({ field }) => field.length))
  const lines: string[] = []
  for (const [index, { where, field, kind, recorded, found, count: times, call }] of differences.entries()) {
    if (where !== differences[index - 1]?.where) lines.push(where)
    const often = times > 1 ? ` (${times} times)` : ''
    lines.push(`  ${field.padEnd(width)}  ${kind.padEnd(8)}  ${recorded} → ${found}, call ${call}${often}`)
  }
  return lines
}
