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
  get json(): Buffer {
    const only = this.#only()
    if (!only) return Buffer.from(JSON.stringify(Object.fromEntries(this.lists())))
    const [name] = this.#users.keys()
    return sameForAll(only, Buffer.from(`":${JSON.stringify([name])}`))
  }

  /** Those of the only channel, if it is one. */
  #only(): readonly number[] | undefined {
    const [users] = this.#users.values()
    return this.#users.size === 1 ? users : undefined
  }
}

/** An object whose every key has the same value; one key at least. In bytes: strings of this length are made of very many parts. */
function sameForAll(keys: readonly number[], value: Buffer): Buffer {
  const longest = String(Number.MAX_SAFE_INTEGER).length
  const bytes = Buffer.allocUnsafe(keys.length * (longest + value.length + 2) + 2)
  let at = 0
  for (const key of keys) {
    bytes[at++] = comma
    bytes[at++] = quote
    at = writeNumber(bytes, at, key)
    for (let i = 0; i < value.length; i++) bytes[at++] = value[i]!
  }
  bytes[0] = openBrace
  bytes[at++] = closeBrace
  return bytes.subarray(0, at)
}

/** Returns where it ends. */
function writeNumber(bytes: Buffer, begin: number, number: number): number {
  let end = begin + 1
  for (let power = 10; power <= number; power *= 10) end++
  for (let at = end - 1, left = number; at >= begin; at--) {
    const tenth = Math.floor(left / 10)
    bytes[at] = zero + left - tenth * 10
    left = tenth
  }
  return end
}

const quote = 0x22
const comma = 0x2c
const zero = 0x30
const openBrace = 0x7b
const closeBrace = 0x7d
