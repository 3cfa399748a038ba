// Results of the bench in a file, and a later run held against them.

import { readFileSync, writeFileSync } from 'node:fs'
import { loadavg } from 'node:os'
import type { Origin } from '../../docs/generate/measured.ts'
import { thisMachine } from '../support/machine.ts'
import type { Result } from './row.ts'
import { columns } from './table.ts'

/** Part of a ratio by which a row may change before it counts as a change at all. */
const tolerance = 0.05

export interface Saved extends Origin {
  readonly results: readonly Result[]
}

export interface Comparison {
  readonly text: string
  /** Names of the rows that got worse. */
  readonly worse: readonly string[]
}

/** To be asked before anything is measured: the bench is itself a load. */
export function originOf(args: readonly string[]): Origin {
  return { date: new Date().toISOString(), machine: thisMachine(), load: loadavg()[0]!, command: commandOf(args) }
}

export function save(file: string, results: readonly Result[], origin: Origin): void {
  const saved: Saved = { ...origin, results }
  writeFileSync(file, `${JSON.stringify(saved, null, 2)}\n`)
}

/** What was called, as one would type it; without the names of files, which mean nothing on another machine. */
function commandOf(args: readonly string[]): string {
  const words = args.map((word, index) =>
    /^--(save|compare|from)$/.test(args[index - 1] ?? '') ? 'FILE' : quoted(word),
  )
  return `npm run bench${words.length > 0 ? ` -- ${words.join(' ')}` : ''}`
}

function quoted(word: string): string {
  return /\s/.test(word) ? `'${word}'` : word
}

/** Throws a sentence for people if this is not a file that `save` wrote. */
export function readSaved(file: string): Saved {
  let saved: Partial<Saved>
  try {
    saved = JSON.parse(readFileSync(file, 'utf8'))
  } catch (error) {
    throw new Error(`Cannot read ${file}: ${(error as Error).message}`)
  }
  if (!Array.isArray(saved?.results) || typeof saved.machine !== 'string' || typeof saved.date !== 'string')
    throw new Error(`${file} has no results of the bench. Write one with \`npm run bench -- --save FILE\`.`)
  return saved as Saved
}

/** One run whose rows were partly measured again: each row is a ratio within itself, so the last measurement of it counts. */
export function merged([first, ...later]: readonly [Saved, ...Saved[]]): Saved {
  const other = later.find(({ machine }) => machine !== first.machine)
  if (other) throw new Error(`The files are of two machines: ${first.machine}; ${other.machine}. Give those of one.`)
  const again = new Map(later.flatMap(({ results }) => results.filter(isMeasured)).map(result => [result.name, result]))
  const runs = [first, ...later]
  const date = runs
    .map(run => run.date)
    .sort()
    .at(-1)!
  const command = [...new Set(runs.map(run => run.command))].join('; ')
  return { ...first, date, command, results: first.results.map(result => again.get(result.name) ?? result) }
}

export function compare(before: Saved, now: readonly Result[]): Comparison {
  const earlier = new Map(before.results.map(result => [result.name, result]))
  const judged = now.map(result => ({ result, verdict: verdictOf(earlier.get(result.name), result) }))
  const lines = judged.map(({ result, verdict }) => {
    const old = earlier.get(result.name)
    return [result.name, figure(old), figure(result), change(old, result), verdict]
  })
  const machine = thisMachine()
  const other = before.machine === machine ? '' : `Measured on another machine: ${before.machine}\n`
  return {
    text: `Compared with ${before.date.slice(0, 10)}, ${before.command}\n${other}${columns([['work', 'before', 'now', 'change', 'verdict'], ...lines])}`,
    worse: judged.filter(({ verdict }) => verdict === 'WORSE').map(({ result }) => result.name),
  }
}

/** A change counts if the quartiles of both runs do not overlap: what is less than that is the noise of the machine. */
function verdictOf(old: Result | undefined, now: Result): string {
  if (!isMeasured(now)) return 'not measured'
  if (!old || !isMeasured(old)) return 'new'
  const [low, high] = [now.ratio / old.ratio < 1 - tolerance, now.ratio / old.ratio > 1 + tolerance]
  const rose = high && now.quartiles[0] > old.quartiles[1]
  const fell = low && now.quartiles[1] < old.quartiles[0]
  if (!rose && !fell) return 'same'
  return rose === 'atLeast' in now.goal ? 'better' : 'WORSE'
}

/** A row without a figure has none in JSON either: NaN is written as null. */
function isMeasured({ rounds, ratio }: Result): boolean {
  return rounds > 0 && Number.isFinite(ratio)
}

function figure(result: Result | undefined): string {
  return result && isMeasured(result) ? result.ratio.toFixed(2) : '-'
}

function change(old: Result | undefined, now: Result): string {
  if (!old || !isMeasured(old) || !isMeasured(now)) return '-'
  const percent = (now.ratio / old.ratio - 1) * 100
  return `${percent < 0 ? '' : '+'}${percent.toFixed(0)} %`
}
