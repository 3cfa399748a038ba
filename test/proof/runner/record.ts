// Keeps what campaigns did in docs/generated/proof.json, and prints the page that is made from it.

import { writeFileSync } from 'node:fs'
import { format, parse } from 'node:path'
import { type ProofRecord, type ProofRun, proofPage, readProof } from '../../../docs/generate/proof.ts'

/** Runs of one campaign that are kept in full; older ones are in the totals only. */
const kept = 10

export interface Entry {
  readonly about: string
  readonly unit: string
  readonly run: ProofRun
}

/** Adds a run of the campaign `name`. `file` is the JSON file; the page is written beside it, as `.md`. */
export function addToRecord(file: string, name: string, { about, unit, run }: Entry): void {
  const record = readProof(file)
  const { runs = [], total = { runs: 0, done: 0, seconds: 0, failed: 0 } } = record[name] ?? {}
  const next: ProofRecord = {
    ...record,
    [name]: {
      about,
      unit,
      total: {
        runs: total.runs + 1,
        done: total.done + run.done,
        seconds: Math.round(total.seconds + run.seconds),
        failed: total.failed + (run.outcome === 'failed' ? 1 : 0),
      },
      runs: [run, ...runs].slice(0, kept),
    },
  }
  const sorted = Object.fromEntries(Object.entries(next).sort(([a], [b]) => (a < b ? -1 : 1)))
  writeFileSync(file, `${JSON.stringify(sorted, null, 2)}\n`)
  writeFileSync(pageOf(file), proofPage(sorted))
}

/** Named after the record: a record elsewhere must not overwrite a file that only happens to be called proof.md. */
function pageOf(file: string): string {
  const { dir, name } = parse(file)
  return format({ dir, name, ext: '.md' })
}
