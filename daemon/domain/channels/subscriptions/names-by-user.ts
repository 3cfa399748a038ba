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
  get json(): Uint8Array {
    const only = this.#only()
    if (!only) return encoder.encode(JSON.stringify(Object.fromEntries(this.lists())))
    const [name] = this.#users.keys()
    return sameForAll(only, JSON.stringify([name]))
  }

  /** Those of the only channel, if it is one. */
  #only(): readonly number[] | undefined {
    const [users] = this.#users.values()
    return this.#users.size === 1 ? users : undefined
  }
}

/**
 * An object whose every key has the same value; one key at least. In bytes, because a string of this length is made of
 * very many parts; and in stretches of keys with as many digits, because only the digits differ within one.
 */
function sameForAll(keys: readonly number[], value: string): Uint8Array {
  const stretches: Uint8Array[] = []
  for (let begin = 0, end = 0; begin < keys.length; begin = end) {
    const digits = String(keys[begin]).length
    while (end < keys.length && String(keys[end]).length === digits) end++
    const entry = encoder.encode(`,"${'0'.repeat(digits)}":${value}`)
    const bytes = repeated(entry, end - begin)
    for (let i = begin; i < end; i++) writeDigits(bytes, (i - begin) * entry.length + 2, digits, keys[i]!)
    stretches.push(bytes)
  }
  stretches[0]![0] = openBrace
  return joined([...stretches, encoder.encode('}')])
}

/** In steps that double what is there: at most 31 of them. */
function repeated(entry: Uint8Array, times: number): Uint8Array {
  const bytes = new Uint8Array(entry.length * times)
  bytes.set(entry)
  for (let filled = entry.length; filled < bytes.length; filled *= 2) bytes.copyWithin(filled, 0, filled)
  return bytes
}

function joined(parts: readonly Uint8Array[]): Uint8Array {
  const bytes = new Uint8Array(parts.reduce((sum, { length }) => sum + length, 0))
  let at = 0
  for (const part of parts) {
    bytes.set(part, at)
    at += part.length
  }
  return bytes
}

/** Of an ID below two to the 31st. */
function writeDigits(bytes: Uint8Array, begin: number, digits: number, id: number): void {
  for (let at = begin + digits - 1, left = id; at >= begin; at--) {
    const tenth = (left / 10) | 0
    bytes[at] = zero + left - tenth * 10
    left = tenth
  }
}

const encoder = new TextEncoder()
const zero = 0x30
const openBrace = 0x7b
