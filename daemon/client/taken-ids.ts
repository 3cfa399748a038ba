// IDs that were taken, each once. They ascend as a rule, but a server may send one again, or one after a greater one.

/** Gaps between taken IDs that are remembered, at least. What is older counts as taken. */
const enoughGaps = 100

export class TakenIds {
  #last: number
  /** IDs below the last one that have not come: the first of them, and the one after them. In ascending order. */
  readonly #gaps: (readonly [number, number])[] = []

  /** Those up to `last` count as taken. */
  constructor(last: number) {
    this.#last = last
  }

  /** The greatest. */
  get last(): number {
    return this.#last
  }

  /** Whether it is taken for the first time. */
  take(id: number): boolean {
    if (id <= this.#last) return this.#takeFromGap(id)
    if (id > this.#last + 1) {
      this.#gaps.push([this.#last + 1, id])
      this.#forget()
    }
    this.#last = id
    return true
  }

  /** Those between the last one and this one will not come. */
  skipTo(id: number): void {
    this.#last = Math.max(this.#last, id)
  }

  #takeFromGap(id: number): boolean {
    const at = this.#gaps.findLastIndex(([from]) => from <= id)
    const [from, end] = this.#gaps[at] ?? [id, id]
    if (id >= end) return false
    const rest = [[from, id] as const, [id + 1, end] as const].filter(([first, after]) => first < after)
    this.#gaps.splice(at, 1, ...rest)
    this.#forget()
    return true
  }

  /** Many at once: each time moves all others. */
  #forget(): void {
    if (this.#gaps.length >= 2 * enoughGaps) this.#gaps.splice(0, enoughGaps)
  }
}
