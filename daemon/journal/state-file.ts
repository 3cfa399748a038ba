// Reads `state.json`: by lines, because it may be larger than a string can be; as a whole if it was reformatted.

import { closeSync, fstatSync, openSync, readSync } from 'node:fs'
import { basename } from 'node:path'
import { crc32 } from 'node:zlib'
import { jsonOr } from '../local/json.ts'
import { lineBlocks, newline } from './line-blocks.ts'
import { checkSums, inHex, isEdited, type Sums, sumOfHead, sumOfRows } from './state-sums.ts'

/**
 * The format that this version writes. Newer ones are refused. Since 2, full segments of messages are files of their own; since 3,
 * there are checksums, and queues refer to the text of events that they share.
 */
export const stateFormat = 3
/** The first format with checksums. */
const summedFormat = 3

/** A file beside the snapshot that belongs to it. */
export interface FileEntry {
  readonly name: string
  readonly bytes: number
  readonly sum: number
}

export interface StateDocument<Rows = Iterable<unknown>, File = FileEntry> {
  readonly format: number
  /** Position of the last journal entry that is part of it. */
  readonly position: number
  /** When it was made, by the daemon's clock. */
  readonly time: number
  /** Rows by the name of their section, in the order of the file. Rows must not change while they are written. */
  readonly sections: Readonly<Record<string, Rows>>
  /** A person edited it and marked it so: there are no checksums to check. */
  readonly edited?: true
  /** Files of messages, which are too large to be written again with every snapshot. */
  readonly files?: readonly File[]
}

/** With its checksums, if it has any. */
type Found = StateDocument<unknown[]> & { sums?: unknown }

export class SnapshotDamaged extends Error {
  readonly file: string
  readonly line: number
  constructor(file: string, line: number, reason: string) {
    super(`${file}, line ${line}: ${reason}`)
    this.name = 'SnapshotDamaged'
    this.file = file
    this.line = line
  }
}

/** Bytes of the largest file that is read as a whole. A larger one must have our own layout. */
const wholeLimit = 256 * 1024 * 1024

export async function readStateFile(path: string): Promise<StateDocument<unknown[]> | null> {
  const fd = openIfThere(path)
  if (fd === undefined) return null
  try {
    return await readOpenState(fd, basename(path))
  } finally {
    closeSync(fd)
  }
}

/** Checks the sums of a file that is open, without parsing its rows, which would take ten times as long. */
export async function checkOpenState(fd: number, file: string): Promise<void> {
  await readOpenState(fd, file, false)
}

/** The same as `readStateFile` of a file that is open; `file` is its name in messages. */
export async function readOpenState(fd: number, file: string, keepRows = true): Promise<StateDocument<unknown[]>> {
  const size = fstatSync(fd).size
  const reader = new StateReader(file, keepRows)
  try {
    for await (const block of lineBlocks(fd, size))
      for (let start = 0; start < block.length; ) {
        const found = block.indexOf(newline, start)
        const end = found < 0 ? block.length : found
        reader.take(block, start, end)
        start = end + 1
      }
    return reader.finish()
  } catch (error) {
    // The layout is not ours: a person or a tool may have reformatted the file.
    if (!(error instanceof SnapshotDamaged) || reader.final || size > wholeLimit) throw error
    return parseWhole(file, readWhole(fd, size), error)
  }
}

/** The snapshot without its sections. Reads and checks only the first line, if the file has our layout. */
export async function readStateHead(fd: number, file: string): Promise<Omit<StateDocument, 'sections'>> {
  for await (const block of lineBlocks(fd, fstatSync(fd).size)) {
    const text = block.toString('utf8', 0, Math.max(0, block.indexOf(newline)))
    const found = text.endsWith('"sections":{') ? jsonOr(`${text}}}`) : undefined
    // Another layout, or damage: reading the whole file shows which.
    if (found === undefined) break
    const reason = whyNotState(found)
    if (reason) throw new SnapshotDamaged(file, 1, reason)
    const { sections, ...head } = found as StateDocument
    return head
  }
  return readOpenState(fd, file)
}

/** Reads from the beginning of the file, whatever was read from the descriptor before. */
function readWhole(fd: number, size: number): string {
  const bytes = Buffer.alloc(size)
  return bytes.toString('utf8', 0, readSync(fd, bytes, 0, size, 0))
}

function openIfThere(path: string): number | undefined {
  try {
    return openSync(path, 'r')
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

const comma = 0x2c
const beforeSums = '},"sums":'

/** Takes the file line by line: the head, then sections of rows, then the end. */
class StateReader {
  /** Whether it was refused for its content, not for its layout, so that reading it as a whole would not help. */
  final = false
  readonly #file: string
  readonly #keepRows: boolean
  #line = 0
  #expected: 'head' | 'section' | 'first row' | 'row' | 'section or end' | 'end of section' | 'end' | 'nothing' = 'head'
  #document!: Found
  #section = ''
  #rows: unknown[] = []
  /** The checksums of what was read, and the line at which each section begins. */
  readonly #sums: Sums = { head: '', sections: {} }
  readonly #begins = new Map<string, number>()
  #sum = 0

  constructor(file: string, keepRows: boolean) {
    this.#file = file
    this.#keepRows = keepRows
  }

  take(bytes: Buffer, start: number, end: number): void {
    this.#line++
    switch (this.#expected) {
      case 'head':
        this.#head(bytes.toString('utf8', start, end))
        break
      case 'section or end':
      case 'section':
      case 'end':
        this.#between(bytes.toString('utf8', start, end))
        break
      case 'first row':
      case 'end of section':
        if (bytes[start] === 0x5d) this.#endOfSection(bytes.toString('utf8', start, end))
        else if (this.#expected === 'first row') this.#row(bytes, start, end)
        else throw this.#damaged('a comma is missing before this line')
        break
      case 'row':
        this.#row(bytes, start, end)
        break
      case 'nothing':
        throw this.#damaged('more after the end')
    }
  }

  finish(): StateDocument<unknown[]> {
    if (this.#expected !== 'nothing') {
      this.#line++
      throw this.#damaged('the file ends too early')
    }
    const { sums, ...document } = this.#document
    if (document.format < summedFormat) return document
    if (isEdited(sums)) return { ...document, edited: true }
    this.#sums.head = sumOfHead(document)
    const problem = checkSums(sums, this.#sums)
    this.final = problem !== undefined
    if (problem) throw new SnapshotDamaged(this.#file, this.#begins.get(problem.section) ?? 1, problem.reason)
    return document
  }

  #head(text: string): void {
    const head = text.endsWith('"sections":{') ? this.#parse(`${text}}}`) : undefined
    const reason = whyNotState(head)
    this.final = isTooNew(head)
    if (reason) throw this.#damaged(reason)
    this.#document = head as Found
    this.#expected = 'section or end'
  }

  #between(text: string): void {
    const isEnd = text === '}}' || (text.startsWith(beforeSums) && text.endsWith('}'))
    if (isEnd && this.#expected !== 'section') {
      if (text !== '}}') this.#document.sums = this.#parse(text.slice(beforeSums.length, -1))
      this.#expected = 'nothing'
      return
    }
    const name = text.endsWith(':[') && this.#expected !== 'end' ? this.#parse(text.slice(0, -2)) : undefined
    if (typeof name !== 'string') throw this.#damaged('neither a section nor the end')
    this.#section = name
    this.#begins.set(name, this.#line)
    this.#sum = 0
    this.#rows = []
    ;(this.#document.sections as Record<string, unknown[]>)[name] = this.#rows
    this.#expected = 'first row'
  }

  #row(bytes: Buffer, start: number, end: number): void {
    const more = bytes[end - 1] === comma
    this.#sum = crc32(bytes.subarray(start, end), this.#sum)
    if (this.#keepRows) this.#rows.push(this.#parse(bytes.toString('utf8', start, more ? end - 1 : end)))
    this.#expected = more ? 'row' : 'end of section'
  }

  #endOfSection(text: string): void {
    if (text !== ']' && text !== '],') throw this.#damaged('neither a row nor the end of the section')
    this.#sums.sections[this.#section] = inHex(this.#sum)
    this.#expected = text === '],' ? 'section' : 'end'
  }

  #parse(text: string): unknown {
    try {
      return JSON.parse(text)
    } catch (error) {
      throw this.#damaged((error as Error).message)
    }
  }

  #damaged(reason: string): SnapshotDamaged {
    return new SnapshotDamaged(this.#file, this.#line, reason)
  }
}

function parseWhole(file: string, text: string, earlier: SnapshotDamaged): StateDocument<unknown[]> {
  let document: unknown
  try {
    document = JSON.parse(text)
  } catch (error) {
    // Reading by lines has found the line of the error, unless it already failed at the first.
    if (earlier.line > 1) throw earlier
    const { message } = error as Error
    throw new SnapshotDamaged(file, text.slice(0, findPlace(message, text)).split('\n').length, message)
  }
  return acceptDocument(file, document)
}

/** Where `JSON.parse` failed. Its message has a position, or quotes the text from ten characters before it. */
function findPlace(message: string, text: string): number {
  const position = /position (\d+)/.exec(message)?.[1]
  if (position !== undefined) return Number(position)
  const quoted = /\.\.\."(.*)"/s.exec(message)?.[1]
  if (quoted !== undefined) return text.indexOf(quoted) + 10
  return message.endsWith('end of JSON input') ? text.length : 0
}

/** A snapshot that was parsed as a whole. Refuses other documents, newer formats, and sums that do not match. */
export function acceptDocument(file: string, document: unknown): StateDocument<unknown[]> {
  const reason = whyNotState(document)
  if (reason) throw new SnapshotDamaged(file, 1, reason)
  const { sums, ...found } = document as Found
  if (isEdited(sums)) return { ...found, edited: true }
  if (found.format >= summedFormat) {
    const sections = Object.entries(found.sections).map(([name, rows]) => [name, sumOfRows(rows)])
    const problem = checkSums(sums, { head: sumOfHead(found), sections: Object.fromEntries(sections) })
    if (problem) throw new SnapshotDamaged(file, 1, problem.reason)
  }
  return found
}

function isTooNew(document: unknown): boolean {
  return Object(document).format > stateFormat
}

function whyNotState(document: unknown): string | undefined {
  const { format, position, time, sections, files = [] } = Object(document) as Record<string, unknown>
  if (!Number.isSafeInteger(format)) return 'not a snapshot of natter'
  if (isTooNew(document)) return `format ${format}, this natter reads ${stateFormat}; upgrade it`
  if (!Number.isSafeInteger(position) || typeof time !== 'number') return 'the position or time is missing'
  if (typeof sections !== 'object' || sections === null) return 'the sections are missing'
  if (!Object.values(sections).every(Array.isArray)) return 'a section is not a list of rows'
  // A name must not lead out of the folder.
  const isName = (name: unknown) => typeof name === 'string' && /^[\w-][\w.-]{0,200}$/.test(name)
  if (!Array.isArray(files) || !files.every(file => isName(Object(file).name)))
    return 'a file has a name that natter does not give'
  return undefined
}
