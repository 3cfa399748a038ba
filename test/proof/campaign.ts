// A campaign: a long search for a defect that a test of fixed cases would not find. It is repeatable by its seed.

export interface Campaign {
  readonly about: string
  /** What is counted: requests, calls, kills. */
  readonly unit: string
  /** How many in the long form. */
  readonly long: number
  /** How many with every run of the tests. */
  readonly short: number
  /** Why it cannot run on this machine. */
  readonly unavailable?: string | undefined
  /** Runs until the count or the deadline is reached. Throws a `Failure` when it finds something. */
  run(options: RunOptions): Promise<Result>
}

export interface RunOptions {
  readonly count: number
  readonly seed: number
  /** By `performance.now()`. */
  readonly deadline?: number
  readonly note?: (text: string) => void
  /** Called with the number done so far. */
  readonly progress?: (done: number) => void
}

export interface Result {
  readonly done: number
  /** What was seen on the way, for people. */
  readonly summary: string
  /** What was left out on this machine, and why. */
  readonly skipped?: readonly string[]
}

/** Found something. The seed brings it back, with this count. */
export class Failure extends Error {
  readonly seed: number
  readonly count: number
  constructor(seed: number, message: string, count = 1) {
    super(message)
    this.seed = seed
    this.count = count
  }
}

/** For campaigns whose checks are assertions: what goes wrong in `work` is a failure that this seed and count bring back. */
export async function blaming<T>(seed: number, count: number, work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    throw new Failure(seed, (error as Error).stack ?? String(error), count)
  }
}

/** The same numbers for the same seed. */
export function dice(seed: number): () => number {
  let state = seed >>> 0
  return () => {
    state = (state + 0x6d2b79f5) >>> 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296
  }
}

export function randomSeed(): number {
  return Number(process.env.NATTER_SEED ?? Math.floor(Math.random() * 2 ** 31))
}
