// proof.md: what the campaigns of `npm run prove` tried and found. They keep it in proof.json.

import { existsSync, readFileSync } from 'node:fs'
import { code, page, table } from './markdown.ts'

/** By the name of the campaign. */
export type ProofRecord = Readonly<Record<string, ProofOfCampaign>>

interface ProofOfCampaign {
  readonly about: string
  /** What is counted: calls, kills. */
  readonly unit: string
  /** Of all runs, also of those that are not kept below. */
  readonly total: { readonly runs: number; readonly done: number; readonly seconds: number; readonly failed: number }
  /** Newest first. */
  readonly runs: readonly ProofRun[]
}

export interface ProofRun {
  readonly date: string
  readonly machine: string
  readonly command: string
  readonly seed: number
  readonly done: number
  readonly seconds: number
  readonly outcome: 'passed' | 'failed' | 'interrupted' | 'skipped'
  readonly summary: string
  /** What this machine left out, and why. */
  readonly skipped: readonly string[]
}

export function readProof(file: string): ProofRecord {
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as ProofRecord) : {}
}

export function proofPage(record: ProofRecord): string {
  const campaigns = Object.entries(record)
  return page(
    'Proof',
    'What the campaigns of `npm run prove` tried, how often, on which machine, and what they found. Every run adds itself here. `npm run prove` lists the campaigns, `npm run prove -- NAME` runs one, `npm run prove -- all` runs all of them; `--minutes N` limits the time of each.',
    campaigns.length === 0 ? 'No run is recorded yet.' : totals(campaigns),
    ...campaigns.flatMap(([name, campaign]) => [`## ${name}`, sentence(campaign.about), runsOf(campaign)]),
  )
}

function totals(campaigns: readonly (readonly [string, ProofOfCampaign])[]): string {
  return table(
    ['Campaign', 'Tried in all runs', 'Runs', 'Runs that failed', 'Time', 'Last run'],
    campaigns.map(([name, { unit, total, runs }]) => [
      `[${name}](#${name})`,
      `${grouped(total.done)} ${unit}`,
      String(total.runs),
      String(total.failed),
      duration(total.seconds),
      `${runs[0]!.outcome}, ${day(runs[0]!)}`,
    ]),
  )
}

function runsOf({ unit, runs }: ProofOfCampaign): string {
  return table(
    ['Date', 'Command', 'Seed', 'Tried', 'Time', 'Result', 'Machine'],
    runs.map(run => [
      day(run),
      code(run.command),
      String(run.seed),
      `${grouped(run.done)} ${unit}`,
      duration(run.seconds),
      resultOf(run),
      run.machine,
    ]),
  )
}

function resultOf({ outcome, summary, skipped }: ProofRun): string {
  const left = skipped.length === 0 ? '' : `; skipped ${skipped.length}: ${skipped.join('; ')}`
  // The first line says what; the rest of a failure is a stack.
  const first = summary.split('\n')[0]!.replace(/[<>]/g, '')
  return `${outcome}${first && `: ${first}`}${left}`
}

function day({ date }: ProofRun): string {
  return date.slice(0, 10)
}

function grouped(count: number): string {
  return String(count).replace(/\B(?=(\d{3})+$)/g, ',')
}

function duration(seconds: number): string {
  return seconds < 120 ? `${Math.round(seconds)} s` : `${Math.round(seconds / 60)} min`
}

function sentence(text: string): string {
  return `${text[0]!.toUpperCase()}${text.slice(1)}.`
}
