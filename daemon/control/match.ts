// Whether something is what was waited for, and if not, in what it differs: so that a test that fails says why.

/**
 * How `actual` differs from `wanted`: every field of `wanted` must be there and match. Texts such as `/ok|done/i` are
 * patterns. Empty: it is what was wanted.
 */
export function differences(wanted: unknown, actual: unknown, at = ''): string[] {
  if (isRecord(wanted)) {
    if (!isRecord(actual)) return [difference(at, wanted, actual)]
    return Object.entries(wanted).flatMap(([name, value]) =>
      differences(value, Object.hasOwn(actual, name) ? actual[name] : undefined, at === '' ? name : `${at}.${name}`),
    )
  }
  if (Array.isArray(wanted)) {
    if (!Array.isArray(actual) || actual.length !== wanted.length) return [difference(at, wanted, actual)]
    return wanted.flatMap((value, index) => differences(value, actual[index], `${at}[${index}]`))
  }
  const pattern = typeof wanted === 'string' && typeof actual === 'string' ? patternOf(wanted) : undefined
  if (pattern ? pattern.test(actual as string) : wanted === actual) return []
  return [difference(at, wanted, actual)]
}

export interface NearMiss<T> {
  readonly item: T
  readonly differs: readonly string[]
}

/** How many near misses are listed. */
const most = 3

/** Those that came closest, the closest first; of equals the newest. */
export function nearMisses<T>(wanted: unknown, items: Iterable<T>): NearMiss<T>[] {
  const all = [...items].reverse().map(item => ({ item, differs: differences(wanted, item) }))
  return all.sort((a, b) => a.differs.length - b.differs.length).slice(0, most)
}

/** The first text that looks like a pattern and is none, reported before anyone waits for it. */
export function brokenPattern(wanted: unknown): string | undefined {
  if (typeof wanted === 'object' && wanted !== null)
    return Object.values(wanted)
      .map(brokenPattern)
      .find(found => found !== undefined)
  if (typeof wanted !== 'string') return undefined
  try {
    patternOf(wanted)
    return undefined
  } catch {
    return wanted
  }
}

function patternOf(text: string): RegExp | undefined {
  const [, source, flags] = /^\/(.+)\/([imsu]*)$/s.exec(text) ?? []
  return source === undefined ? undefined : new RegExp(source, flags)
}

function difference(at: string, wanted: unknown, actual: unknown): string {
  return `${at === '' ? 'it' : at}: wanted ${shown(wanted)}, was ${shown(actual)}`
}

function shown(value: unknown): string {
  const text = value === undefined ? 'absent' : JSON.stringify(value)
  return text.length > 200 ? `${text.slice(0, 200)}…` : text
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
