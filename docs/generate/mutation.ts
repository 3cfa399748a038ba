// mutation.md: how many small changes of the rules and of the journal the tests notice. `npx tsx test/mutation/main.ts` keeps it in
// mutation.json.

import { existsSync, readFileSync } from 'node:fs'
import { code, page, table } from './markdown.ts'
import type { Origin } from './measured.ts'
import { equivalents } from './mutation-equivalents.ts'

export interface Survivor {
  readonly line: number
  /** The declaration that it is in. */
  readonly within: string
  readonly mutator: string
  readonly original: string
  readonly replacement: string
}

export interface MutatedFile extends Origin {
  /** All that were tried. */
  readonly mutants: number
  /** Those that made a test fail. */
  readonly killed: number
  /** Those that made a test run without end. */
  readonly late: number
  readonly survivors: readonly Survivor[]
}

/** By path. */
export type MutationRecord = Readonly<Record<string, MutatedFile>>

export function readMutation(file: string): MutationRecord {
  return existsSync(file) ? (JSON.parse(readFileSync(file, 'utf8')) as MutationRecord) : {}
}

/** How a survivor is named in mutation-equivalents.ts: by what it changes, because lines move. */
export function nameOf({ within, original, replacement }: Survivor): string {
  return `${within}: ${short(original)} → ${short(replacement)}`
}

/** Why a mutant that survives cannot be noticed; undefined if no reason is recorded. */
export function argumentFor(file: string, survivor: Survivor): string | undefined {
  return equivalents[file]?.[nameOf(survivor)]
}

export function mutationPage(record: MutationRecord): string {
  const files = Object.entries(record)
  const survivors = files.flatMap(([file, { survivors }]) => survivors.map(survivor => ({ file, survivor })))
  const left = survivors.filter(({ file, survivor }) => argumentFor(file, survivor) === undefined)
  const argued = survivors.filter(({ file, survivor }) => argumentFor(file, survivor) !== undefined)
  return page(
    'Mutants',
    '`npx tsx test/mutation/main.ts` changes the rules and the journal in one small place at a time (a condition, a comparison, a constant, a statement that is left out) and runs the tests that come past it. A mutant is killed if a test fails, or runs without end; one that survives shows a hole in the tests, or changes nothing that anything could notice. Sentences for people are left out: other tests are about them.',
    files.length === 0 ? 'No run is recorded yet.' : totals(files),
    argued.length > 0 ? '## Mutants that change nothing' : '',
    table(
      ['Place', 'Change', 'Why nothing can notice it'],
      argued.map(({ file, survivor }) => [place(file, survivor), change(survivor), argumentFor(file, survivor)!]),
    ),
    left.length > 0 ? '## Survivors' : '',
    table(
      ['Place', 'Change'],
      left.map(({ file, survivor }) => [place(file, survivor), change(survivor)]),
    ),
    files.length > 0 ? '## Runs' : '',
    table(
      ['File', 'Date', 'Command', 'Machine'],
      files.map(([file, { date, command, machine }]) => [code(file), date.slice(0, 10), code(command), machine]),
    ),
  )
}

function totals(files: readonly (readonly [string, MutatedFile])[]): string {
  const rows = files.map(([file, { mutants, killed, late, survivors }]) => {
    const argued = survivors.filter(survivor => argumentFor(file, survivor) !== undefined).length
    return { name: code(file), figures: [mutants, killed, late, argued, survivors.length - argued] }
  })
  const sum = rows[0]!.figures.map((_, column) => rows.reduce((all, { figures }) => all + figures[column]!, 0))
  return table(
    ['File', 'Mutants', 'Killed', 'Without end', 'Change nothing', 'Survive'],
    [...rows, { name: 'all', figures: sum }].map(({ name, figures }) => [name, ...figures.map(String)]),
  )
}

function place(file: string, { within }: Survivor): string {
  return `${code(file)}, ${code(within)}`
}

function change({ original, replacement }: Survivor): string {
  return `${code(short(original))} → ${code(short(replacement))}`
}

function short(text: string): string {
  return text.length <= 90 ? text : `${text.slice(0, 60)} … ${text.slice(-27)}`
}
