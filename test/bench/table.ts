// The results as one table for people.

import type { Origin } from '../../docs/generate/measured.ts'
import type { Goal, Result, Row } from './row.ts'

const headings = ['work', 'ratio', 'quartiles', 'goal', 'verdict', 'time', 'reference (= 1)']

export function table(results: readonly Result[]): string {
  return columns([headings, ...results.map(cells)])
}

/** What the figures are of, how many goals are met, how long it took, and every row that has no figure. */
export function summary(results: readonly Result[], leftOut: readonly Row[], { machine, load }: Origin): string {
  const unmeasured = results.filter(result => result.unmeasured !== undefined)
  const missed = results.filter(({ met, goal }) => !met && !goal.informative)
  const seconds = results.reduce((sum, result) => sum + (result.seconds ?? 0), 0)
  const lines = [
    `${machine}, load ${load?.toFixed(1)} when it began`,
    `${results.length} rows, ${missed.length} missed, ${unmeasured.length} not measured, in ${(seconds / 60).toFixed(1)} minutes`,
    ...unmeasured.map(result => `not measured: ${result.name}: ${result.unmeasured}`),
    ...(leftOut.length > 0 ? ['a quick run is rough: few rounds, and stores of at most 100,000 messages'] : []),
    ...leftOut.map(row => `only in the full run: ${row.name}: ${row.fullOnly}`),
  ]
  return `${lines.join('\n')}\n`
}

/** The first line has the headings. */
export function columns(lines: readonly (readonly string[])[]): string {
  const widths = lines[0]!.map((_heading, column) => Math.max(...lines.map(line => line[column]!.length)))
  return lines
    .map(
      line =>
        `${line
          .map((cell, column) => cell.padEnd(widths[column]!))
          .join('  ')
          .trimEnd()}\n`,
    )
    .join('')
}

function cells({ name, ratio, quartiles, goal, met, seconds = 0, reference, unmeasured }: Result): string[] {
  const time = `${seconds.toFixed(0)} s`
  if (unmeasured !== undefined)
    return [name, '-', '-', described(goal), met ? 'not measured' : 'MISSED, not measured', time, reference]
  const spread = quartiles.map(value => value.toFixed(2)).join('-')
  return [name, ratio.toFixed(2), spread, described(goal), verdict(goal, met), time, reference]
}

function described(goal: Goal): string {
  return 'atMost' in goal ? `at most ${goal.atMost}` : `at least ${goal.atLeast}`
}

/** In brackets when nothing depends on it. */
function verdict(goal: Goal, met: boolean): string {
  const word = met ? 'ok' : 'MISSED'
  return goal.informative ? `(${word.toLowerCase()})` : word
}
