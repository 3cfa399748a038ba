// coverage.md: which lines and branches of daemon and cli the tests run, by folder. `npx tsx test/coverage-run.ts` keeps it in
// coverage.json.

import { existsSync, readFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { reasons } from './coverage-reasons.ts'
import { code, page, table } from './markdown.ts'
import type { Origin } from './measured.ts'

/** How many were run, and how many there are. */
export type Share = readonly [covered: number, total: number]

export interface FileCoverage {
  readonly lines: Share
  readonly branches: Share
  readonly functions: Share
}

export interface CoverageRecord extends Origin {
  readonly files: Readonly<Record<string, FileCoverage>>
}

/** In percent, of the lines and branches of a folder and of the lines of a file: what is below needs a reason. */
export const wanted = 90
/** In percent: a reason for what has reached this much is out of date. More than `wanted`, because two runs differ a little. */
const settled = 92

export function readCoverage(file: string): CoverageRecord | undefined {
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as CoverageRecord) : undefined
}

/** JSON with one file a line, so that a new record is easy to compare with the last one. */
export function coverageText({ files, ...origin }: CoverageRecord): string {
  const lines = Object.entries(files).map(
    ([name, coverage]) => `    ${JSON.stringify(name)}: ${JSON.stringify(coverage)}`,
  )
  const head = JSON.stringify(origin, null, 2).replace(/\n}$/, '')
  return `${head},\n  "files": {\n${lines.join(',\n')}\n  }\n}\n`
}

export function coveragePage(record: CoverageRecord | undefined): string {
  const about =
    'How much of `daemon` and `cli` the tests run, by folder: of every process that a test starts, of the test processes themselves, and of the inspector in a browser. `npx tsx test/coverage-run.ts` measures it and writes this page.'
  if (!record) return page('Coverage', about, 'No run is recorded yet.')
  const folders = byFolder(record)
  return page(
    'Coverage',
    about,
    `Measured on ${record.date.slice(0, 10)} by ${code(record.command)} on ${record.machine}.`,
    rows('Part', [
      ...['daemon', 'cli'].map(part => [code(part), within(record, part)] as const),
      ['all', within(record, '')],
    ]),
    '## By folder',
    `Files in a folder count for that folder alone, not for the one above it. What is below ${wanted} % is in bold.`,
    rows(
      'Folder',
      [...folders].map(([folder, coverage]) => [code(folder), coverage]),
    ),
    `## Below ${wanted} %`,
    `A folder needs a reason if less than ${wanted} % of its lines or of its branches are run, a file if less than ${wanted} % of its lines are. A file has few branches, so their share is judged by folder. \`docs/generate/coverage-reasons.ts\` holds the reasons; \`npx tsx test/coverage-run.ts\` fails if one is missing or out of date.`,
    table(
      ['Place', 'Lines', 'Branches', 'Reason'],
      below(record).map(place => {
        const { lines, branches } = coverageOf(record, place)!
        const reason = reasons[reasonFor(place) ?? ''] ?? 'No reason is written down.'
        return [code(place), shown(lines, true), shown(branches, true), reason]
      }),
    ),
  )
}

/** Of all files together. */
export function total({ files }: CoverageRecord): FileCoverage {
  return sum(Object.values(files))
}

/** Folders and files that need a reason, in the order of their paths. */
export function below(record: CoverageRecord): string[] {
  return places(record, wanted)
}

/** Below 90 % without a reason, and reasons for what is covered now or no longer exists. */
export function findMismatches(record: CoverageRecord): { without: string[]; stale: string[] } {
  const needed = new Set(places(record, settled).map(reasonFor))
  return {
    without: below(record).filter(place => reasonFor(place) === undefined),
    stale: Object.keys(reasons).filter(place => !needed.has(place)),
  }
}

/** Whose reason counts for a file or folder: its own, or that of the nearest folder around it. */
export function reasonFor(path: string): string | undefined {
  for (let at = path; at !== '.'; at = dirname(at)) if (reasons[at] !== undefined) return at
  return undefined
}

function places(record: CoverageRecord, least: number): string[] {
  const folders = [...byFolder(record)].filter(([, { lines, branches }]) =>
    [lines, branches].some(share => percent(share) < least),
  )
  const files = Object.entries(record.files).filter(([, { lines }]) => percent(lines) < least)
  return [...folders, ...files].map(([place]) => place).sort()
}

function coverageOf(record: CoverageRecord, place: string): FileCoverage | undefined {
  return record.files[place] ?? byFolder(record).get(place)
}

function byFolder({ files }: CoverageRecord): Map<string, FileCoverage> {
  const folders = groupBy(Object.entries(files), ([name]) => dirname(name))
  return new Map([...folders].map(([folder, entries]) => [folder, sum(entries.map(([, coverage]) => coverage))]))
}

function within({ files }: CoverageRecord, part: string): FileCoverage {
  return sum(
    Object.entries(files)
      .filter(([name]) => name.startsWith(part))
      .map(([, coverage]) => coverage),
  )
}

function sum(all: readonly FileCoverage[]): FileCoverage {
  const added = (measure: keyof FileCoverage): Share =>
    all.reduce<Share>(([a, b], coverage) => [a + coverage[measure][0], b + coverage[measure][1]], [0, 0])
  return { lines: added('lines'), branches: added('branches'), functions: added('functions') }
}

function rows(title: string, parts: readonly (readonly [string, FileCoverage])[]): string {
  return table(
    [title, 'Lines', 'Branches', 'Functions', 'Lines in all'],
    parts.map(([name, { lines, branches, functions }]) => [
      name,
      shown(lines, true),
      shown(branches, true),
      shown(functions, false),
      String(lines[1]),
    ]),
  )
}

function shown(share: Share, isWanted: boolean): string {
  if (share[1] === 0) return '–'
  const text = `${percent(share).toFixed(1)} %`
  return isWanted && percent(share) < wanted ? `**${text}**` : text
}

export function percent([covered, total]: Share): number {
  return total === 0 ? 100 : (covered / total) * 100
}

function groupBy<T>(items: readonly T[], keyOf: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>()
  for (const item of items) {
    const key = keyOf(item)
    groups.set(key, [...(groups.get(key) ?? []), item])
  }
  return groups
}
