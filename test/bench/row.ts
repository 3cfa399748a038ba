// A row of the bench: some work of ours, the same work of a reference, and the ratio it must keep.

export interface Sample {
  readonly ours: number
  readonly reference: number
}

export interface Row {
  readonly name: string
  /** What counts as 1. */
  readonly reference: string
  readonly goal: Goal
  /** Of the samples, for the JSON form. */
  readonly unit: string
  /** Why --quick leaves it out. */
  readonly fullOnly?: string
  /** One sample a round. Both sides are measured in every round, in changing order. */
  measure(effort: Effort): Promise<Sample[]>
}

/** What a row is held against is not on this machine: no goal is missed by that. */
export class NotInstalled extends Error {}

export type Goal = ({ readonly atMost: number } | { readonly atLeast: number }) & {
  /** Shown, but missing it fails nothing. */
  readonly informative?: true
}

export interface Effort {
  readonly quick: boolean
  /** The first figure, or the second when time is short. */
  rounds(full: number, quick: number): number
}

/** Measures both sides round by round; who goes first changes every time, so that neither profits from drift. */
export async function alternate<T>(
  rounds: number,
  ours: () => Promise<T>,
  reference: () => Promise<T>,
): Promise<{ ours: T; reference: T }[]> {
  const results: { ours: T; reference: T }[] = []
  for (let round = 0; round < rounds; round++) {
    if (round % 2 === 0) {
      const first = await reference()
      results.push({ reference: first, ours: await ours() })
    } else {
      const first = await ours()
      results.push({ ours: first, reference: await reference() })
    }
  }
  return results
}

/** For rows that read different figures off the same runs. */
export function once<T>(measure: (effort: Effort) => Promise<T>): (effort: Effort) => Promise<T> {
  let result: Promise<T> | undefined
  return effort => {
    result ??= measure(effort)
    return result
  }
}

export function quantile(values: readonly number[], q: number): number {
  const sorted = [...values].sort((a, b) => a - b)
  const at = (sorted.length - 1) * q
  const below = sorted[Math.floor(at)]!
  return below + (sorted[Math.ceil(at)]! - below) * (at - Math.floor(at))
}

export interface Result {
  readonly name: string
  readonly reference: string
  readonly goal: Goal
  readonly unit: string
  readonly rounds: number
  /** Median over the rounds of ours / reference, and its quartiles. */
  readonly ratio: number
  readonly quartiles: readonly [number, number]
  readonly medians: Sample
  readonly met: boolean
  /** How long the measurement took. */
  readonly seconds?: number
  /** Why there is no figure. */
  readonly unmeasured?: string
}

/** The ratio is taken within each round: what slows the machine for a while slows both sides of it. */
export function judge(row: Row, samples: readonly Sample[]): Result {
  const { name, reference, goal, unit } = row
  const ratios = samples.map(sample => sample.ours / sample.reference)
  const ratio = quantile(ratios, 0.5)
  return {
    name,
    reference,
    goal,
    unit,
    rounds: samples.length,
    ratio,
    quartiles: [quantile(ratios, 0.25), quantile(ratios, 0.75)],
    medians: {
      ours: quantile(
        samples.map(sample => sample.ours),
        0.5,
      ),
      reference: quantile(
        samples.map(sample => sample.reference),
        0.5,
      ),
    },
    met: 'atMost' in goal ? ratio <= goal.atMost : ratio >= goal.atLeast,
  }
}
