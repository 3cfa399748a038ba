// The results as one table for people.

import type { Origin } from '../../docs/generate/measured.ts'
import type { Goal, Result } from './row.ts'

const headings = ['work', 'ratio', 'quartiles', 'goal', 'verdict', 'reference (= 1)']

export function table(results: readonly Result[]): string {
  return columns([headings, ...results.map(cells)])
}

/** What the figures are of, how many goals are met, and every row that has no figure. */
export function summary(results: readonly Result[], { machine, load }: Origin): string {
  const unmeasured = results.filter(result => result.unmeasured !== undefined)
  const missed = results.filter(({ met, goal }) => !met && !goal.informative)
  const lines = [
    `${machine}, load ${load?.toFixed(1)} when it began`,
    `${results.length} rows, ${missed.length} missed, ${unmeasured.length} not measured`,
    ...unmeasured.map(result => `not measured: ${result.name}: ${result.unmeasured}`),
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

function cells({ name, ratio, quartiles, goal, met, reference, unmeasured }: Result): string[] {
  if (unmeasured !== undefined)
    return [name, '-', '-', described(goal), met ? 'not measured' : 'MISSED, not measured', reference]
  const spread = quartiles.map(value => value.toFixed(2)).join('-')
  return [name, ratio.toFixed(2), spread, described(goal), verdict(goal, met), reference]
}

function described(goal: Goal): string {
  return 'atMost' in goal ? `at most ${goal.atMost}` : `at least ${goal.atLeast}`
}

/** In brackets when nothing depends on it. */
function verdict(goal: Goal, met: boolean): string {
  const word = met ? 'ok' : 'MISSED'
  return goal.informative ? `(${word.toLowerCase()})` : word
}
