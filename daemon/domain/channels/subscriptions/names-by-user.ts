// Channels' names by user, as replies to subscribing list them.

export class NamesByUser {
  readonly #names = new Map<number, string[]>()

  /** Each channel once. */
  add(name: string, userIds: readonly number[]): void {
    for (const userId of userIds) {
      const names = this.#names.get(userId)
      if (names) names.push(name)
      else this.#names.set(userId, [name])
    }
  }

  /** How many people there are. */
  get size(): number {
    return this.#names.size
  }

  /** The names in the order they came. */
  lists(): Record<string, string[]> {
    return Object.fromEntries(this.#names)
  }
}
