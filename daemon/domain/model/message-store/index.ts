// All messages, packed, with their indexes: by channel, topic, sender, conversation, mention and word.

import { ClientNames } from './client-names.ts'
import { IdList } from './id-list.ts'
import { highestMessageId } from './id-set.ts'
import { Indexes, type Kind } from './indexes.ts'
import { type Details, isEmpty, type Message } from './message.ts'
import { MovedFrom } from './moved-from.ts'
import { type Place, Places, push, type Thread } from './places.ts'
import { Segment, type SegmentView, segmentBits, segmentSize } from './segment.ts'
import { fileOfSegment, noFile, type SideFile, segmentFrom } from './segment-file.ts'
import { type FoundWords, placesOfWords } from './word-search.ts'

export { IdList } from './id-list.ts'
export { IdSet, packRuns, unpackRuns } from './id-set.ts'
export * from './message.ts'
export type { Place, Thread } from './places.ts'
export type { SideFile } from './segment-file.ts'
export type { WordPart } from './word-index.ts'

const localMask = segmentSize - 1
const none = new IdList()

export class MessageStore {
  /** A segment without a message may be absent. */
  readonly #segments: (Segment | undefined)[] = []
  readonly #places = new Places()
  readonly #clients = new ClientNames()
  readonly #indexes = new Indexes()
  readonly #movedFrom = new MovedFrom()
  #lastId = 0
  #count = 0
  #oldestMoved = Number.POSITIVE_INFINITY

  /** The highest ID ever given; deleted messages count. */
  get lastId(): number {
    return this.#lastId
  }

  /** The oldest message that was moved between channels: from there on, lists may hold what was sent elsewhere. */
  get oldestMoved(): number {
    return this.#oldestMoved
  }

  get count(): number {
    return this.#count
  }

  // --- one message ----------------------------------------------------------------------------------------------

  has(id: number): boolean {
    // Segments are found in 32 bits, where an ID beyond them would be taken for a small one.
    return id > 0 && id <= this.#lastId && (this.#segments[id >>> segmentBits]?.has(id & localMask) ?? false)
  }

  get(id: number): Message | undefined {
    return this.has(id) ? this.#row(this.#segment(id), id) : undefined
  }

  sender(id: number): number {
    return this.#segment(id).sender(id & localMask)
  }

  place(id: number): Place {
    return this.#places.get(this.#segment(id).place(id & localMask))
  }

  /** The channel it is in, 0 for a direct message, -1 if it is not there. */
  channelOf(id: number): number {
    const segment = id > 0 && id <= this.#lastId ? this.#segments[id >>> segmentBits] : undefined
    return segment?.has(id & localMask) ? this.#places.channelId(segment.place(id & localMask)) : -1
  }

  time(id: number): number {
    return this.#segment(id).time(id & localMask)
  }

  marks(id: number): number {
    return this.#segment(id).marks(id & localMask)
  }

  content(id: number): string {
    return this.#segment(id).content(id & localMask)
  }

  details(id: number): Details | undefined {
    return this.#segment(id).details.get(id & localMask)
  }

  /** The channel it was sent to, 0 for a direct message: who received it follows from there. */
  sentTo(id: number): number {
    const moved = id >= this.#oldestMoved ? this.details(id)?.sentTo : undefined
    return moved ?? this.place(id).thread.channelId
  }

  // --- many -----------------------------------------------------------------------------------------------------

  inChannel(channelId: number): IdList {
    return this.#indexes.channels.of(channelId)
  }

  movedFrom(channelId: number): IdList {
    return this.#movedFrom.of(channelId)
  }

  inTopic(channelId: number, topic: string): IdList {
    return this.#places.thread(channelId, topic)?.ids ?? none
  }

  topics(channelId: number): Iterable<Thread> {
    return this.#places.threadsOf(channelId)
  }

  topicsNamed(topic: string): readonly Thread[] {
    return this.#places.threadsNamed(topic)
  }

  inConversation(conversationId: number): IdList {
    return this.#places.conversation(conversationId)?.ids ?? none
  }

  bySender(userId: number): IdList {
    return this.#indexes.senders.of(userId)
  }

  /** Mentioned by name, through a group or as one who took part in the topic. */
  mentioning(userId: number): IdList {
    return this.#indexes.mentions.of(userId)
  }

  alerting(userId: number): IdList {
    return this.#indexes.alerts.of(userId)
  }

  get channelWildcards(): IdList {
    return this.#indexes.channelWildcards
  }

  get reacted(): IdList {
    return this.#indexes.reacted
  }

  ofKind(kind: Kind): IdList {
    return this.#indexes.kinds[kind]
  }

  /** Where all messages are that may have every word of the lower-case text; undefined when it has no words. */
  withWords(text: string): FoundWords | undefined {
    return placesOfWords(text, this.#present(), this.#places, this.#lastId)
  }

  // --- changes --------------------------------------------------------------------------------------------------

  add(message: Message): void {
    const { id, senderId, time } = message
    const place = this.#findPlace(message)
    const segment = this.#open(id)
    segment.append(
      id & localMask,
      senderId,
      place.number,
      time,
      this.#clients.assignNumber(message.client),
      message.marks,
      message,
    )
    if (message.details) segment.setDetails(id & localMask, message.details)
    this.#lastId = Math.max(this.#lastId, id)
    this.#count++
    this.#index(id)
  }

  /** New text, and what was found in it. */
  edit(id: number, content: string, html: string, newMarks: number, details: Details): void {
    const segment = this.#segment(id)
    this.#unindexContent(id)
    segment.setMarks(id & localMask, newMarks)
    segment.setDetails(id & localMask, { ...details, text: { content, html } })
    segment.addWords(id & localMask, content)
    this.#indexContent(id)
  }

  /** Details that no index but that of reactions knows. */
  setDetails(id: number, details: Details): void {
    const old = this.details(id)
    const had = old?.reactions?.length ?? 0
    const kept = old?.text ? { ...details, text: old.text } : details
    this.#segment(id).setDetails(id & localMask, isEmpty(kept) ? undefined : kept)
    const has = details.reactions?.length ?? 0
    if (has > 0 && had === 0) this.#indexes.reacted.add(id)
    else if (has === 0 && had > 0) this.#indexes.reacted.removeAll([id])
  }

  /** Moves messages, ascending, to a topic; each keeps its details as given by `change`. */
  move(ids: readonly number[], channelId: number, topic: string, change: (id: number, from: Place) => Details): void {
    const place = this.#places.ofTopic(channelId, topic)
    const byThread = new Map<Thread, number[]>()
    const before = ids.map(id => this.details(id)?.sentTo)
    for (const id of ids) {
      const from = this.place(id)
      if (from.thread.channelId !== channelId) this.#oldestMoved = Math.min(this.#oldestMoved, id)
      this.setDetails(id, change(id, from))
      this.#segment(id).setPlace(id & localMask, place.number)
      const moved = byThread.get(from.thread)
      if (moved) moved.push(id)
      else byThread.set(from.thread, [id])
    }
    for (const [thread, moved] of byThread) {
      if (thread === place.thread) continue
      thread.ids.removeAll(moved)
      place.thread.ids.addAll(moved)
      if (thread.channelId === channelId) continue
      this.#indexes.channels.of(thread.channelId).removeAll(moved)
      this.#indexes.channels.open(channelId).addAll(moved)
    }
    this.#movedFrom.change(ids, before, id => this.details(id)?.sentTo)
  }

  /** Ascending IDs. */
  remove(ids: readonly number[]): void {
    const byThread = new Map<Thread, number[]>()
    const bySender = new Map<number, number[]>()
    for (const id of ids) {
      push(byThread, this.place(id).thread, id)
      push(bySender, this.sender(id), id)
      this.#unindexContent(id)
    }
    this.#indexes.reacted.removeAll(ids)
    for (const [thread, gone] of byThread) {
      thread.ids.removeAll(gone)
      if (thread.channelId !== 0) this.#indexes.channels.of(thread.channelId).removeAll(gone)
    }
    for (const [userId, gone] of bySender) this.#indexes.senders.of(userId).removeAll(gone)
    for (const id of ids) this.#segment(id).remove(id & localMask)
    this.#count -= ids.length
  }

  // --- snapshots ------------------------------------------------------------------------------------------------

  /** Segments that are full become files, written once; the rest, and what changed since, are rows. `whole`: all are rows. */
  save(whole = false): Iterable<unknown> {
    const head = {
      last_id: this.#lastId,
      places: this.#places.save(),
      clients: this.#clients.save(),
      files: this.#segments.map(segment => (whole ? null : (segment?.file ?? null))),
    }
    const views = this.#segments.map(segment => {
      const changed = whole ? undefined : segment?.changed
      if (!segment || changed?.size === 0) return undefined
      return { number: segment.number, view: segment.freeze(), changed: changed && [...changed] }
    })
    const row = (view: SegmentView, id: number) => this.#row(view, id)
    return (function* () {
      yield head
      for (const part of views) {
        if (!part) continue
        const { number, view, changed } = part
        const base = number << segmentBits
        for (const local of changed?.sort((a, b) => a - b) ?? Array(view.room).keys()) {
          if (view.has(local)) yield row(view, base + local)
          else if (changed) yield { id: base + local, deleted: true }
        }
      }
    })()
  }

  /** Every message as it is now, put together as it is asked for. */
  rows(): Iterable<Message> {
    const segments = this.segments()
    return (function* () {
      for (const segment of segments) yield* segment.rows()
    })()
  }

  /** Every message as it is now, by segments, put together as it is asked for. The same `changes` mean the same messages. */
  segments(): { readonly segment: object; readonly changes: number; rows(): Iterable<Message> }[] {
    const row = (view: SegmentView, id: number) => this.#row(view, id)
    return this.#present().map(segment => {
      const held = segment.hold()
      return {
        segment,
        changes: segment.changes,
        *rows() {
          for (let local = 0; local < held.view.room; local++)
            if (held.view.has(local)) yield row(held.view, (segment.number << segmentBits) + local)
        },
      }
    })
  }

  /** Files the next snapshot needs and may already have. Seals what is full, so it comes before `save`. */
  files(position: number): SideFile[] {
    const full = this.#present().filter(({ number }) => number < this.#lastId >>> segmentBits)
    return full.map(segment => fileOfSegment(segment, position))
  }

  load(rows: Iterable<unknown>, fileOf: (name: string) => Uint8Array = noFile): void {
    let first = true
    for (const row of rows) {
      if (first) this.#loadHead(row as Head, fileOf)
      else this.#loadRow(row as Message & { deleted?: true })
      first = false
    }
  }

  #loadHead({ last_id, places, clients, files }: Head, fileOf: (name: string) => Uint8Array): void {
    this.#lastId = Math.max(this.#lastId, last_id)
    this.#places.load(places)
    for (const client of clients) this.#clients.assignNumber(client)
    for (const [number, name] of files.entries()) {
      const segment = name === null ? undefined : segmentFrom(number, name, fileOf(name))
      this.#segments[number] ??= segment
      for (let local = 0; local < segmentSize; local++)
        if (segment?.has(local)) {
          this.#count++
          this.#index((number << segmentBits) + local)
        }
    }
  }

  #loadRow(row: Message & { deleted?: true }): void {
    if (this.has(row.id)) this.remove([row.id])
    if (!row.deleted) this.add(row)
    else this.#segments[row.id >>> segmentBits]?.changed?.add(row.id & localMask)
  }

  // --- inside ---------------------------------------------------------------------------------------------------

  #segment(id: number): Segment {
    return this.#segments[id >>> segmentBits]!
  }

  #present(): Segment[] {
    return this.#segments.filter(segment => segment !== undefined)
  }

  /** The segment of a message that is about to be added. IDs above the limit would be taken for others in 32 bits. */
  #open(id: number): Segment {
    if (!(id > 0 && id <= highestMessageId)) throw new RangeError(`${id} is not the ID of a message`)
    const number = id >>> segmentBits
    while (this.#segments.length < number) this.#segments.push(undefined)
    const segment = this.#segments[number] ?? new Segment(number)
    this.#segments[number] = segment
    return segment
  }

  #row(view: SegmentView, id: number): Message {
    const local = id & localMask
    const { topic, thread } = this.#places.get(view.place(local))
    const { text, ...rest } = view.details.get(local) ?? {}
    const content = view.content(local)
    return {
      id,
      senderId: view.sender(local),
      ...(thread.conversationId === 0
        ? { channelId: thread.channelId, topic }
        : { conversationId: thread.conversationId }),
      time: view.time(local),
      client: this.#clients.get(view.client(local)),
      content,
      html: view.html(local, content),
      marks: view.marks(local),
      ...(!isEmpty(rest) && { details: rest }),
    }
  }

  #findPlace({ channelId, topic, conversationId }: Message): Place {
    if (conversationId !== undefined) return this.#places.ofConversation(conversationId)
    return this.#places.ofTopic(channelId!, topic!)
  }

  #index(id: number): void {
    const { thread } = this.place(id)
    thread.ids.add(id)
    if (thread.channelId !== 0) this.#indexes.channels.open(thread.channelId).add(id)
    this.#indexes.senders.open(this.sender(id)).add(id)
    if (this.details(id)?.reactions?.length) this.#indexes.reacted.add(id)
    this.#indexContent(id)
  }

  #indexContent(id: number): void {
    const details = this.details(id)
    if (details?.sentTo !== undefined) this.#oldestMoved = Math.min(this.#oldestMoved, id)
    this.#movedFrom.add(id, details?.sentTo)
    this.#indexes.addContent(id, this.marks(id), details)
  }

  #unindexContent(id: number): void {
    this.#movedFrom.remove(id, this.details(id)?.sentTo)
    this.#indexes.removeContent(id, this.marks(id), this.details(id))
  }
}

interface Head {
  readonly last_id: number
  readonly places: readonly unknown[]
  readonly clients: readonly string[]
  readonly files: readonly (string | null)[]
}
