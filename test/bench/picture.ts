// A picture of the page docs/generated/performance.md: lines or bars of measured points. They are kept in
// performance.json, from which docs/generate draws them.

import type { MeasuredPicture, Point } from '../../docs/generate/measured.ts'
import { type Effort, NotInstalled, quantile } from './row.ts'

/** A picture, and how its points are measured. */
export interface Picture extends Omit<MeasuredPicture, 'points' | 'missing'> {
  measure(effort: Effort): Promise<Drawn>
}

export interface Drawn {
  readonly points: readonly Point[]
  /** What is not in it, and why. */
  readonly missing: readonly string[]
}

/** The median of some rounds at one place of a line, and its quartiles. */
export function pointOf(line: string, x: number | string, rounds: readonly number[]): Point {
  const at = (q: number) => rounded(quantile(rounds, q))
  return { line, x, y: at(0.5), low: at(0.25), high: at(0.75) }
}

/** Points of several lines; those of a program that is not installed are left out, and named. */
export async function gather(lines: readonly (() => Promise<readonly Point[]>)[]): Promise<Drawn> {
  const points: Point[] = []
  const missing: string[] = []
  for (const line of lines)
    try {
      points.push(...(await line()))
    } catch (error) {
      if (!(error instanceof NotInstalled)) throw error
      missing.push(error.message)
    }
  return { points, missing }
}

export async function repeat(rounds: number, measure: () => Promise<number>): Promise<number[]> {
  const found: number[] = []
  for (let round = 0; round < rounds; round++) found.push(await measure())
  return found
}

/** More digits say nothing, and would change with every run. */
function rounded(value: number): number {
  return Number(value.toPrecision(3))
}
