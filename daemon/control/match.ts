// Compares an item with the pattern of a wait, and says in what it differs: a failing test then says why.

import { compilePattern, type Pattern, patternIn } from '../api/pattern.ts'
import { invalid } from '../domain/refusal.ts'
import { mostPatternSize } from './recent.ts'

interface NearMiss<T> {
  readonly item: T
  readonly differs: readonly string[]
}

/** How many near misses are listed. */
const most = 3

/**
 * Steps of all patterns, over all entries of a log that they are tried on when a wait begins or ends. A step is one instruction on one
 * character, some 20 ns: what takes a second is refused.
 */
const mostSteps = 50_000_000

/** An object whose fields must be there and match. Texts such as `/ok|done/i` are patterns. */
export class Goal {
  /** Instructions of all its patterns. */
  readonly size: number
  readonly #wanted: unknown
  readonly #patterns = new Map<string, Pattern>()
  #steps = 0

  /** Refuses an invalid pattern before a wait begins. */
  constructor(wanted: unknown, parameter: string) {
    this.#wanted = wanted
    this.#compile(wanted, parameter)
    this.size = [...this.#patterns.values()].reduce((sum, { size }) => sum + size, 0)
    if (this.size > mostPatternSize)
      throw invalid(parameter, 'its patterns are too long together; use fewer or shorter ones')
  }

  /** Whether its patterns have been tried on more than a test needs. */
  get isTooCostly(): boolean {
    return this.#steps > mostSteps
  }

  /** How it differs. Empty: it is what was wanted. */
  differences(actual: unknown): string[] {
    return this.#compare(this.#wanted, actual, '')
  }

  /** Those that came closest, the closest first; of equals the newest. */
  nearMisses<T>(items: readonly T[]): NearMiss<T>[] {
    const all: NearMiss<T>[] = []
    for (const item of items.toReversed()) {
      if (this.isTooCostly) break
      all.push({ item, differs: this.differences(item) })
    }
    return all.sort((a, b) => a.differs.length - b.differs.length).slice(0, most)
  }

  #compare(wanted: unknown, actual: unknown, at: string): string[] {
    if (isRecord(wanted)) {
      if (!isRecord(actual)) return [difference(at, wanted, actual)]
      return Object.entries(wanted).flatMap(([name, value]) =>
        this.#compare(
          value,
          Object.hasOwn(actual, name) ? actual[name] : undefined,
          at === '' ? name : `${at}.${name}`,
        ),
      )
    }
    if (Array.isArray(wanted)) {
      if (!Array.isArray(actual) || actual.length !== wanted.length) return [difference(at, wanted, actual)]
      return wanted.flatMap((value, index) => this.#compare(value, actual[index], `${at}[${index}]`))
    }
    return this.#isMet(wanted, actual) ? [] : [difference(at, wanted, actual)]
  }

  #isMet(wanted: unknown, actual: unknown): boolean {
    const pattern = typeof wanted === 'string' && typeof actual === 'string' ? this.#patterns.get(wanted) : undefined
    if (!pattern) return wanted === actual
    this.#steps += pattern.size * (actual as string).length
    return pattern.test(actual as string)
  }

  #compile(wanted: unknown, parameter: string): void {
    if (typeof wanted === 'object' && wanted !== null)
      for (const value of Object.values(wanted)) this.#compile(value, parameter)
    const found = typeof wanted === 'string' ? patternIn(wanted) : undefined
    if (!found) return
    const pattern = compilePattern(found.source, found.flags)
    if ('problem' in pattern) throw invalid(parameter, `${cut(wanted as string)} ${pattern.problem}`)
    this.#patterns.set(wanted as string, pattern)
  }
}

function difference(at: string, wanted: unknown, actual: unknown): string {
  return `${at === '' ? 'it' : at}: wanted ${shown(wanted)}, was ${shown(actual)}`
}

function shown(value: unknown): string {
  return value === undefined ? 'absent' : cut(JSON.stringify(value))
}

function cut(text: string): string {
  return text.length > 200 ? `${text.slice(0, 200)}…` : text
}

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}
