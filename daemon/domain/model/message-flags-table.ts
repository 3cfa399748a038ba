// The flags of people's messages, where they differ from the default: received and unread.

import { IdSet } from './message-store/index.ts'
import type { SavedFlags } from './rows/messages.ts'

const flagSets = ['read', 'unread', 'starred', 'collapsed', 'historical', 'gained', 'lost'] as const
/**
 * `read`: received and read since. `unread`: unread although the default is read, which it is for messages from before
 * the present subscription. `historical`: not received, and in the user's history all the same. `gained` and `lost`: came into
 * the user's history, or left it, when the message moved to another channel.
 */
export type FlagSet = (typeof flagSets)[number]

export type FlagsOfUser = Readonly<Record<FlagSet, IdSet>>

const nothing: FlagsOfUser = emptyFlags()

export class MessageFlagsTable {
  readonly #users = new Map<number, FlagsOfUser>()

  of(userId: number): FlagsOfUser {
    return this.#users.get(userId) ?? nothing
  }

  add(userId: number, set: FlagSet, runs: readonly number[]): void {
    this.#open(userId)[set].addRuns(runs)
  }

  remove(userId: number, set: FlagSet, runs: readonly number[]): void {
    if (this.#users.has(userId)) this.#open(userId)[set].deleteRuns(runs)
  }

  /** People who have marked anything at all. */
  users(): IterableIterator<number> {
    return this.#users.keys()
  }

  save(): unknown[] {
    const rows: unknown[] = []
    for (const [userId, flags] of this.#users) {
      const sets = flagSets.map(set => [set, flags[set].runs()] as const).filter(([, runs]) => runs.length > 0)
      if (sets.length > 0) rows.push({ userId, ...Object.fromEntries(sets) })
    }
    return rows
  }

  load(rows: Iterable<unknown>): void {
    for (const row of rows as Iterable<SavedFlags>)
      for (const set of flagSets) if (row[set]) this.add(row.userId, set, row[set])
  }

  #open(userId: number): FlagsOfUser {
    let flags = this.#users.get(userId)
    if (!flags) {
      flags = emptyFlags()
      this.#users.set(userId, flags)
    }
    return flags
  }
}

function emptyFlags(): FlagsOfUser {
  return {
    read: new IdSet(),
    unread: new IdSet(),
    starred: new IdSet(),
    collapsed: new IdSet(),
    historical: new IdSet(),
    gained: new IdSet(),
    lost: new IdSet(),
  }
}
