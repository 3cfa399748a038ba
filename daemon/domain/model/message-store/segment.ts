// 16,384 consecutive message IDs: numbers in columns, text as UTF-8 in pages, all outside the heap, where a million
// messages cost the garbage collector nothing. Text is only ever appended; an edited message keeps its new text apart.

import { escapeHtml } from '../../values/escape.ts'
import type { Details } from './message.ts'
import { type WordArrays, WordIndex } from './word-index.ts'
import { eachWordHash } from './words.ts'

/** Stateless, so all segments share them. A byte order mark at the beginning of a message is part of its text. */
export const encoder = new TextEncoder()
export const decoder = new TextDecoder('utf-8', { ignoreBOM: true })

export const segmentBits = 14
export const segmentSize = 1 << segmentBits

const pageBits = 20
const pageSize = 1 << pageBits

/** Bits above those of `marks`: kept by the store itself. */
const present = 0x8000
/** The HTML is the content in one paragraph, and so need not be kept. */
const plain = 0x4000
const ownBits = present | plain

export interface Columns {
  readonly senders: Uint32Array
  readonly places: Uint32Array
  readonly times: Uint32Array
  readonly clients: Uint16Array
  readonly bits: Uint16Array
  readonly textAt: Uint32Array
  readonly contentBytes: Uint32Array
  readonly htmlBytes: Uint32Array
}

export interface Content {
  readonly content: string
  readonly html: string
}

/** What can be asked of a segment; a frozen one answers as of when it was frozen. */
export class SegmentView {
  protected columns: Columns
  readonly details: Map<number, Details>
  protected readonly pages: Uint8Array[]

  constructor(columns: Columns, details: Map<number, Details>, pages: Uint8Array[]) {
    this.columns = columns
    this.details = details
    this.pages = pages
  }

  /** Above the highest local ID that a message here can have so far. */
  get room(): number {
    return this.columns.bits.length
  }

  has(local: number): boolean {
    return (this.columns.bits[local] ?? 0) !== 0
  }

  sender(local: number): number {
    return this.columns.senders[local]!
  }

  place(local: number): number {
    return this.columns.places[local]!
  }

  time(local: number): number {
    return this.columns.times[local]!
  }

  client(local: number): number {
    return this.columns.clients[local]!
  }

  marks(local: number): number {
    return this.columns.bits[local]! & ~ownBits
  }

  content(local: number): string {
    return this.details.get(local)?.text?.content ?? this.#text(local, 0, this.columns.contentBytes[local]!)
  }

  /** `content` is that of the message, which takes long to read. */
  html(local: number, content: string): string {
    const edited = this.details.get(local)?.text
    if (edited) return edited.html
    if ((this.columns.bits[local]! & plain) !== 0) return paragraph(content)
    const from = this.columns.contentBytes[local]!
    return this.#text(local, from, from + this.columns.htmlBytes[local]!)
  }

  #text(local: number, from: number, to: number): string {
    const at = this.columns.textAt[local]!
    const offset = at & (pageSize - 1)
    return decoder.decode(this.pages[at >>> pageBits]!.subarray(offset + from, offset + to))
  }
}

/** A segment as it was when it was held: itself, or a copy once it has changed. */
interface Held {
  view: SegmentView
}

export class Segment extends SegmentView {
  readonly number: number
  words: WordIndex
  /** Local IDs that differ from the segment's file; undefined while it has none. */
  changed: Set<number> | undefined
  file: string | undefined
  /** Whether the file is on disk. */
  kept = false
  /** Grows with every change. */
  changes = 0
  #used: number
  #held: Held | undefined
  /** A file is being written from these very arrays: they must be copied before they change. */
  #shared = false

  constructor(number: number, saved?: SavedSegment) {
    super(saved?.columns ?? createColumns(256), saved?.details ?? new Map(), saved?.pages ?? [new Uint8Array(0)])
    this.number = number
    this.words = new WordIndex(saved?.words)
    // Pages of a file are full: the rest is text of a segment that is still in memory.
    this.#used = this.pages.at(-1)!.length
  }

  append(local: number, senderId: number, place: number, time: number, client: number, marks: number, text: Content) {
    this.#change(local)
    this.#own()
    if (local >= this.columns.bits.length) this.#grow(local)
    const { senders, places, times, clients, bits } = this.columns
    const isPlain = text.html === paragraph(text.content)
    const html = isPlain ? '' : text.html
    senders[local] = senderId
    places[local] = place
    times[local] = time
    clients[local] = client
    this.#write(local, text.content, html)
    bits[local] = marks | present | (isPlain ? plain : 0)
    this.addWords(local, text.content)
  }

  setPlace(local: number, place: number): void {
    this.#change(local)
    this.#own()
    this.columns.places[local] = place
  }

  setMarks(local: number, marks: number): void {
    this.#change(local)
    this.#own()
    this.columns.bits[local] = marks | (this.columns.bits[local]! & ownBits)
  }

  setDetails(local: number, details: Details | undefined): void {
    this.#change(local)
    if (details) this.details.set(local, details)
    else this.details.delete(local)
  }

  remove(local: number): void {
    this.#change(local)
    this.#own()
    this.columns.bits[local] = 0
    this.details.delete(local)
  }

  addWords(local: number, content: string): void {
    this.#own()
    eachWordHash(content.toLowerCase(), hash => this.words.add(hash, local))
  }

  /** As it is now, whatever comes: numbers are copied, text is never overwritten. */
  freeze(): SegmentView {
    return new SegmentView(copy(this.columns), new Map(this.details), [...this.pages])
  }

  /** The same, but copies only if the segment changes later. */
  hold(): Held {
    this.#held ??= { view: this }
    return this.#held
  }

  /** Everything a file must hold, until `written` says that it does. */
  saved(): SavedSegment {
    this.#shared = true
    const pages = this.pages.map((page, index) =>
      index === this.pages.length - 1 ? page.subarray(0, this.#used) : page,
    )
    return { columns: this.columns, details: new Map(this.details), pages, words: this.words.arrays }
  }

  written(): void {
    this.#shared = false
    this.kept = true
  }

  /** Called before a change. */
  #change(local: number): void {
    if (this.#held) this.#held.view = this.freeze()
    this.#held = undefined
    this.changed?.add(local)
    this.changes++
  }

  #own(): void {
    if (!this.#shared) return
    this.columns = copy(this.columns)
    this.words = new WordIndex(copiedWords(this.words.arrays))
    this.#shared = false
  }

  #write(local: number, content: string, html: string): void {
    const { textAt, contentBytes, htmlBytes } = this.columns
    const page = this.#pageFor(content, html)
    textAt[local] = ((this.pages.length - 1) * pageSize + this.#used) >>> 0
    contentBytes[local] = this.#encode(page, content)
    htmlBytes[local] = html === '' ? 0 : this.#encode(page, html)
  }

  /** The page with room for both, which must be on the same one. */
  #pageFor(content: string, html: string): Uint8Array {
    const page = this.pages.at(-1)!
    const left = this.#used >= pageSize ? 0 : page.length - this.#used
    // Counting bytes costs as much as writing them, so only where the longest they could be does not fit.
    if (3 * (content.length + html.length) <= left) return page
    const needed = encoder.encode(content).length + encoder.encode(html).length
    if (needed <= left) return page
    this.#used = 0
    return this.#newPage(page, needed)
  }

  #encode(page: Uint8Array, text: string): number {
    const { written } = encoder.encodeInto(text, page.subarray(this.#used))
    this.#used += written
    return written
  }

  /** Small at first: most stores are small. */
  #newPage(full: Uint8Array, needed: number): Uint8Array {
    const size = Math.max(needed, Math.min(pageSize, Math.max(4096, full.length * 2)))
    const page = new Uint8Array(size)
    this.pages.push(page)
    return page
  }

  #grow(local: number): void {
    const size = Math.min(segmentSize, Math.max(local + 1, this.columns.bits.length * 2))
    const larger = createColumns(size)
    for (const name of columnNames) larger[name].set(this.columns[name])
    this.columns = larger
  }
}

export interface SavedSegment {
  readonly columns: Columns
  readonly details: Map<number, Details>
  readonly pages: Uint8Array[]
  readonly words: WordArrays
}

export const columnNames = [
  'senders',
  'places',
  'times',
  'clients',
  'bits',
  'textAt',
  'contentBytes',
  'htmlBytes',
] as const satisfies readonly (keyof Columns)[]

function createColumns(size: number): Columns {
  return {
    senders: new Uint32Array(size),
    places: new Uint32Array(size),
    times: new Uint32Array(size),
    clients: new Uint16Array(size),
    bits: new Uint16Array(size),
    textAt: new Uint32Array(size),
    contentBytes: new Uint32Array(size),
    htmlBytes: new Uint32Array(size),
  }
}

function copy(columns: Columns): Columns {
  return Object.fromEntries(columnNames.map(name => [name, columns[name].slice()])) as unknown as Columns
}

function copiedWords({ hashes, counts, tails, firsts, lasts, pool }: WordArrays): WordArrays {
  return {
    hashes: hashes.slice(),
    counts: counts.slice(),
    tails: tails.slice(),
    firsts: firsts.slice(),
    lasts: lasts.slice(),
    pool: pool.slice(),
  }
}

/** What most messages render to. */
function paragraph(content: string): string {
  return `<p>${escapeHtml(content)}</p>`
}
