// What `npm run bench -- --page` records, and performance.md is made from.

export interface Point {
  readonly line: string
  readonly x: number | string
  /** The median, and the quartiles. */
  readonly y: number
  readonly low: number
  readonly high: number
}

export interface Axis {
  readonly title: string
  readonly scale?: 'log'
  /** Of values that are no numbers. */
  readonly order?: readonly string[]
}

export interface MeasuredPicture {
  readonly name: string
  readonly title: string
  readonly about: string
  readonly kind: 'lines' | 'bars'
  readonly x: Axis
  readonly y: Axis
  readonly points: readonly Point[]
  /** What is not in it, and why. */
  readonly missing: readonly string[]
}

/** Where figures come from. */
export interface Origin {
  readonly date: string
  readonly machine: string
  /** Processes that wanted to run when it began. */
  readonly load?: number
  readonly command: string
}

export interface PerformanceRecord extends Origin {
  readonly pictures: readonly MeasuredPicture[]
  /** A saved run of the bench, if one was given. */
  readonly rows: (Origin & { readonly results: readonly RowResult[] }) | null
}

export interface RowResult {
  readonly name: string
  readonly reference: string
  readonly ratio: number | null
  readonly medians?: { readonly ours: number; readonly reference: number }
  readonly goal: object
  readonly met: boolean
  readonly unmeasured?: string
}
