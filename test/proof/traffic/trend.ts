// Whether a figure stays level: a line through its samples, which says how much it grows.

import assert from 'node:assert/strict'

/** When, and how much. */
export type Sample = readonly [minutes: number, value: number]

export interface Bound {
  /** As a part of the value that the line begins with. */
  readonly part: number
  /** Growth up to this is not looked at, however small the value is. */
  readonly least: number
}

/** Fewer say nothing about a line. */
export const fewestSamples = 8
/** The first part of a run is left out: caches fill, code is compiled. */
const warmUp = 0.2

export interface Trend {
  readonly begin: number
  readonly end: number
}

/** The line through the samples after the warm-up; undefined when there are too few. */
export function trendOf(all: readonly Sample[]): Trend | undefined {
  const samples = all.slice(Math.floor(all.length * warmUp))
  if (samples.length < fewestSamples) return undefined
  // The median of all slopes between two samples: one that lies far off, such as a pause of the machine, does not turn the line.
  const slopes = samples.flatMap(([x, y], index) =>
    samples.slice(index + 1).flatMap(([later, value]) => (later > x ? [(value - y) / (later - x)] : [])),
  )
  const slope = median(slopes)
  const foot = median(samples.map(([x, y]) => y - slope * x))
  return { begin: foot + slope * samples[0]![0], end: foot + slope * samples.at(-1)![0] }
}

/** A figure, and how much it may grow. */
export interface Level<Figure extends string> extends Bound {
  readonly figure: Figure
  readonly what: string
  readonly unit: string
}

/** Throws when the line of a figure rises by more than its bound. Returns the lines, for people. */
export function assertLevel<Figure extends string>(
  levels: readonly Level<Figure>[],
  samples: (figure: Figure) => readonly Sample[],
): string {
  const found: string[] = []
  for (const { figure, what, unit, part, least } of levels) {
    const trend = trendOf(samples(figure))
    if (!trend) return 'too short to see whether anything grows'
    const { begin, end } = trend
    const allowed = Math.max(begin * part, least)
    const line = `${what} ${shown(begin)} to ${shown(end)}${unit}`
    assert.ok(
      end - begin <= allowed,
      `${line}: grows by more than ${shown(allowed)}${unit}\n${series(samples(figure))}`,
    )
    found.push(line)
  }
  return found.join('; ')
}

function series(samples: readonly Sample[]): string {
  return samples.map(([x, y]) => `${x.toFixed(1)} min: ${shown(y)}`).join(', ')
}

function median(values: readonly number[]): number {
  const sorted = Float64Array.from(values).sort()
  const middle = Math.floor(sorted.length / 2)
  return sorted.length % 2 === 1 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2
}

function shown(value: number): string {
  return value.toFixed(value < 10 ? 2 : value < 100 ? 1 : 0)
}
