// Reading segments: the entries of one, checked line by line, and where the trustworthy part of the newest ends.
import { jsonOr } from '../local/json.ts'
import { type Entry, type Happened, JournalDamaged } from './journal.ts'
import { lineBlocks, newline, readAt } from './line-blocks.ts'
import { findSum, lastSum, parseHeader, positionAt, roomByte, unwritten } from './segment-format.ts'

export interface Segment {
  readonly file: string
  readonly fd: number
  readonly size: number
  /** What the segment must end with: the number in a sealed one's name, the journal's position for the active one. */
  readonly last: number
  /** Bytes after its last entry that are none: of a write in progress, or of one that was not finished. */
  readonly unfinished?: number
}

/**
 * The entries of one segment after a position, a few at a time, because many small calls cost more than their work.
 * Every line is checked (sum, position), also those skipped; only those asked for are parsed.
 * `previous` is the last position of the segment before, if that was read.
 */
export async function* readSegment<Found>(
  segment: Segment,
  after: number,
  previous: number | undefined,
  parse: LinesParser<Found>,
): AsyncGenerator<readonly Found[]> {
  const { file, last } = segment
  let line = 0
  let position = 0
  function* walk(block: Buffer): Generator<readonly Found[]> {
    let lines: Line[] = []
    for (let start = 0, end = 0; start < block.length; start = end + 1) {
      end = block.indexOf(newline, start)
      line++
      if (end < 0) throw new JournalDamaged(file, line, 'ends in the middle of an entry')
      if (line === 1) {
        position = parseHeader(file, block.toString('utf8', start, end)).after
        checkStart(file, position, after, previous)
        continue
      }
      const sum = findSum(block, start, end)
      if (sum < 0)
        throw new JournalDamaged(
          file,
          line,
          block[end - 1] === carriageReturn ? copiedAsText : 'the entry does not fit its sum',
        )
      const found = positionAt(block, start)
      if (found !== position + 1) throw new JournalDamaged(file, line, `position ${found} after ${position}`)
      position = found
      if (position <= after) continue
      lines.push({ start, sum, position })
      if (lines.length === together) {
        yield parseLines(block, lines)
        lines = []
      }
    }
    if (lines.length > 0) yield parseLines(block, lines)
  }
  function parseLines(block: Buffer, lines: readonly Line[]): readonly Found[] {
    try {
      return parse(block, lines)
    } catch (error) {
      if (!(error instanceof NotJson)) throw error
      // The sum fits, so these bytes were written on purpose: not torn, but not an entry of a journal either.
      throw new JournalDamaged(file, line - lines.length + error.index + 1, 'not JSON, or without a list of facts')
    }
  }
  for await (const block of lineBlocks(segment.fd, segment.size)) yield* walk(block)
  if (line === 0) throw new JournalDamaged(file, 1, 'not the header of a journal')
  if (position !== last) throw new JournalDamaged(file, line, `ends at position ${position}, not ${last}`)
}

/** The entries whose lines hold the text; lines that are no entries are passed over. */
export async function* findEntries<Fact>(segment: Segment, text: string): AsyncGenerator<Entry<Fact>> {
  const wanted = Buffer.from(text)
  for await (const block of lineBlocks(segment.fd, segment.size))
    for (let found = block.indexOf(wanted); found >= 0; ) {
      const start = block.lastIndexOf(newline, found) + 1
      const next = block.indexOf(newline, found)
      const end = next < 0 ? block.length : next
      const sum = findSum(block, start, end)
      if (sum >= 0) yield JSON.parse(`${block.toString('utf8', start, sum)}}`)
      found = block.indexOf(wanted, end)
    }
}

function checkStart(file: string, start: number, after: number, previous: number | undefined): void {
  if (previous !== undefined && start !== previous)
    throw new JournalDamaged(file, 1, `begins after position ${start}, the segment before it ends at ${previous}`)
  if (start > after && previous === undefined)
    throw new JournalDamaged(file, 1, `begins after position ${start}, but the entries after ${after} are needed`)
}

/** An entry that was checked. */
export interface Line {
  readonly start: number
  /** Where its sum begins. */
  readonly sum: number
  readonly position: number
}

/** Makes something of each of these lines, and may write over their bytes. Throws `NotJson` when one of them is not JSON. */
export type LinesParser<Found> = (block: Buffer, lines: readonly Line[]) => readonly Found[]

/** The line with this index, of those that were to be parsed, is not JSON. */
class NotJson extends Error {
  readonly index: number

  constructor(index: number) {
    super()
    this.index = index
  }
}

/**
 * Lines that are parsed together, because many small calls cost more than their work. Not more: longer lists of parsed entries
 * would outlive the young generation, which costs more than it saves.
 */
const together = 128

export function parseEntries<Fact>(block: Buffer, lines: readonly Line[]): Entry<Fact>[] {
  // The sum is not part of the entry: end the object where the sum begins.
  return lines.map(({ start, sum }, index) => parseLine(`${block.toString('utf8', start, sum)}}`, index) as Entry<Fact>)
}

/**
 * Only what happened: the facts are the last member before the sum. They are moved together, with commas between them, because one text
 * is parsed faster than many; and in place, because a copy costs half as much as parsing it.
 */
export function parseFacts<Fact>(block: Buffer, lines: readonly Line[]): Happened<Fact>[] {
  const begin = factsAt(block, lines[0]!) - 1
  const ends: number[] = []
  let end = begin
  for (const line of lines) {
    const from = factsAt(block, line)
    block[end] = end === begin ? openingBracket : comma
    block.copyWithin(end + 1, from, line.sum)
    end += 1 + line.sum - from
    ends.push(end)
  }
  block[end] = closingBracket
  const all: Fact[][] | undefined = jsonOr(block.toString('utf8', begin, end + 1))
  if (all?.length !== lines.length || !all.every(Array.isArray))
    throw new NotJson(ends.findIndex((end, i) => !isOneList(block.toString('utf8', (ends[i - 1] ?? begin) + 1, end))))
  return lines.map(({ position }, index) => ({ position, facts: all[index]! }))
}

const openingBracket = 0x5b
const closingBracket = 0x5d
const comma = 0x2c

function isOneList(text: string): boolean {
  const parsed = jsonOr(`[${text}]`)
  return parsed?.length === 1 && Array.isArray(parsed[0])
}

function parseLine(text: string, index: number): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw new NotJson(index)
  }
}

/**
 * Where the facts of an entry begin. Nothing before them can hold these bytes, since a quote inside a text is escaped. By hand: what comes
 * before is short, and a call of `indexOf` costs three times as much.
 */
function factsAt(block: Buffer, { start, sum }: Line): number {
  for (let at = start + shortest; at < sum; at++)
    if (block[at] === letterF && isFactsName(block, at)) return at + 'facts":'.length
  return sum
}

const letterF = 0x66
/** Bytes of an entry up to that letter, at least. */
const shortest = '{"position":1,"time":0,"actor":1,"op":"","'.length
const factsName = Buffer.from(',"facts":')

/** Whether the name begins before the given letter. */
function isFactsName(block: Buffer, letter: number): boolean {
  for (let i = 0; i < factsName.length; i++) if (block[letter - 2 + i] !== factsName[i]) return false
  return true
}

const carriageReturn = 0x0d
const copiedAsText = 'the line ends in CR LF: a program that copied the file as text has changed it'

interface Tail {
  /** Position of the last whole entry, and its sum; undefined when there is none. */
  readonly position: number | undefined
  readonly sum: string | undefined
  /** Where the line of that entry ends. */
  readonly end: number
  /** Whether something other than room follows it. */
  readonly torn: boolean
}

/**
 * The last whole entry of a segment whose header ends at `from`, sought backwards: opening costs the same for any length.
 *
 * What follows it may be cut. A batch goes to disk with one write, and after a power loss any part of an unfinished one
 * may be missing, so the tail may hold several bad lines; no caller got an answer for them, since the sync had not returned. Where a part
 * is missing there is still the room that it was written into, so the segment ends before the first such place even if whole entries
 * follow it. Any other bad line BEFORE a whole entry is damage: cutting there would lose entries that were acknowledged, so it stays, and
 * reading refuses it. (So is a gap in the part of a batch that made the file longer. Filesystems grow a file only over what they have
 * written, so this is rare, and better asked about than guessed.)
 *
 * Two lines that are whole and do not fit their sums are damage, too: a write that was not finished leaves no such lines, except where a disk
 * damages the sector that it was writing, in the middle of one of them.
 */
export async function findTail(fd: number, from: number, size: number): Promise<Tail> {
  for (let window = 4 * 1024 * 1024; ; window *= 2) {
    const begin = Math.max(from, size - window)
    const bytes = Buffer.allocUnsafe(size - begin)
    for (let got = 0; got < bytes.length; ) {
      const more = await readAt(fd, bytes, got, bytes.length - got, begin + got)
      if (more === 0) throw new Error('the journal shrank while it was read')
      got += more
    }
    const room = bytes.indexOf(unwritten)
    const tail = (position: number | undefined, end: number) => ({
      position,
      sum: position === undefined ? undefined : lastSum(bytes.toString('latin1', Math.max(0, end - 20), end)),
      end: begin + end,
      torn: bytes.subarray(end).some(byte => byte !== roomByte),
    })
    let changed: { readonly position: number; readonly end: number } | undefined
    // A line that begins before the window cannot be judged: `before` is then the end of it, not of the header.
    for (let end = bytes.lastIndexOf(newline, room < 0 ? bytes.length : room); end >= 0; ) {
      const before = end === 0 ? -1 : bytes.lastIndexOf(newline, end - 1)
      if (before < 0 && begin > from) break
      if (findSum(bytes, before + 1, end) >= 0) {
        const position = positionAt(bytes, before + 1)
        if (position > 0) return tail(position, end + 1)
      } else if (isWholeLine(bytes, before + 1, end)) {
        if (changed) return tail(changed.position, changed.end)
        changed = { position: positionAt(bytes, before + 1), end: end + 1 }
      }
      end = before
    }
    if (begin === from) return tail(undefined, 0)
  }
}

/** Whether nothing of the line is missing. No entry holds a tab or a zero. */
function isWholeLine(bytes: Buffer, start: number, end: number): boolean {
  const line = bytes.subarray(start, end)
  return positionAt(bytes, start) > 0 && !line.includes(roomByte) && !line.includes(0)
}
