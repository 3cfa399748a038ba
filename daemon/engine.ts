// Runs commands: decide, append to the journal, apply, announce, reply. State changes only here. Everything up to the announcements
// runs in one turn, so the next command sees the result.

import { Boundary, Defect, endedByDefect, notLeading, perhapsSaved, storeFailed } from './boundary.ts'
import type { Fact } from './domain/facts.ts'
import { announceFact } from './domain/index.ts'
import { collectRows, filesIn } from './domain/model/saved-rows.ts'
import { State } from './domain/model/state.ts'
import { Refusal } from './domain/refusal.ts'
import type { Announcement, Mail, Outcome } from './domain/resource.ts'
import type { Queues } from './events/queues.ts'
import { compareOp, type Entry, type Journal } from './journal/journal.ts'
import { type Snapshots, stateFormat } from './journal/snapshots.ts'
import { type Holder, splitSections, takeFact } from './replay.ts'

interface EngineParts {
  readonly journal: Journal<Fact>
  /** null: nothing to start from and nowhere to save to (`--memory`). */
  readonly snapshots: Snapshots | null
  readonly queues: Queues
  readonly now: () => number
  /** The disk failed, or a defect left memory in doubt: only a restart may go on. */
  readonly onFailure: (error: Error) => void
  /** What in this world runs without a caller. Its own, if it is absent. */
  readonly boundary?: Boundary
  /** The refusal that callers get after that. */
  readonly whenEnded?: string | undefined
  /** Facts were taken: what is planned may have changed. */
  readonly onChange: () => void
  /** Called with each fact before it is applied, by replay too. Absent where no history is kept. */
  readonly onFact?: (state: State, position: number, fact: Fact) => void
  /** Mails of commands whose facts are on disk. Absent where nothing is sent. */
  readonly post?: (mails: readonly Mail[]) => void
  /** Files beside the store that such a command gave up. Absent where all are kept. */
  readonly drop?: (files: readonly string[]) => void
  /** The other daemons, where there are some. */
  readonly cluster?: EngineCluster | undefined
}

/** What an engine that does not lead its cluster needs of the others. After a change of the leader another engine may have the facts. */
export interface EngineCluster {
  /** Has facts recorded by the leader; resolves when this daemon has taken them. */
  record(op: string, actor: number | null, facts: readonly Fact[]): Promise<void>
  /** Waits until this daemon is at the position. False when the log does not go that far. */
  reach(position: number): Promise<boolean>
  /** An entry asks every daemon to compare its state. Called in the turn in which the state is that of the position. */
  compare(position: number): void
}

export class Engine implements Holder {
  state = new State()
  secretVerifier: string | undefined
  restoreId: string | undefined
  readonly queues: Queues
  readonly boundary: Boundary
  readonly #parts: EngineParts
  /** The newest flush that something waits for; undefined when everything decided so far is on disk. */
  #flush: { readonly durable: Promise<void>; position: number; done: Promise<void> } | undefined
  #failure: Error | undefined
  /** What callers are answered since it was closed. */
  #closed: string | undefined
  #compacting: Promise<void> | undefined
  #filesInUse: () => ReadonlySet<string> = () => new Set()
  #newestSnapshot: { readonly position: number; readonly time: number } | undefined
  /** Whether another daemon decides. */
  #following: boolean

  constructor(parts: EngineParts) {
    this.#parts = parts
    this.queues = parts.queues
    this.boundary = parts.boundary ?? new Boundary(error => this.fail(new Defect(error)))
    this.#following = parts.cluster !== undefined
  }

  /** Reads the store and begins to decide. */
  async boot(): Promise<void> {
    await this.read()
    await this.lead()
  }

  /** Snapshot, then what came after it. */
  async read(): Promise<void> {
    const { journal, snapshots, queues } = this.#parts
    const saved = (await snapshots?.read()) ?? null
    const after = saved?.position ?? 0
    let hasQueues = false
    const expectQueues = async () => {
      hasQueues = true
      queues.expectGone(await this.#queuesRemovedAfter(after))
    }
    if (saved) {
      const { store, queues: savedQueues, rows } = splitSections(saved.sections)
      if (savedQueues.length > 0) await expectQueues()
      this.secretVerifier = store?.secretVerifier
      this.restoreId = store?.restoreId
      this.#newestSnapshot = { position: saved.position, time: saved.time }
      this.state = saved.edited ? await this.#loadEdited(saved.sections) : this.load(rows)
      queues.load(savedQueues)
    }
    for await (const entries of journal.replayFacts(after))
      for (const { position, facts } of entries) {
        if (!hasQueues && facts.some(({ type }) => type === 'queue.registered')) await expectQueues()
        this.#take(position, facts)
      }
    queues.release(journal.position)
  }

  /** From here on facts come from the log, by `take`, until this engine leads. */
  follow(): void {
    this.queues.resume(this.position)
  }

  /** What the leader has committed. */
  take(entries: readonly Entry<Fact>[]): void {
    for (const { position, facts, op } of entries) this.#take(position, facts, op)
    this.queues.release(this.position)
    this.#parts.onChange()
  }

  /** From here on this engine decides. Its state must have everything that is committed. */
  async lead(): Promise<void> {
    const { journal, queues } = this.#parts
    this.#following = false
    // Signals sent since the newest entry are forgotten, and their event IDs must not be used again: start at a new position.
    if (journal.position > 0) await this.record('start', null, [])
    queues.resume(journal.position)
  }

  /**
   * Runs a command. The reply is handed over only when everything it could have seen is on disk: no reader may
   * remember what a crash forgets. If all of it already is, the reply is immediate.
   */
  run<Reply>(op: string, actor: number | null, decide: (state: State) => Outcome<Reply>): Reply | Promise<Reply> {
    this.#mustBeOpen()
    let outcome: Outcome<Reply>
    try {
      outcome = decide(this.state)
    } catch (refusal) {
      // A refusal is an answer too: it may rest on what is not yet on disk.
      if (!this.#flush) throw refusal
      return this.#flush.done.then(() => Promise.reject(refusal))
    }
    const { facts, signals, mails, dropped, touch, refusal, reply } = outcome
    if (facts && facts.length > 0 && this.#following) throw notLeading()
    if (touch) this.#change(() => touch(this.state))
    if (facts && facts.length > 0) this.#append(op, actor, facts)
    if (signals && signals.length > 0) {
      if (this.queues.full(signals, this.position)) this.#append('tick', null, [])
      this.#change(() => this.#push(signals))
    }
    const hand = () => {
      if (mails && mails.length > 0) this.#parts.post?.(mails)
      if (dropped) this.#parts.drop?.(dropped)
      if (refusal) throw refusal
      return reply
    }
    if (!this.#flush || (touch && !facts)) return hand()
    const { done } = this.#flush
    return facts && facts.length > 0 ? done.then(hand, refusal => this.#refuseChange(refusal)) : done.then(hand)
  }

  /** Signals that another daemon has sent to its own queues, and what goes with them. */
  tell(signals: readonly Announcement[], touch: Outcome<object>['touch']): void {
    this.#mustBeOpen()
    this.#change(() => {
      touch?.(this.state)
      if (signals.length > 0) this.#push(signals)
    })
  }

  /** Whether a queue may have sent this event to a client: not here, but perhaps at another daemon. */
  async toldElsewhere(position: number): Promise<boolean> {
    const isTold = await this.#parts.cluster?.reach(position)
    this.#mustBeOpen()
    return isTold ?? false
  }

  /** Deletes those of these files that nothing in the state refers to. */
  dropFiles(files: readonly string[]): void {
    this.#parts.drop?.(files)
  }

  /** The system's own work: facts without a command. */
  async record(op: string, actor: number | null, facts: readonly Fact[]): Promise<void> {
    this.#mustBeOpen()
    if (this.#following) {
      await this.#parts.cluster!.record(op, actor, facts)
      // An engine that was replaced meanwhile never takes them: a poll would get events that it has just acknowledged.
      return this.#mustBeOpen()
    }
    this.#append(op, actor, facts)
    await this.settled()
  }

  /** Replaces this state by another one, as a fact like any other. All queues end: the events they delivered are no longer true. */
  async restore(op: string, sections: Readonly<Record<string, readonly unknown[]>>): Promise<void> {
    // Whole, because the files that it names may be gone when the entry is read again. Copied, because rows of a saved state are
    // shared with the state it was saved from.
    const own = JSON.parse(JSON.stringify(this.whole(sections)))
    await this.record(op, null, [{ type: 'store.restored', sections: own }])
  }

  /**
   * Begins with a state from elsewhere instead of founding one, before any request is served. A crash before the snapshot is
   * written leaves the store as empty as it was.
   */
  async adopt(state: State): Promise<void> {
    this.state = state
    await this.compact()
  }

  /** Waits until everything decided so far is on disk. */
  async settled(): Promise<void> {
    await this.#flush?.done
  }

  /** Fails when the store is gone from under it; writes notice that by themselves. */
  checkStore(): void {
    const lost = this.#failure ? undefined : this.#parts.journal.lost()
    if (lost) this.fail(lost)
  }

  /** Ends it: everything from now on is refused, and nothing more is written. */
  fail(error: Error): void {
    if (this.#failure) return
    this.#failure = error
    this.#parts.journal.abandon(error)
    this.#parts.onFailure(error)
  }

  /** What callers are answered since it has failed. */
  get failure(): Refusal | undefined {
    return this.#failure && this.#notReady()
  }

  /** Writes a snapshot beside the traffic and forgets the journal it covers. */
  compact(): Promise<void> {
    this.#compacting ??= this.#compact().finally(() => {
      this.#compacting = undefined
    })
    return this.#compacting
  }

  /** Every call after this is refused. */
  async close(why = 'The daemon is stopping.'): Promise<void> {
    await this.#compacting
    await this.settled().catch(() => {})
    this.#closed = why
    await this.#parts.journal.close()
  }

  /** Files that these states need stay in the store, even if the current state does not need them. */
  keepFiles(states: () => Iterable<Readonly<Record<string, readonly unknown[]>>>): void {
    this.#filesInUse = () => new Set([...states()].flatMap(filesIn))
  }

  /** The state as rows, to go back to. */
  sections(): Record<string, unknown[]> {
    return collectRows(this.state.save())
  }

  /** The same state with all its messages as rows, also those that are in files of this store. */
  whole(sections: Readonly<Record<string, readonly unknown[]>>): Readonly<Record<string, readonly unknown[]>> {
    return filesIn(sections).length === 0 ? sections : collectRows(this.load(sections).save(true))
  }

  /**
   * Begins with rows of another world, before anything has happened in this one. Each row is copied: what is worked out
   * from a row is remembered by the row, and the same one must not be in two worlds. What rows hold never changes.
   */
  begin(sections: Readonly<Record<string, readonly unknown[]>>): void {
    const own = Object.entries(sections).map(([name, rows]) => [name, rows.map(row => ({ ...(row as object) }))])
    this.state = State.load(Object.fromEntries(own))
  }

  /** What a snapshot taken now would hold. */
  save(): Record<string, Iterable<unknown>> {
    const { secretVerifier, restoreId } = this
    return { store: [{ secretVerifier, restoreId }], ...this.state.save(), queues: this.queues.save() }
  }

  /** A state that was saved from this world. */
  load(sections: Readonly<Record<string, Iterable<unknown>>>): State {
    return State.load(sections, name => this.#parts.snapshots!.file(name))
  }

  /** Position of the newest snapshot, and when it was taken; undefined before the first. */
  get newestSnapshot(): { readonly position: number; readonly time: number } | undefined {
    return this.#newestSnapshot
  }

  get position(): number {
    return this.#parts.journal.position
  }

  /** What was changed by hand can be anything, so every row is checked. */
  async #loadEdited(sections: Readonly<Record<string, readonly unknown[]>>): Promise<State> {
    const { loadChecked } = await import('./domain/row-checks/index.ts')
    try {
      return await loadChecked(
        sections,
        async () => {},
        name => this.#parts.snapshots!.file(name),
      )
    } catch (error) {
      throw new Error(`state.json was edited and cannot be used: ${(error as Error).message}`)
    }
  }

  /** Queues that end before the end of the journal are left out of the replay: filling them would be most of the work of a start. */
  async #queuesRemovedAfter(position: number): Promise<Set<string>> {
    const removed = new Set<string>()
    for await (const { facts } of this.#parts.journal.find(position, '"type":"queue.removed"'))
      for (const fact of facts) if (fact.type === 'queue.removed') removed.add(fact.queueId)
    return removed
  }

  #append(op: string, actor: number | null, facts: readonly Fact[]): void {
    const { journal, now } = this.#parts
    const { position, durable } = journal.append({ time: now(), actor, op, facts })
    this.#change(() => {
      this.#take(position, facts, op)
      this.#parts.onChange()
    })
    // One handler per flush, set before anyone waits: queues hear of a fact just before its author's reply is sent.
    if (this.#flush?.durable === durable) this.#flush.position = position
    else {
      const flush = { durable, position, done: Promise.resolve() }
      flush.done = durable.then(
        () => {
          if (this.#flush === flush) this.#flush = undefined
          this.#change(() => this.queues.release(flush.position))
        },
        (error: Error) => {
          this.fail(error)
          throw this.#notReady()
        },
      )
      flush.done.catch(() => {})
      this.#flush = flush
    }
  }

  #push(signals: readonly Announcement[]): void {
    this.queues.push(this.position, signals, false)
    // Otherwise they go with the flush that everything before them waits for.
    if (!this.#flush) this.queues.release(this.position)
  }

  /** Changes memory. A change that stops half-way leaves it in doubt, and ends the world. */
  #change(work: () => void): void {
    try {
      work()
    } catch (error) {
      // A refusal comes too late here: it is a defect like any other.
      this.boundary.fail(error instanceof Refusal ? new Error(error.message, { cause: error }) : error)
      throw this.#notReady()
    }
  }

  #take(position: number, facts: readonly Fact[], op?: string): void {
    for (const fact of facts) {
      this.#parts.onFact?.(this.state, position, fact)
      if (!takeFact(this, position, fact)) continue
      if (fact.type === 'user.key-regenerated') this.queues.interrupt(fact.userId)
      if (this.queues.listened) this.queues.push(position, announceFact(this.state, fact))
    }
    if (op === compareOp) this.#parts.cluster?.compare(position)
  }

  #mustBeOpen(): void {
    if (this.#failure) throw this.#notReady()
    if (this.#closed !== undefined) throw new Refusal(this.#closed, { code: 'SERVER_NOT_READY' })
  }

  /** The journal could not say whether it has the facts: in a cluster, another daemon may find them in the log. */
  #refuseChange(refusal: unknown): never {
    throw this.#parts.cluster && !(this.#failure instanceof Defect) ? perhapsSaved() : refusal
  }

  #notReady(): Refusal {
    if (this.#failure instanceof Defect) return endedByDefect(this.#parts.whenEnded)
    return this.#parts.cluster ? notLeading() : storeFailed()
  }

  async #compact(): Promise<void> {
    const { journal, snapshots, now } = this.#parts
    if (!snapshots) return
    // Taken in the same turn as the seal is asked for: state, queues and position belong together, and the snapshot
    // sits exactly on the boundary between two segments.
    const sealing = journal.seal()
    const files = this.state.files(journal.position)
    const document = { format: stateFormat, position: journal.position, time: now(), sections: this.save(), files }
    const sealed = await sealing
    await snapshots.write(document, this.#filesInUse)
    this.#newestSnapshot = { position: document.position, time: document.time }
    await journal.forget(sealed)
  }
}
