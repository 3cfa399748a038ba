// The format of a segment of the journal: names, header line, entry lines and their sums, and the room after them.
// Must never change unless `segmentFormat` grows: old stores have to boot.
import { crc32 } from 'node:zlib'
import { JournalDamaged, type NewEntry } from './journal.ts'

const segmentFormat = 1
export const activeName = 'journal.ndjson'

export function sealedName(last: number): string {
  return `journal-${pad(last)}.ndjson`
}

function pad(position: number): string {
  return String(position).padStart(12, '0')
}

/** Position of the last entry of a sealed segment by its name; undefined for any other file. */
export function sealedLast(name: string): number | undefined {
  const digits = /^journal-(\d{12,})\.ndjson$/.exec(name)?.[1]
  return digits === undefined ? undefined : Number(digits)
}

/** A segment that is being made; a crash may leave one behind. */
export function unfinishedName(after: number): string {
  return `journal-${pad(after)}.tmp`
}

export function isUnfinished(name: string): boolean {
  return /^journal-\d{12,}\.tmp$/.test(name)
}

/**
 * What the active segment has after its last entry, room for the next ones: a sync of bytes that were part of the file before commits no
 * metadata. No entry holds a tab, and JSON permits one between entries, so that the file can be read while it is in use.
 */
export const roomByte = 0x09

/** How many bytes of room to make after `end`: a segment doubles, so that a small store stays small, and then grows by this step. */
export function roomAfter(end: number): number {
  return Math.min(end, roomStep)
}

export const roomStep = 256 * 1024

/** Room that was never written to, inside of a write that was not finished. Fewer tabs than these can be damage to an entry. */
export const unwritten = Buffer.alloc(8, roomByte)

export interface Header {
  /** The position before the segment's first entry. */
  readonly after: number
  /** The sum of the entry at that position, which is in no file once a snapshot covers it. Not known in the first segment. */
  readonly afterSum?: string | undefined
}

export function headerLine(after: number, afterSum?: string): string {
  return `${JSON.stringify({ natter: 'journal', format: segmentFormat, after, afterSum })}\n`
}

export function parseHeader(file: string, text: string): Header {
  let header: unknown
  try {
    header = JSON.parse(text)
  } catch {
    throw new JournalDamaged(file, 1, 'not the header of a journal')
  }
  const { natter, format, after, afterSum } = Object(header) as Record<string, unknown>
  if (natter !== 'journal') throw new JournalDamaged(file, 1, 'not the header of a journal')
  if (format !== segmentFormat)
    throw new JournalDamaged(file, 1, `format ${format}, this natter reads ${segmentFormat}`)
  if (!Number.isSafeInteger(after)) throw new JournalDamaged(file, 1, 'the header names no position')
  return { after: after as number, ...(typeof afterSum === 'string' && { afterSum }) }
}

/**
 * One entry as a line. The sum covers the line's bytes before `,"sum":`. Stringifying also flattens, in place, the ropes
 * and slices that a request body leaves in the facts: what the state keeps must not keep the body alive.
 */
export function entryLine(position: number, entry: NewEntry<unknown>): string {
  const { time, actor, op, facts } = entry
  // A line that is not JSON would carry a fitting sum and stop every later start.
  if (
    !Number.isFinite(time) ||
    !(actor === null || Number.isFinite(actor)) ||
    typeof op !== 'string' ||
    !Array.isArray(facts)
  )
    throw new TypeError('not an entry of the journal')
  const body = JSON.stringify({ position, time, actor, op, facts }).slice(0, -1)
  return `${body},"sum":"${crc32(body).toString(16).padStart(8, '0')}"}\n`
}

/** Length of `,"sum":"01234567"}`. */
const sumLength = 18
const beforeSum = Buffer.from(',"sum":"')

/** The sum of the last of these lines. */
export function lastSum(lines: string): string {
  return lines.slice(-1 - sumLength, -1).slice(beforeSum.length, -2)
}

/** Where the sum begins in the line [start, end), or -1 when there is none or it does not fit the bytes. */
export function findSum(bytes: Buffer, start: number, end: number): number {
  const at = end - sumLength
  if (at <= start || bytes[end - 1] !== 0x7d || bytes[end - 2] !== 0x22) return -1
  for (let i = 0; i < beforeSum.length; i++) if (bytes[at + i] !== beforeSum[i]) return -1
  let sum = 0
  for (let i = at + beforeSum.length; i < end - 2; i++) {
    const digit = hexDigits[bytes[i]!]!
    if (digit < 0) return -1
    sum = (sum << 4) | digit
  }
  return crc32(bytes.subarray(start, at)) === sum >>> 0 ? at : -1
}

/** The value of each byte as a hexadecimal digit; -1 for other bytes. */
const hexDigits = Int8Array.from({ length: 256 }, (_, byte) => '0123456789abcdef'.indexOf(String.fromCharCode(byte)))

const beforePosition = Buffer.from('{"position":')
const comma = 0x2c

/** The position of the entry that begins at `start`, or -1; read without parsing the line. */
export function positionAt(bytes: Buffer, start: number): number {
  for (let i = 0; i < beforePosition.length; i++) if (bytes[start + i] !== beforePosition[i]) return -1
  let position = 0
  for (let i = start + beforePosition.length; ; i++) {
    const digit = bytes[i]! - 0x30
    if (!(digit >= 0 && digit <= 9)) return position > 0 && bytes[i] === comma ? position : -1
    position = position * 10 + digit
  }
}
