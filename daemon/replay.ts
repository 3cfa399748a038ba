// Applies facts: what each kind of fact changes in a store. The engine, maintenance, snapshot files and seeds
// all use it, so that a store that one of them can read can be read by all of them.

import type { Fact, ResourceFact } from './domain/facts.ts'
import { applyFact } from './domain/index.ts'
import type { QueueRegistration } from './domain/model/rows/queues.ts'
import { State } from './domain/model/state.ts'

/** What facts change. */
export interface Holder {
  state: State
  /** The verifier of the secret that the store was last used with; undefined if there is none. */
  secretVerifier: string | undefined
  /** ID of the newest restore from a backup; undefined if there was none. */
  restoreId: string | undefined
  readonly queues: HeldQueues
  /** The state that rows of this store describe. */
  load(sections: Readonly<Record<string, Iterable<unknown>>>): State
}

interface HeldQueues {
  register(queue: QueueRegistration, position: number): void
  acknowledge(queueId: string, upTo: number, kept?: readonly number[]): void
  remove(queueId: string): void
  /** Removes the queues of one account. */
  removeUser(userId: number): void
  /** Removes all queues. */
  clear(): void
}

const noQueues: HeldQueues = {
  register() {},
  acknowledge() {},
  remove() {},
  removeUser() {},
  clear() {},
}

/** Takes one fact. True if a resource owns it, and so announces it. */
export function takeFact(holder: Holder, position: number, fact: Fact): fact is ResourceFact {
  switch (fact.type) {
    case 'queue.registered':
      holder.queues.register(fact.queue, position)
      return false
    case 'queue.acknowledged':
      holder.queues.acknowledge(fact.queueId, fact.upTo, fact.kept)
      return false
    case 'queue.removed':
      holder.queues.remove(fact.queueId)
      return false
    case 'store.restored':
      holder.state = holder.load(fact.sections)
      holder.queues.clear()
      return false
    case 'store.put-back':
      holder.restoreId = fact.restoreId
      holder.queues.clear()
      return false
    case 'store.secret-changed':
      holder.secretVerifier = fact.verifier
      return false
    case 'store.answered':
      holder.state.answers.add(fact.answer)
      return false
    case 'user.deactivated':
    case 'user.reactivated':
      // Before the fact is announced, because a deactivated account does not get that event either.
      holder.queues.removeUser(fact.userId)
      break
    default:
  }
  // A kind of fact without a resource and without a case above is a type error here.
  applyFact(holder.state, fact)
  return true
}

/** Its sum fits, so an entry that cannot be applied was edited, or is of another version. */
export function nameFailure(position: number, apply: () => void): void {
  try {
    apply()
  } catch (error) {
    const why = (error as Error).message
    throw new Error(`entry ${position} of the journal cannot be applied; run natter store check (${why})`, {
      cause: error,
    })
  }
}

/** Rows of a snapshot, and where the files are that they name. */
export interface Saved {
  readonly sections: Readonly<Record<string, readonly unknown[]>>
  readonly readFile?: (name: string) => Uint8Array
}

/** What a store holds, without a daemon: a snapshot, and the facts that came after it. */
export class Replay implements Holder {
  state: State
  secretVerifier: string | undefined
  restoreId: string | undefined
  readonly queues: HeldQueues
  readonly #readFile: Saved['readFile']

  /** Give `queues` where they matter. */
  constructor({ sections, readFile }: Saved = { sections: {} }, queues: HeldQueues = noQueues) {
    const { store, rows } = splitSections(sections)
    this.queues = queues
    this.#readFile = readFile
    this.state = this.load(rows)
    this.secretVerifier = store?.secretVerifier
    this.restoreId = store?.restoreId
  }

  take(facts: readonly Fact[]): void {
    // Positions matter to events only.
    for (const fact of facts) takeFact(this, 0, fact)
  }

  load(sections: Readonly<Record<string, Iterable<unknown>>>): State {
    return State.load(sections, this.#readFile)
  }
}

type StoreRow = Partial<Pick<Holder, 'secretVerifier' | 'restoreId'>>

/** A snapshot of a store, taken apart: what the store remembers of itself, the event queues, and the rows of the state. */
export function splitSections(sections: Saved['sections']): {
  readonly store: StoreRow | undefined
  readonly queues: readonly unknown[]
  readonly rows: Saved['sections']
} {
  const { store = [], queues = [], ...rows } = sections
  return { store: store[0] as StoreRow | undefined, queues, rows }
}
