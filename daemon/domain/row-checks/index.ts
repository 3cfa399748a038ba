// Checks rows that come from a file before anything uses them. A checksum shows that a file is as it was written, not who
// wrote it.

import { problemInRow } from '../../api/checking.ts'
import type { TSchema } from '../../api/define.ts'
import { State, type User } from '../model/state.ts'
import { isOwner } from '../rules/index.ts'
import { checkReferences } from './references.ts'
import { RowsRefused } from './refused.ts'
import { checkPosition, checkRoom } from './room.ts'
import { type SectionRows, sectionRows } from './sections.ts'
import { checkSent } from './sent.ts'

export { RowsRefused } from './refused.ts'

type Sections = Readonly<Record<string, Iterable<unknown>>>
type FileOf = (name: string) => Uint8Array

interface QueueRow {
  /** With the number of the text as the third part, or with the text. */
  readonly pending: readonly (readonly number[] | object)[]
}

/** Row by row, in the order of the file, as far as a row can be judged without the others. */
export class RowChecks {
  readonly #seen = new Map<string, { count: number; hasHead: boolean; readonly keys: Set<number | string> }>()
  #hasOwner = false
  /** Texts of events so far, which queues refer to by their number. */
  #texts = 0

  /** A section can come in parts, and each begins with its head. */
  beginPart(section: string): void {
    const seen = this.#seen.get(section)
    if (seen) seen.hasHead = false
  }

  /** Throws RowsRefused. */
  check(section: string, row: unknown): void {
    if (!Object.hasOwn(sectionRows, section))
      throw new RowsRefused(`${JSON.stringify(section.slice(0, 100))} is not a section of rows`)
    const { head, key, problem, ...forms } = sectionRows[section as keyof typeof sectionRows] as SectionRows
    const seen = this.#seen.get(section) ?? { count: 0, hasHead: false, keys: new Set() }
    this.#seen.set(section, seen)
    const isHead = head !== undefined && !seen.hasHead
    seen.hasHead = true
    const place = `${section}, row ${++seen.count}`
    const refused = (why: string) => new RowsRefused(`${place}: ${why}`, [section, seen.count - 1])
    const misfit = problemInRow('', isHead ? head : formOf(forms, row), row)
    // A field comes first, as a place in the row.
    if (misfit !== undefined) throw refused(misfit.replace(/^\["([^"]*)"\]|^: /, '$1'))
    if (isHead) return
    const wrong = problem?.(row) ?? doubledIds(row as object)
    if (wrong !== undefined) throw refused(wrong)
    if (section === 'queues') this.#checkTexts(row as string | QueueRow, refused)
    if (section === 'users' && (row as User).active && isOwner(row as User)) this.#hasOwner = true
    if (!key) return
    const known = key(row)
    if (seen.keys.has(known)) throw refused(`there is an earlier row for the same thing (${known})`)
    seen.keys.add(known)
  }

  #checkTexts(row: string | QueueRow, refused: (why: string) => RowsRefused): void {
    if (typeof row === 'string') this.#texts++
    else
      for (const event of row.pending)
        if (Array.isArray(event) && event[2] >= this.#texts)
          throw refused(`pending: there is no text ${event[2]} before it`)
  }

  /** When all rows were seen. */
  finish(): void {
    if (!this.#hasOwner) throw new RowsRefused('users: there is no active owner')
    if (!this.#seen.has('organization')) throw new RowsRefused('organization: the row is missing')
  }
}

/** Each ID is in a list of them once. */
function doubledIds(row: object): string | undefined {
  for (const [name, value] of Object.entries(row))
    if (Array.isArray(value) && listsOfIds.test(name) && new Set(value).size < value.length)
      return `${name}: has an ID twice`
  return undefined
}

const listsOfIds = /Ids$|^members$|^subgroups$/

function formOf({ row: usual, other }: Pick<SectionRows, 'row' | 'other'>, row: unknown): TSchema {
  return other && Object.hasOwn(Object(row), other[0]) ? other[1] : usual
}

interface LoadOptions {
  /** The files that rows of messages name. */
  readonly fileOf?: FileOf
  /** Whether a client sent the rows. */
  readonly isSent?: boolean
}

/** The state that the rows make, when they make one. Rests now and then, so that others get their turn. */
export async function loadChecked(
  sections: Sections,
  rest: () => Promise<unknown>,
  { fileOf, isSent = false }: LoadOptions = {},
): Promise<State> {
  const turns = checkRows(sections)
  while (!turns.next().done) await rest()
  if (isSent) checkSent(sections)
  const state = State.load(sections, fileOf)
  const more = checkTogether(state, 'new')
  while (!more.next().done) await rest()
  return state
}

/** The same for the state of a store at a position. Before an organization is founded there are no rows. */
export function checkState(state: State, position: number): void {
  checkPosition(position)
  if (state.isEmpty()) return
  if (state.users.size === 0) throw new RowsRefused('users: there are rows of an organization, but no accounts')
  for (const _ of checkRows(state.save(true)));
  for (const _ of checkTogether(state, 'old'));
}

/** What rows that are good by themselves say together. Messages are many: between some of them it yields. */
export function* checkTogether(state: State, store: Parameters<typeof checkRoom>[1]): Generator<void> {
  checkRoom(state, store)
  yield* checkReferences(state)
}

/** Every row by itself; yields between many of them. */
export function* checkRows(sections: Sections): Generator<void> {
  const checks = new RowChecks()
  let count = 0
  for (const [section, rows] of Object.entries(sections))
    for (const row of rows) {
      checks.check(section, row)
      if (++count % 1000 === 0) yield
    }
  checks.finish()
}
