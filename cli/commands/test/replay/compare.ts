// Compares a recorded answer with a new one. IDs, times and random texts may differ.

import { hidden } from '../../../../daemon/api/masking.ts'
import { isRecord } from '../../../../daemon/local/json.ts'
import { cutText } from '../../../base/text-layout.ts'

/** One call whose answer differs. */
export interface Finding {
  readonly call: number
  readonly what: string
  readonly differs: readonly string[]
}

/** Differences as `place: recorded → new`, at most a few: the first says most. */
export function listDifferences(recorded: unknown, found: unknown, exact: boolean): string[] {
  const all: string[] = []
  compare(recorded, found, '', exact, all)
  return all
}

const most = 5
/** Numbers that are IDs, and numbers and texts that are times: by the name of their field. */
const idField = /(^|_)(id|ids|messages)$|^(anchor|found_newest|queue_id|avatar_version|presence_last_update_id)$/
const timeField = /time|date|(^|_)(timestamp|since|expires|joined|created|updated|retry-after|version)(_|$)|presence/
const isoTime = /^\d{4}-\d\d-\d\dT\d\d:\d\d/
const random = /^[0-9a-f]{8}-[0-9a-f-]{27}$|^\/user_uploads\/|^https?:\/\//

function compare(a: unknown, b: unknown, at: string, exact: boolean, all: string[]): void {
  if (all.length >= most || a === b) return
  if (Array.isArray(a) && Array.isArray(b)) {
    if (!exact && isIds(a) && isIds(b)) return
    if (a.length !== b.length) return void all.push(`${at || 'answer'}: ${a.length} items → ${b.length} items`)
    for (const [index, item] of a.entries()) compare(item, b[index], `${at}[${index}]`, exact, all)
  } else if (isRecord(a) && isRecord(b)) {
    for (const name of new Set([...Object.keys(a), ...Object.keys(b)]))
      compare(a[name], b[name], at === '' ? name : `${at}.${name}`, exact, all)
  } else if (exact || !mayDiffer(a, b, at)) all.push(`${at || 'answer'}: ${shown(a)} → ${shown(b)}`)
}

/** Whether a field may have another value: an ID, a time, a random text. */
export function mayDiffer(a: unknown, b: unknown, at: string): boolean {
  if (typeof a !== typeof b) return false
  const field = /([^.[\]]+)(\[\d+\])*$/.exec(at)?.[1] ?? ''
  // Keys of some records are IDs: what belongs to them is compared under its own name.
  if (typeof a === 'number') return idField.test(field) || timeField.test(field)
  if (typeof a !== 'string' || typeof b !== 'string') return false
  return [a, b].every(text => isoTime.test(text)) || [a, b].every(text => random.test(text)) || a.includes(hidden)
}

function isIds(list: readonly unknown[]): boolean {
  return list.length > 0 && list.every(Number.isSafeInteger)
}

export function shown(value: unknown): string {
  return cutText(value === undefined ? 'absent' : JSON.stringify(value), 120)
}
