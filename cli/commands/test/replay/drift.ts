// Finds where two servers differ: by endpoint and event, which fields are absent, of another type or of another value. IDs, times, random texts
// and the order of lists do not count.

import { mayDiffer, shown } from './compare.ts'
import type { Event, Judge } from './play-all.ts'
import type { Played } from './player.ts'
import type { RecordedCall } from './recording.ts'

type DriftKind = 'presence' | 'type' | 'value'

/** One field that differs, wherever it does. */
export interface Difference {
  /** The ID of an endpoint, or `event` with its type and op. */
  readonly where: string
  /** `members[].role`. */
  readonly field: string
  readonly kind: DriftKind
  /** The first pair of values. */
  readonly recorded: string
  readonly found: string
  /** The first call, and how many times it differs in all. */
  readonly call: number
  count: number
}

type Fields = Readonly<Record<string, unknown>>

export class Drift implements Judge {
  readonly #differences = new Map<string, Difference>()

  /** By place, then by field. */
  get differences(): Difference[] {
    const keyOf = ({ where, field }: Difference) => `${where} ${field}`
    return [...this.#differences.values()].sort((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))
  }

  answer(call: RecordedCall, { status, answer }: Played): void {
    const where = call.endpoint ?? call.path
    if (status !== call.status) this.#add(call, where, 'status', 'value', call.status, status)
    // An answer that was too long to keep cannot be compared.
    else if (call.answer !== null) this.#compare(call, where, '', call.answer, answer)
  }

  events(call: RecordedCall, recorded: readonly Event[], found: readonly Event[]): void {
    const left = groupBy(found, nameOf)
    for (const event of recorded) {
      const name = nameOf(event)
      const other = left.get(name)?.shift()
      if (other) this.#compare(call, `event ${name}`, '', event, other)
      else this.#add(call, `event ${name}`, '', 'presence', event, undefined)
    }
    for (const [name, [event]] of left) if (event) this.#add(call, `event ${name}`, '', 'presence', undefined, event)
  }

  noEvents(call: RecordedCall, problem: string): void {
    this.#add(call, call.endpoint ?? call.path, 'events', 'presence', 'events', problem)
  }

  #compare(call: RecordedCall, where: string, at: string, recorded: unknown, found: unknown): void {
    if (recorded === found) return
    const kind = typeOf(recorded)
    if (recorded === undefined || found === undefined) this.#add(call, where, at, 'presence', recorded, found)
    else if (kind !== typeOf(found)) this.#add(call, where, at, 'type', recorded, found)
    else if (kind === 'list') this.#compareLists(call, where, at, recorded as unknown[], found as unknown[])
    else if (kind === 'object') this.#compareObjects(call, where, at, recorded as Fields, found as Fields)
    else if (!mayDiffer(recorded, found, at)) this.#add(call, where, at, 'value', recorded, found)
  }

  #compareObjects(call: RecordedCall, where: string, at: string, recorded: Fields, found: Fields): void {
    if (isKeyedById(recorded) && isKeyedById(found)) {
      this.#compareLists(call, where, at, Object.values(recorded), Object.values(found))
      return
    }
    for (const name of new Set([...Object.keys(recorded), ...Object.keys(found)]))
      this.#compare(call, where, at === '' ? name : `${at}.${name}`, recorded[name], found[name])
  }

  /** Items with the same label belong together, then those that are left, in their order. */
  #compareLists(
    call: RecordedCall,
    where: string,
    at: string,
    recorded: readonly unknown[],
    found: readonly unknown[],
  ): void {
    const byLabel = groupBy(found, describeItem)
    const alone = recorded.filter(item => {
      const others = byLabel.get(describeItem(item))
      if (!others || others.length === 0) return true
      this.#compare(call, where, `${at}[]`, item, others.shift())
      return false
    })
    const left = [...byLabel.values()].flat()
    for (let i = 0; i < Math.max(alone.length, left.length); i++)
      this.#compare(call, where, `${at}[]`, alone[i], left[i])
  }

  #add(call: RecordedCall, where: string, field: string, kind: DriftKind, recorded: unknown, found: unknown): void {
    const key = keyOf({ where, field, kind })
    const known = this.#differences.get(key)
    if (known) known.count++
    else
      this.#differences.set(key, {
        where,
        field,
        kind,
        recorded: shown(recorded),
        found: shown(found),
        call: call.call,
        count: 1,
      })
  }
}

function groupBy<T>(items: readonly T[], keyFor: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>()
  for (const item of items) {
    const group = groups.get(keyFor(item))
    if (group) group.push(item)
    else groups.set(keyFor(item), [item])
  }
  return groups
}

/** The key by which two differences are the same. */
export function keyOf({ where, field, kind }: Pick<Difference, 'where' | 'field' | 'kind'>): string {
  return `${where}\n${field}\n${kind}`
}

function nameOf({ type, op }: Event): string {
  return op === undefined ? type : `${type}/${op}`
}

function typeOf(value: unknown): string {
  return Array.isArray(value) ? 'list' : value === null ? 'null' : typeof value
}

function isKeyedById(value: Fields): boolean {
  const keys = Object.keys(value)
  return keys.length > 0 && keys.every(key => /^\d+$/.test(key))
}

const labels = ['email', 'name', 'full_name', 'emoji_name', 'title', 'key', 'property', 'content', 'type']

function describeItem(item: unknown): string {
  if (typeof item !== 'object' || item === null) return JSON.stringify(item) ?? ''
  const label = labels.find(name => typeof (item as Fields)[name] === 'string')
  return label === undefined ? '' : `${label} ${(item as Fields)[label]}`
}
