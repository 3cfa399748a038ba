// Runs commands: decide, append to the journal, apply, announce, reply. State changes only here. Everything up to the announcements
// runs in one turn, so the next command sees the result.

import { Boundary, closed, Defect, endedByDefect, notLeading, perhapsSaved, storeFailed } from './boundary.ts'
import type { Fact } from './domain/facts.ts'
import { announceFact } from './domain/index.ts'
import { collectRows, copyRows, filesIn } from './domain/model/saved-rows.ts'
import { State } from './domain/model/state.ts'
import { Refusal } from './domain/refusal.ts'
import type { Announcement, Mail, Outcome } from './domain/resource.ts'
import type { Queues } from './events/queues.ts'
import { compareOp, type Entry, type Journal } from './journal/journal.ts'
import { type Snapshots, stateFormat } from './journal/snapshots.ts'
import { type Holder, nameFailure, splitSections, takeFact } from './replay.ts'
import type { WrittenBudget } from './written-budget.ts'

interface EngineParts {
  readonly journal: Journal<Fact>
  /** null with `--memory`: there are no snapshots. */
  readonly snapshots: Snapshots | null
  readonly queues: Queues
  readonly now: () => number
  /** The disk failed, or a defect left the state in doubt: the engine must be replaced by one that reads the store again. */
  readonly onFailure: (error: Error) => void
  /** Where work of this world without a caller runs. Its own, if it is absent. */
  readonly boundary?: Boundary
  /** The message of refusals after a defect has ended the world. */
  readonly whenEnded?: string | undefined
  /** Called after facts were applied: timers that depend on the state may have to change. */
  readonly onChange: () => void
  /** Called with each fact before it is applied, by replay too. Absent where no history is kept. */
  readonly onFact?: (state: State, position: number, fact: Fact) => void
  /** Sends the mails of a command once its facts are on disk. Absent where nothing is sent. */
  readonly post?: (mails: readonly Mail[]) => void
  /** Deletes files that such a command no longer needs. Absent where all are kept. */
  readonly drop?: (files: readonly string[]) => void
  readonly cluster?: EngineCluster | undefined
  /** Counts what accounts write. Absent where calls are not limited. */
  readonly budget?: WrittenBudget | undefined
}

/** What an engine needs of the other daemons of its cluster. */
export interface EngineCluster {
  /** Has the leader record facts; resolves when this daemon has applied them too. */
  record(op: string, actor: number | null, facts: readonly Fact[]): Promise<void>
  /** Waits until this daemon is at the position. False when the log does not go that far. */
  reach(position: number): Promise<boolean>
  /** Called when an entry asks the daemons to compare their states, in the turn in which it is applied. */
  compare(position: number): void
}

export class Engine implements Holder {
  state = new State()
  secretVerifier: string | undefined
  restoreId: string | undefined
  /** Position of the newest snapshot, and when it was taken; undefined before the first. */
  newestSnapshot: { readonly position: number; readonly time: number } | undefined
  readonly queues: Queues
  readonly boundary: Boundary
  readonly budget: WrittenBudget | undefined
  readonly #parts: EngineParts
  /** The flush in progress; undefined when everything decided so far is on disk. */
  #flush: { readonly durable: Promise<void>; position: number; done: Promise<void> } | undefined
  #failure: Error | undefined
  /** The refusal of calls since it was closed. */
  #closed: Refusal | undefined
  #compacting: Promise<void> | undefined
  #filesInUse: () => ReadonlySet<string> = () => new Set()
  /** Whether commands are left to the leader of the cluster. */
  #following: boolean

  constructor(parts: EngineParts) {
    this.#parts = parts
    this.queues = parts.queues
    this.budget = parts.budget
    this.boundary = parts.boundary ?? new Boundary(error => this.fail(new Defect(error)))
    this.#following = parts.cluster !== undefined
  }

  /** Reads the store and runs commands from then on. */
  async boot(): Promise<void> {
    await this.read()
    await this.lead()
  }

  /** Reads the snapshot, and applies the entries after it. */
  async read(): Promise<void> {
    const { journal, snapshots, queues } = this.#parts
    const saved = (await snapshots?.read()) ?? null
    const after = saved?.position ?? 0
    let hasQueues = false
    const expectQueues = async () => {
      hasQueues = true
      queues.expectRemoved(await this.#queuesRemovedAfter(after))
    }
    if (saved) {
      const { store, queues: savedQueues, rows } = splitSections(saved.sections)
      if (savedQueues.length > 0) await expectQueues()
      this.secretVerifier = store?.secretVerifier
      this.restoreId = store?.restoreId
      this.newestSnapshot = { position: saved.position, time: saved.time }
      this.state = saved.edited ? await this.#loadEdited(saved.sections) : this.load(rows)
      queues.load(savedQueues)
    }
    for await (const entries of journal.replayFacts(after))
      for (const { position, facts } of entries) {
        if (!hasQueues && facts.some(({ type }) => type === 'queue.registered')) await expectQueues()
        nameFailure(position, () => this.#take(position, facts))
      }
    queues.release(journal.position)
  }

  /** From here on facts come from the log of the cluster, by `take`, until this engine leads. */
  follow(): void {
    this.queues.resume(this.position)
  }

  /** Applies entries that the leader has committed. */
  take(entries: readonly Entry<Fact>[]): void {
    for (const { position, facts, op } of entries) this.#take(position, facts, op)
    this.queues.release(this.position)
    this.#parts.onChange()
  }

  /** From here on this engine runs commands. Its state must have everything that is committed. */
  async lead(): Promise<void> {
    const { journal, queues } = this.#parts
    this.#following = false
    // The IDs of signals sent since the newest entry are not known, and must not be used again. A new entry has IDs of its own.
    if (journal.position > 0) await this.record('start', null, [])
    queues.resume(journal.position)
  }

  /**
   * Runs a command. Returns the reply immediately if everything that the command has read or written is on disk, else a
   * promise that waits for it: after a crash, no client may know something that the store does not have.
   */
  run<Reply>(op: string, actor: number | null, decide: (state: State) => Outcome<Reply>): Reply | Promise<Reply> {
    this.mustBeOpen()
    let outcome: Outcome<Reply>
    try {
      outcome = decide(this.state)
    } catch (refusal) {
      // A refusal waits for the disk too, because it tells something about the state.
      if (!this.#flush) throw refusal
      return this.#flush.done.then(() => Promise.reject(refusal))
    }
    const { facts, signals, mails, dropped, touch, refusal, causedBy = actor, reply } = outcome
    if (facts && facts.length > 0 && this.#following) throw notLeading()
    if (touch) this.#change(() => touch(this.state))
    if (facts && facts.length > 0) this.#append(op, actor, facts, causedBy)
    if (signals && signals.length > 0) {
      if (this.queues.full(signals, this.position)) this.#append('tick', null, [])
      this.#change(() => this.#push(signals))
    }
    const finish = () => {
      if (mails && mails.length > 0) this.#parts.post?.(mails)
      if (dropped) this.#parts.drop?.(dropped)
      if (refusal) throw refusal
      return reply
    }
    if (!this.#flush || (touch && !facts)) return finish()
    const { done } = this.#flush
    return facts && facts.length > 0 ? done.then(finish, refusal => this.#refuseChange(refusal)) : done.then(finish)
  }

  /** Repeats the signals of a command that another daemon has run, and its changes of presence. */
  repeat(signals: readonly Announcement[], touch: Outcome<object>['touch']): void {
    this.mustBeOpen()
    this.#change(() => {
      touch?.(this.state)
      if (signals.length > 0) this.#push(signals)
    })
  }

  /** Waits until this daemon is at a position that another one has delivered events of. False if the log does not go that far. */
  async reach(position: number): Promise<boolean> {
    const isReached = await this.#parts.cluster?.reach(position)
    this.mustBeOpen()
    return isReached ?? false
  }

  /** Deletes those of these files that nothing in the state refers to. */
  dropFiles(files: readonly string[]): void {
    this.#parts.drop?.(files)
  }

  /** Records facts without a command, for work of the daemon itself. */
  async record(op: string, actor: number | null, facts: readonly Fact[]): Promise<void> {
    this.mustBeOpen()
    if (this.#following) {
      this.budget?.spend(this.state, actor, JSON.stringify(facts).length)
      await this.#parts.cluster!.record(op, actor, facts)
      // An engine that was replaced meanwhile does not apply them: a poll would get events that it has just acknowledged.
      return this.mustBeOpen()
    }
    this.#append(op, actor, facts)
    await this.settled()
  }

  /** Replaces the state by another one, by a fact. All queues end: their clients have events of the old state. */
  async restore(op: string, sections: Readonly<Record<string, readonly unknown[]>>): Promise<void> {
    // With all messages as rows, because files that it names may be gone when the entry is read again.
    await this.record(op, null, [{ type: 'store.restored', sections: copyRows(this.whole(sections)) }])
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

  /** Fails when the folder of the store was removed or replaced, which an engine without writes would not notice. */
  checkStore(): void {
    const lost = this.#failure ? undefined : this.#parts.journal.lost()
    if (lost) this.fail(lost)
  }

  /** Refuses everything from now on, and writes nothing more. */
  fail(error: Error): void {
    if (this.#failure) return
    this.#failure = error
    this.#parts.journal.abandon(error)
    this.#parts.onFailure(error)
  }

  /** Refuses what comes after it has failed or was closed. */
  mustBeOpen(): void {
    if (this.#failure) throw this.#notReady()
    if (this.#closed) throw this.#closed
  }

  /** The refusal of calls since it has failed. */
  get failure(): Refusal | undefined {
    return this.#failure && this.#notReady()
  }

  /** Writes a snapshot between requests, and deletes the part of the journal that it covers. */
  compact(): Promise<void> {
    this.#compacting ??= this.#compact().finally(() => {
      this.#compacting = undefined
    })
    return this.#compacting
  }

  /** Every call after this is refused. */
  async close(why?: string): Promise<void> {
    // The caller of `compact` hears why it failed.
    await this.#compacting?.catch(() => {})
    await this.settled().catch(() => {})
    this.#closed = closed(why)
    await this.#parts.journal.close()
  }

  /** Files that these states need stay in the store, even if the current state does not need them. */
  keepFiles(states: () => Iterable<Readonly<Record<string, readonly unknown[]>>>): void {
    this.#filesInUse = () => new Set([...states()].flatMap(filesIn))
  }

  /** The state as rows, for `restore`. */
  sections(): Record<string, unknown[]> {
    return collectRows(this.state.save())
  }

  /** The same state with all its messages as rows, also those that are in files of this store. */
  whole(sections: Readonly<Record<string, readonly unknown[]>>): Readonly<Record<string, readonly unknown[]>> {
    return filesIn(sections).length === 0 ? sections : collectRows(this.load(sections).save(true))
  }

  /** Begins with rows of another world, before anything has happened in this one. */
  begin(sections: Readonly<Record<string, readonly unknown[]>>): void {
    this.state = State.load(copyRows(sections))
  }

  /** The sections of a snapshot. */
  save(): Record<string, Iterable<unknown>> {
    const { secretVerifier, restoreId } = this
    return { store: [{ secretVerifier, restoreId }], ...this.state.save(), queues: this.queues.save() }
  }

  /** Loads a state that was saved from this world. */
  load(sections: Readonly<Record<string, Iterable<unknown>>>): State {
    return State.load(sections, name => this.#parts.snapshots!.file(name))
  }

  get position(): number {
    return this.#parts.journal.position
  }

  /** Checks every row: edits by hand can be anything. */
  async #loadEdited(sections: Readonly<Record<string, readonly unknown[]>>): Promise<State> {
    const { loadChecked } = await import('./domain/row-checks/index.ts')
    try {
      return await loadChecked(sections, async () => {}, { fileOf: name => this.#parts.snapshots!.file(name) })
    } catch (error) {
      throw new Error(`state.json was edited and cannot be used: ${(error as Error).message}`)
    }
  }

  /** IDs of queues that end before the end of the journal. The replay skips them: filling them would be most of the work of a start. */
  async #queuesRemovedAfter(position: number): Promise<Set<string>> {
    const removed = new Set<string>()
    for await (const { facts } of this.#parts.journal.find(position, '"type":"queue.removed"'))
      for (const fact of facts) if (fact.type === 'queue.removed') removed.add(fact.queueId)
    return removed
  }

  #append(op: string, actor: number | null, facts: readonly Fact[], causedBy = actor): void {
    const { journal, now } = this.#parts
    // The text of a whole organization takes long.
    const written = journal.forgets && facts[0]?.type === 'store.restored' ? [] : facts
    const { position, bytes, durable } = journal.append({ time: now(), actor, op, facts: written })
    this.budget?.spend(this.state, causedBy, bytes)
    this.#change(() => {
      this.#take(position, facts, op)
      this.#parts.onChange()
    })
    // One handler per flush, added before any other: queues get an event just before the reply of the command that caused it is sent.
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
    // During a flush they are released with it, after the events before them.
    if (!this.#flush) this.queues.release(this.position)
  }

  /** Changes the state or the queues. An error half-way leaves them in doubt, and ends the world. */
  #change(work: () => void): void {
    try {
      work()
    } catch (error) {
      // Refusing is too late here, so a refusal is a defect too.
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

  /** In a cluster, facts whose commit failed may be in the log all the same, and be found by the next leader. */
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
    // In one turn with the request for the seal: so state, queues and position belong together, and the snapshot ends exactly
    // where a segment ends.
    const sealing = journal.seal()
    const files = this.state.files(journal.position)
    const document = { format: stateFormat, position: journal.position, time: now(), sections: this.save(), files }
    const sealed = await sealing
    await snapshots.write(document, this.#filesInUse)
    this.newestSnapshot = { position: document.position, time: document.time }
    await journal.forget(sealed)
  }
}
