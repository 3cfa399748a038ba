// The calls that were answered, by operation: how many with which status, and how long they took. Counted here, because asking a library
// for each call costs more than a tenth of a small one; the library only shows what the table holds.

interface Answered {
  readonly byStatus: Map<number, number>
  /** For each bound the calls that took no longer than it and longer than the one before. */
  readonly buckets: Float64Array
  /** Of those with a duration. */
  timed: number
  seconds: number
}

/** As much of a metric as a registry shows. */
export interface ShownMetric {
  readonly name: string
  get(): Promise<{ name: string; help: string; type: 'histogram'; values: ShownValue[]; aggregator: 'sum' }>
}

interface ShownValue {
  readonly metricName: string
  readonly labels: Readonly<Record<string, string | number>>
  readonly value: number
}

export class CallTable {
  readonly #bounds: readonly number[]
  /** Bounded: operations of the catalogue, times status codes. */
  readonly #operations = new Map<string, Answered>()

  /** Bounds of durations in seconds, ascending. */
  constructor(bounds: readonly number[]) {
    this.#bounds = bounds
  }

  /** `seconds` is undefined for a call whose duration says nothing. */
  count(operation: string, status: number, seconds: number | undefined): void {
    let answered = this.#operations.get(operation)
    if (!answered) {
      const buckets = new Float64Array(this.#bounds.length)
      answered = { byStatus: new Map(), buckets, timed: 0, seconds: 0 }
      this.#operations.set(operation, answered)
    }
    answered.byStatus.set(status, (answered.byStatus.get(status) ?? 0) + 1)
    if (seconds === undefined) return
    answered.timed++
    answered.seconds += seconds
    for (let i = 0; i < this.#bounds.length; i++)
      if (seconds <= this.#bounds[i]!) {
        answered.buckets[i]!++
        break
      }
  }

  *counts(): Generator<{ readonly operation: string; readonly status: string; readonly calls: number }> {
    for (const [operation, { byStatus }] of this.#operations)
      for (const [status, calls] of byStatus) yield { operation, status: String(status), calls }
  }

  /** The durations as a histogram, in the form of prom-client. */
  histogram(name: string, help: string): ShownMetric {
    return { name, get: async () => ({ name, help, type: 'histogram', values: this.#values(name), aggregator: 'sum' }) }
  }

  #values(name: string): ShownValue[] {
    const values: ShownValue[] = []
    for (const [operation, { buckets, timed, seconds }] of this.#operations) {
      if (timed === 0) continue
      let below = 0
      for (const [index, bound] of this.#bounds.entries()) {
        below += buckets[index]!
        values.push({ metricName: `${name}_bucket`, labels: { le: bound, operation }, value: below })
      }
      values.push({ metricName: `${name}_bucket`, labels: { le: '+Inf', operation }, value: timed })
      values.push({ metricName: `${name}_sum`, labels: { operation }, value: seconds })
      values.push({ metricName: `${name}_count`, labels: { operation }, value: timed })
    }
    return values
  }
}
