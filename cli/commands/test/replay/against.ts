// `natter replay FILE --against natter|SITE`: plays the recording of one server on another, and reports where the two differ.

import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { mostDifferences } from '../../../../daemon/api/control/drift.ts'
import { removedOnExit } from '../../../../daemon/local/atomic-file.ts'
import { Ending, exitCodes } from '../../../base/failure.ts'
import type { Globals } from '../../../base/globals.ts'
import { note } from '../../../base/note.ts'
import { accountFor, demandKey, readSite } from '../../../base/profile.ts'
import { columnWidth } from '../../../base/text-layout.ts'
import { print } from '../../../base/writer.ts'
import { printJson } from '../../../print/output.ts'
import { callControlPlane } from '../../../transport/control.ts'
import { buildSeed } from '../../organization/seed-pull/build-seed.ts'
import type { Read } from '../../organization/seed-pull/shapes.ts'
import { startTimeout, withFixture } from '../fixture.ts'
import { acceptedFile, knownDifferences, saveDifferences } from './accepted.ts'
import { type Difference, Drift, keyOf } from './drift.ts'
import { flagsFrom, organizationIn } from './organization.ts'
import { playAll } from './play-all.ts'
import { Player } from './player.ts'
import type { Recording } from './recording.ts'

interface Comparison {
  readonly against: string
  readonly accept: boolean
  /** The organization of the recording, if the daemon was started with it. */
  readonly begun?: Read
}

export async function reportDrift(
  file: string,
  recording: Recording,
  { against, accept, begun }: Comparison,
  globals: Globals,
): Promise<void> {
  const accepted = knownDifferences(acceptedFile(file))
  const drift = new Drift()
  const player = playerFor(recording, against, globals)
  if (begun) await player.learnOrganization(begun)
  await playAll(player, recording, drift)
  const { differences } = drift
  const isAccepted = (difference: Difference) => accept || accepted.has(keyOf(difference))
  if (against === 'natter') await keepReport(file, recording, differences, isAccepted, globals)
  if (accept) {
    saveDifferences(acceptedFile(file), differences)
    note(`wrote ${acceptedFile(file)}, ${count(differences.length)}`)
    return
  }
  const news = differences.filter(difference => !isAccepted(difference))
  if (globals.json) printJson({ differences: news, accepted: differences.length - news.length })
  else for (const line of formatDifferences(news)) print(`${line}\n`)
  const known = differences.length - news.length
  note(`${recording.calls.length} calls, ${count(news.length)}${known > 0 ? `, and ${known} accepted` : ''}`)
  if (news.length > 0) throw new Ending(exitCodes.unmet)
}

/** Against a daemon of its own, in memory, that begins as the recording did. */
export async function reportFreshDrift(
  file: string,
  recording: Recording,
  accept: boolean,
  globals: Globals,
): Promise<void> {
  const begun = organizationIn(recording)
  const content = JSON.stringify(buildSeed(begun, { salt: undefined, now: Date.now() / 1000 }))
  const folder = mkdtempSync(join(tmpdir(), 'natter-replay-'))
  try {
    const seed = join(folder, 'seed.json')
    writeFileSync(seed, content, { mode: 0o600 })
    const flags = ['--seed', seed, ...flagsFrom(recording)]
    // A signal makes the fixture exit, without the `finally`.
    await removedOnExit(folder, () =>
      withFixture(flags, startTimeout, ({ ready }) => {
        const place = { site: ready.url, ...(ready.control_token && { controlToken: ready.control_token }) }
        return reportDrift(file, recording, { against: 'natter', accept, begun }, { ...globals, ...place })
      }),
    )
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Bytes of a report: the control plane takes a body of 1 MiB. */
const mostBytes = 900_000

/** Sends the report to the daemon, for its inspector. */
async function keepReport(
  file: string,
  { calls }: Recording,
  differences: readonly Difference[],
  isAccepted: (difference: Difference) => boolean,
  globals: Globals,
): Promise<void> {
  const listed: object[] = []
  let bytes = 0
  for (const difference of differences) {
    const { where, field } = difference
    const item = { ...difference, where: cut(where), field: cut(field), accepted: isAccepted(difference) }
    bytes += Buffer.byteLength(JSON.stringify(item))
    if (listed.length === mostDifferences || bytes > mostBytes) break
    listed.push(item)
  }
  const body = {
    recording: cut(basename(file)),
    calls: calls.length,
    differences: listed,
    left_out: differences.length - listed.length,
  }
  await callControlPlane(globals, { method: 'POST', path: '/control/v1/drift', body })
}

function cut(text: string): string {
  return text.slice(0, 200)
}

/** The keys of another server are not known, so only the calls of one account can be repeated there. */
function playerFor({ calls }: Recording, against: string, globals: Globals): Player {
  if (against === 'natter') return new Player(globals)
  const account = accountFor(
    { ...globals, site: readSite(against, '--against: give natter, or a server; ') },
    process.env,
  )
  demandKey(account)
  const users = new Set(calls.flatMap(({ user }) => user ?? []))
  // A disguised recording has another name for the only account in it.
  const [only] = users
  return new Player(globals, { account, user: users.size === 1 ? only! : account.email! })
}

function count(number: number): string {
  return `${number} ${number === 1 ? 'difference' : 'differences'}`
}

/** Grouped by endpoint and event. */
function formatDifferences(differences: readonly Difference[]): string[] {
  const width = columnWidth(differences.map(({ field }) => field.length))
  const lines: string[] = []
  for (const [index, { where, field, kind, recorded, found, count: times, call }] of differences.entries()) {
    if (where !== differences[index - 1]?.where) lines.push(where)
    const often = times > 1 ? ` (${times} times)` : ''
    lines.push(`  ${field.padEnd(width)}  ${kind.padEnd(8)}  ${recorded} → ${found}, call ${call}${often}`)
  }
  return lines
}
