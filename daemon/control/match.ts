// Compares an item with the pattern of a wait, and says in what it differs: a failing test then says why.

import { compilePattern, type Pattern, patternIn } from '../api/pattern.ts'
import { invalid } from '../domain/refusal.ts'
import { mostPatternSize, Slices } from './recent.ts'

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

/** Of what is wanted. A message of the largest size has a third. */
const mostCharacters = 64 * 1024
/** Fields and items of what is wanted, each of which is compared with every new entry of a log. */
const mostFields = 500
/** Fields that are compared to find near misses, of the newest items. */
const mostCompared = 20_000

interface Difference {
  readonly at: string
  readonly wanted: unknown
  readonly actual: unknown
  /** Of an absent field: those that are there. */
  readonly others?: readonly string[]
}

/** An object whose fields must be there and match. Texts such as `/ok|done/i` are patterns. */
export class Goal {
  /** Instructions of its patterns. One that several fields have counts for each: it is tried on all of them. */
  size = 0
  /** Of what is wanted as JSON. */
  readonly characters: number
  readonly #wanted: unknown
  readonly #patterns = new Map<string, Pattern>()
  #steps = 0
  #fields = 0

  /** Refuses an invalid pattern before a wait begins. */
  constructor(wanted: unknown, parameter: string) {
    this.characters = JSON.stringify(wanted).length
    if (this.characters > mostCharacters)
      throw invalid(parameter, `must be at most ${mostCharacters} characters of JSON; use a pattern for a long text`)
    this.#wanted = wanted
    this.#compile(wanted, parameter)
    if (this.#fields > mostFields) throw invalid(parameter, `must have at most ${mostFields} fields and items`)
    if (this.size > mostPatternSize)
      throw invalid(parameter, 'its patterns are too long together; use fewer or shorter ones')
  }

  /** Whether its patterns have been tried on more than a test needs. */
  get isTooCostly(): boolean {
    return this.#steps > mostSteps
  }

  isMetBy(actual: unknown): boolean {
    return this.#compare(this.#wanted, actual, '').next().done === true
  }

  /** Those that came closest, the closest first; of equals the newest. Others get their turn meanwhile. */
  async nearMisses<T>(items: readonly T[]): Promise<NearMiss<T>[]> {
    const all: { readonly item: T; readonly differs: readonly Difference[] }[] = []
    const slices = new Slices()
    const newest = items.slice(-Math.ceil(mostCompared / this.#fields)).toReversed()
    for (const item of newest) {
      if (this.isTooCostly) break
      await slices.take()
      all.push({ item, differs: [...this.#compare(this.#wanted, item, '')] })
    }
    const closest = all.sort((a, b) => a.differs.length - b.differs.length).slice(0, most)
    return closest.map(({ item, differs }) => ({ item, differs: differs.map(describe) }))
  }

  *#compare(wanted: unknown, actual: unknown, at: string): Generator<Difference> {
    if (isRecord(wanted) && isRecord(actual)) {
      for (const [name, value] of Object.entries(wanted)) {
        const place = at === '' ? name : `${at}.${name}`
        if (Object.hasOwn(actual, name)) yield* this.#compare(value, actual[name], place)
        else if (value !== undefined) yield { at: place, wanted: value, actual: undefined, others: Object.keys(actual) }
      }
    } else if (Array.isArray(wanted) && Array.isArray(actual) && actual.length === wanted.length) {
      for (const [index, value] of wanted.entries()) yield* this.#compare(value, actual[index], `${at}[${index}]`)
    } else if (!this.#isMet(wanted, actual)) yield { at, wanted, actual }
  }

  #isMet(wanted: unknown, actual: unknown): boolean {
    const pattern = typeof wanted === 'string' && typeof actual === 'string' ? this.#patterns.get(wanted) : undefined
    if (!pattern) return wanted === actual
    this.#steps += pattern.size * (actual as string).length
    return pattern.test(actual as string)
  }

  #compile(wanted: unknown, parameter: string): void {
    this.#fields++
    if (typeof wanted === 'object' && wanted !== null)
      for (const value of Object.values(wanted)) this.#compile(value, parameter)
    const found = typeof wanted === 'string' ? patternIn(wanted) : undefined
    if (!found) return
    const pattern = compilePattern(found.source, found.flags)
    if ('problem' in pattern) throw invalid(parameter, `${cut(wanted as string)} ${pattern.problem}`)
    this.#patterns.set(wanted as string, pattern)
    this.size += pattern.size
  }
}

function describe({ at, wanted, actual, others = [] }: Difference): string {
  const beside = others.length > 0 ? ` beside ${cut(others.join(', '))}` : ''
  return `${at === '' ? 'it' : at}: wanted ${shown(wanted)}, was ${shown(actual)}${beside}`
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
