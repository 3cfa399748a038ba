// A sealed segment as a file: a line of JSON that says what follows, then the arrays as they are in memory, then the details
// as JSON. Written once; later changes are in the snapshot.

import { jsonOr } from '../../../local/json.ts'
import type { Details } from './message.ts'
import { columnNames, decoder, encoder, type SavedSegment, Segment, segmentSize } from './segment.ts'
import type { WordArrays } from './word-index.ts'

const format = 'natter messages 1'
const wordNames = ['hashes', 'counts', 'tails', 'firsts', 'lasts', 'pool'] as const satisfies (keyof WordArrays)[]
const newline = 10
const narrow = new Set<string>(['clients', 'bits', 'firsts', 'lasts', 'pool'])

/** A file beside the snapshot: one to be written, or one that stays as it is. */
export interface SideFile {
  readonly name: string
  readonly pieces?: () => Iterable<Uint8Array>
  /** It is on disk, and so is a snapshot that needs it. */
  readonly kept?: () => void
}

/**
 * The file a full segment is kept in. Once much has changed since it was written, a new version of it. A state that was reset knows
 * nothing of files that were written before, but some of them are still needed: the position in the journal keeps their names apart.
 */
export function fileOfSegment(segment: Segment, position: number): SideFile {
  if (segment.kept && segment.changed!.size <= segmentSize / 8) return { name: segment.file! }
  const version = Math.max(position, segment.file ? Number(segment.file.split('.')[1]) + 1 : 1)
  const saved = segment.saved()
  const name = `${String(segment.number).padStart(6, '0')}.${version}.segment`
  segment.file = name
  segment.changed = new Set()
  segment.kept = false
  return { name, pieces: () => segmentPieces(saved), kept: () => segment.written() }
}

/** Throws a reason when the bytes are not what was written. */
export function segmentFrom(number: number, name: string, bytes: Uint8Array): Segment {
  const segment = new Segment(number, readSegment(bytes))
  segment.file = name
  segment.changed = new Set()
  segment.kept = true
  return segment
}

interface Head {
  readonly format: string
  /** Bytes of each array, in order: columns, words. */
  readonly arrays: readonly number[]
  readonly pages: readonly number[]
  readonly details: number
}

/** In pieces, so that writing never holds a second copy of it all. */
function* segmentPieces({ columns, words, pages, details }: SavedSegment): Generator<Uint8Array> {
  const arrays = [
    ...columnNames.map(name => viewBytes(columns[name])),
    ...wordNames.map(name => viewBytes(words[name])),
  ]
  const last = [...detailPieces(details)]
  const pieces = [...arrays, ...pages, ...last]
  const head: Head = {
    format,
    arrays: arrays.map(array => array.length),
    pages: pages.map(page => page.length),
    details: last.reduce((sum, piece) => sum + piece.length, 0),
  }
  // Arrays of numbers must start at a multiple of four.
  const line = JSON.stringify(head)
  yield encoder.encode(`${line}${' '.repeat(3 - (line.length % 4))}\n`)
  for (const piece of pieces) if (piece.length > 0) yield piece
}

const pieceLength = 256 * 1024

/** One JSON list, an entry a line: all of it may be longer than a string can be. */
function* detailPieces(details: ReadonlyMap<number, Details>): Generator<Uint8Array> {
  let piece = '['
  let gap = '\n'
  for (const entry of details) {
    piece += gap + JSON.stringify(entry)
    gap = ',\n'
    if (piece.length < pieceLength) continue
    yield encoder.encode(piece)
    piece = ''
  }
  yield encoder.encode(`${piece}]`)
}

/** Bytes of details that are read as a whole, which is faster. */
const wholeLimit = 1024 * 1024

function* readDetails(bytes: Uint8Array): Generator<[local: number, details: Details]> {
  // Files of earlier versions have everything on one line.
  if (bytes.length <= wholeLimit || bytes[1] !== newline) return yield* JSON.parse(decoder.decode(bytes))
  for (let start = 2; start < bytes.length; ) {
    const found = bytes.indexOf(newline, start)
    const end = found < 0 ? bytes.length : found
    // Without the comma or the bracket that ends the line.
    yield JSON.parse(decoder.decode(bytes.subarray(start, end - 1)))
    start = end + 1
  }
}

/** Keeps the bytes: the segment lives in the memory they were read to. */
function readSegment(bytes: Uint8Array): SavedSegment {
  const end = bytes.indexOf(newline)
  const head = readHead(decoder.decode(bytes.subarray(0, Math.max(end, 0))))
  let at = end + 1
  const take = (length: number) => {
    at += length
    return bytes.subarray(at - length, at)
  }
  const total = [...head.arrays, ...head.pages, head.details].reduce((sum, length) => sum + length, 0)
  if (at + total !== bytes.length) throw new Error('it has not the length it should have')
  const names = [...columnNames, ...wordNames]
  const arrays = Object.fromEntries(names.map((name, index) => [name, viewNumbers(name, take(head.arrays[index]!))]))
  const pages = head.pages.map(take)
  const details = new Map(readDetails(take(head.details)))
  return { columns: arrays as never, words: arrays as never, pages, details }
}

function readHead(line: string): Head {
  const head = jsonOr(line)
  if (head?.format === format) return head
  throw new Error('it is not a segment of messages')
}

function viewBytes(array: Uint32Array | Uint16Array): Uint8Array {
  return new Uint8Array(array.buffer, array.byteOffset, array.byteLength)
}

function viewNumbers(name: string, bytes: Uint8Array): Uint32Array | Uint16Array {
  const { buffer, byteOffset, length } = bytes
  return narrow.has(name)
    ? new Uint16Array(buffer, byteOffset, length / 2)
    : new Uint32Array(buffer, byteOffset, length / 4)
}

/** For messages that come without files. */
export function noFile(name: string): never {
  throw new Error(`the messages name the file ${JSON.stringify(name)}, which is not part of it`)
}
