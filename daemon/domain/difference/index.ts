// The difference between two states: added, changed and removed, by resource, in the words of the API.

import type { State } from '../model/state.ts'
import { type Fields, type Subject, subjects } from './subjects.ts'

export interface Difference {
  /** How many things differ; more than are listed if there are more than the limit. */
  readonly total: number
  readonly resources: Readonly<Record<string, ResourceDifference>>
}

interface ResourceDifference {
  readonly added: Thing[]
  readonly changed: ChangedThing[]
  readonly removed: Thing[]
}

export interface Thing {
  readonly id: number | string
  readonly name: string
  readonly fields: Fields
}

interface ChangedThing {
  readonly id: number | string
  readonly name: string
  readonly changes: Readonly<Record<string, { readonly from: unknown; readonly to: unknown }>>
}

/**
 * Lists at most `limit` things, in the order of the resources. Goes over everything that both states hold, and yields every now
 * and then, so that the caller can let others have their turn.
 */
export function* compareStates(from: State, to: State, limit: number): Generator<void, Difference> {
  const resources: Record<string, ResourceDifference> = {}
  let total = 0
  for (const [resource, subject] of Object.entries(subjects)) {
    const found: ResourceDifference = { added: [], changed: [], removed: [] }
    for (const put of findDifferences(subject, from, to)) {
      if (!put) yield
      else if (++total <= limit) put(found)
    }
    if (found.added.length + found.changed.length + found.removed.length > 0) resources[resource] = found
  }
  return { total, resources }
}

/** Presented only if it is listed. */
type Put = (found: ResourceDifference) => void

/** Rows between two pauses. */
const slice = 500

function* findDifferences(subject: Subject, from: State, to: State): Generator<Put | undefined> {
  const before = new Map(subject.rows(from))
  let seen = 0
  for (const [id, row] of subject.rows(to)) {
    const old = before.get(id)
    if (old === undefined) yield ({ added }) => added.push(thing(subject, to, id, row))
    else if (!isSame(old, row)) {
      const changes = findChanges(subject.fields(from, old), subject.fields(to, row))
      if (Object.keys(changes).length > 0)
        yield ({ changed }) => changed.push({ id, name: subject.name(to, row), changes })
    }
    before.delete(id)
    if (++seen % slice === 0) yield undefined
  }
  for (const [id, row] of before) yield ({ removed }) => removed.push(thing(subject, from, id, row))
}

function thing(subject: Subject, state: State, id: number | string, row: object): Thing {
  return { id, name: subject.name(state, row), fields: subject.fields(state, row) }
}

function findChanges(from: Fields, to: Fields): ChangedThing['changes'] {
  const changes: Record<string, { from: unknown; to: unknown }> = {}
  for (const name of new Set([...Object.keys(from), ...Object.keys(to)]))
    if (!isSame(from[name], to[name])) changes[name] = { from: from[name] ?? null, to: to[name] ?? null }
  return changes
}

/** By content; the order of fields does not matter, that of lists does. Bounded by the depth of rows. */
function isSame(a: unknown, b: unknown): boolean {
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  const [first, second] = [Object.entries(a), b as Record<string, unknown>]
  if (Array.isArray(a) !== Array.isArray(b) || first.length !== Object.keys(second).length) return false
  return first.every(([name, value]) => Object.hasOwn(second, name) && isSame(value, second[name]))
}
