// Channels' names by user, as replies to subscribing list them. Usually it is one channel and many people: then there is a
// list of people for each channel and no list of channels for each of ten thousand people.

export class NamesByUser {
  readonly #users = new Map<string, readonly number[]>()

  /** Each channel once. */
  add(name: string, userIds: readonly number[]): void {
    if (userIds.length > 0) this.#users.set(name, userIds)
  }

  /** How many people there are. */
  get size(): number {
    return this.#only()?.length ?? this.lists().size
  }

  /** Every user once; the names in the order they came. */
  lists(): Map<number, string[]> {
    const lists = new Map<number, string[]>()
    for (const [name, userIds] of this.#users)
      for (const userId of userIds) {
        const names = lists.get(userId)
        if (names) names.push(name)
        else lists.set(userId, [name])
      }
    return lists
  }

  /** The lists as JSON. */
  get text(): string {
    const only = this.#only()
    if (!only) return JSON.stringify(Object.fromEntries(this.lists()))
    const [name] = this.#users.keys()
    const names = JSON.stringify([name])
    // Several times as fast as `join`, which makes a string of each number first.
    let text = `"${only[0]}":${names}`
    for (let i = 1; i < only.length; i++) text += `,"${only[i]}":${names}`
    return `{${text}}`
  }

  /** Those of the only channel, if it is one. */
  #only(): readonly number[] | undefined {
    const [users] = this.#users.values()
    return this.#users.size === 1 ? users : undefined
  }
}
