// Suggestions for a misspelled name.

/** At most three candidates, the closest first; none if nothing is close. */
export function nearest(word: string, candidates: Iterable<string>, most = 3): string[] {
  const wanted = word.toLowerCase()
  // Every other letter is close to a single letter.
  const limit = wanted.length < 2 ? 0 : Math.max(1, Math.floor(wanted.length / 3))
  const found: { name: string; distance: number }[] = []
  for (const name of candidates) {
    const other = name.toLowerCase()
    const near = wanted.length > 1 && other.length > 2 && (other.startsWith(wanted) || wanted.startsWith(other))
    const distance = near ? 0 : distanceBetween(wanted, other, limit)
    if (distance <= limit) found.push({ name, distance })
  }
  return found
    .sort((a, b) => a.distance - b.distance || a.name.localeCompare(b.name))
    .slice(0, most)
    .map(item => item.name)
}

export function didYouMean(word: string, candidates: Iterable<string>): string | undefined {
  return suggestion(nearest(word, candidates))
}

export function suggestion(names: readonly string[]): string | undefined {
  return names.length === 0 ? undefined : `Did you mean ${names.join(' or ')}?`
}

/** There is no such thing, and perhaps what was meant. */
export function unknownName(thing: string, name: string, known: Iterable<string>): string {
  return [`there is no ${thing} "${name}"`, didYouMean(name, known)].filter(Boolean).join('. ')
}

/** For callers without a type checker: a misspelled option would be ignored. */
export function refuseUnknown(where: string, options: object, known: readonly string[]): void {
  if (typeof options !== 'object')
    throw new TypeError(`${where}: options are an object, such as { ${known[0]}: ${JSON.stringify(options)} }`)
  for (const name of Object.keys(options))
    if (!known.includes(name)) {
      const hint = didYouMean(name, known) ?? `The options are ${known.join(', ')}.`
      throw new TypeError(`${where}: there is no option "${name}". ${hint}`)
    }
}

/** Edit distance, with a swap of neighbours counted as one; gives up past the limit. */
function distanceBetween(a: string, b: string, limit: number): number {
  if (Math.abs(a.length - b.length) > limit) return limit + 1
  let before: number[] = []
  let row = Array.from({ length: b.length + 1 }, (_, index) => index)
  for (let i = 1; i <= a.length; i++) {
    const next = [i]
    for (let j = 1; j <= b.length; j++) {
      const same = a[i - 1] === b[j - 1]
      let cost = Math.min(row[j]! + 1, next[j - 1]! + 1, row[j - 1]! + (same ? 0 : 1))
      if (i > 1 && j > 1 && a[i - 1] === b[j - 2] && a[i - 2] === b[j - 1]) cost = Math.min(cost, before[j - 2]! + 1)
      next.push(cost)
    }
    before = row
    row = next
  }
  return row[b.length]!
}
