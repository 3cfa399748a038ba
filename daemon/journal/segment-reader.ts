// Reading segments: the entries of one, checked line by line, and where the trustworthy part of the newest ends.
import { type Entry, type Happened, JournalDamaged } from './journal.ts'
import { lineBlocks, newline, readAt } from './line-blocks.ts'
import { findSum, parseHeader, positionAt } from './segment-format.ts'

export interface Segment {
  readonly file: string
  readonly fd: number
  readonly size: number
  /** What the segment must end with: the number in a sealed one's name, the journal's position for the active one. */
  readonly last: number
}

/**
 * The entries of one segment after a position, block by block: walk each block to its end before asking for the next.
 * Every line is checked (sum, position), also those skipped; only those asked for are parsed, and one at a time, since
 * lists of parsed entries would outlive the young generation and cost more than the parsing.
 * `previous` is the last position of the segment before, if that was read.
 */
export async function* readSegment<Found>(
  segment: Segment,
  after: number,
  previous: number | undefined,
  parse: LineParser<Found>,
): AsyncGenerator<Iterable<Found>> {
  const { file, last } = segment
  let line = 0
  let position = 0
  function* walk(block: Buffer): Generator<Found> {
    for (let start = 0, end = 0; start < block.length; start = end + 1) {
      end = block.indexOf(newline, start)
      line++
      if (end < 0) throw new JournalDamaged(file, line, 'ends in the middle of an entry')
      if (line === 1) {
        position = parseHeader(file, block.toString('utf8', start, end))
        checkStart(file, position, after, previous)
        continue
      }
      const sum = findSum(block, start, end)
      if (sum < 0) throw new JournalDamaged(file, line, 'the entry does not fit its sum')
      const found = positionAt(block, start)
      if (found !== position + 1) throw new JournalDamaged(file, line, `position ${found} after ${position}`)
      position = found
      if (position <= after) continue
      let entry: Found
      try {
        entry = parse(block, start, sum, position)
      } catch {
        // The sum fits, so these are the bytes somebody wrote: not torn, but not an entry of ours either.
        throw new JournalDamaged(file, line, 'not JSON')
      }
      yield entry
    }
  }
  for await (const block of lineBlocks(segment.fd, segment.size)) yield walk(block)
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

/** Makes something of the line that begins at `start` and has its sum at `sum`. */
export type LineParser<Found> = (block: Buffer, start: number, sum: number, position: number) => Found

export function parseEntry<Fact>(block: Buffer, start: number, sum: number): Entry<Fact> {
  // The sum is not part of the entry: end the object where the sum began. The block is ours to change.
  block[sum] = 0x7d
  return JSON.parse(block.toString('utf8', start, sum + 1))
}

const beforeFacts = Buffer.from(',"facts":')

/** Only what happened: the facts are the last member before the sum, and nothing before them can hold these bytes. */
export function parseFacts<Fact>(block: Buffer, start: number, sum: number, position: number): Happened<Fact> {
  const at = block.indexOf(beforeFacts, start) + beforeFacts.length
  return { position, facts: JSON.parse(block.toString('utf8', at, sum)) }
}

export interface Tail {
  /** Position of the last whole entry; undefined when there is none. */
  readonly position: number | undefined
  /** Where the line of that entry ends. */
  readonly end: number
}

/**
 * The last whole entry of a segment whose header ends at `from`, sought backwards: opening costs the same for any length.
 *
 * What follows it may be cut. A batch goes to disk with one write, and after a power loss any part of an unfinished one
 * may be missing, so the tail may hold several bad lines; nobody was told of them, since the sync had not returned. A bad
 * line BEFORE a whole entry is another matter: cutting there would lose entries that were acknowledged, so it stays, and
 * reading refuses it. (A power loss that keeps the end of the last batch but not its middle is refused too. Filesystems
 * grow a file only over what they have written, so this is rare, and better asked about than guessed.)
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
    // A line that begins before the window cannot be judged: `before` is then the end of it, not of the header.
    for (let end = bytes.lastIndexOf(newline); end >= 0; ) {
      const before = end === 0 ? -1 : bytes.lastIndexOf(newline, end - 1)
      if (before < 0 && begin > from) break
      if (findSum(bytes, before + 1, end) >= 0) {
        const position = positionAt(bytes, before + 1)
        if (position > 0) return { position, end: begin + end + 1 }
      }
      end = before
    }
    if (begin === from) return { position: undefined, end: from }
  }
}
