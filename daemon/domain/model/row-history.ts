// Earlier versions of rows, so that a rule can be asked about the state at an earlier position of the journal. Only
// the rows that decide who receives a message are followed.

import type { Following } from './rows/channels.ts'
import type { Channel, Group, State, User } from './state.ts'

interface Change {
  readonly position: number
  readonly table: Table
  readonly key: number | string
  /** undefined: there was none. */
  readonly before: object | undefined
  /** Bytes, about. */
  readonly size: number
}

interface Past {
  readonly position: number
  /** Rows that have changed since, as they were. */
  readonly before: ReadonlyMap<Table, ReadonlyMap<number | string, object | undefined>>
  readonly state: State
}

const tables = ['users', 'groups', 'channels', 'userTopics', 'mutedUsers'] as const

type Table = (typeof tables)[number] | 'subscriptions'

/** Bytes of the changes that are remembered, about. Most take 64. */
const most = 16 * 1024 * 1024
const least = 64

export class RowHistory {
  #state: State | undefined
  #changes: Change[] = []
  #size = 0
  #position = 0
  /** How things were at earlier positions is not known. */
  #reach = 0
  /** The last answer, which many questions in a row ask for. */
  #past: Past | undefined

  /** Remembers what changes in this state from now on. */
  follow(state: State, position: number): void {
    for (const name of tables) if (this.#state) this.#state[name].onChange = undefined
    if (this.#state) this.#state.subscriptions.onChange = undefined
    this.#state = state
    this.#past = undefined
    this.#changes = []
    this.#size = 0
    this.#position = position
    this.#reach = position
    for (const name of tables)
      state[name].onChange = (key: number | string, before: object | undefined) => this.#add(name, key, before)
    state.subscriptions.onChange = (channelId, userId, before) =>
      this.#add('subscriptions', subscriptionKey(channelId, userId), before)
  }

  /** What changes next belongs to this position. */
  moveTo(position: number): void {
    this.#position = position
  }

  get state(): State | undefined {
    return this.#state
  }

  /** The earliest position whose state is known. */
  get reach(): number {
    return this.#reach
  }

  /** Whether the account already existed after the entry at this position. */
  existed(userId: number, position: number): boolean {
    const changed = this.#pastAt(position).before.get('users')
    return changed?.has(userId) ? changed.get(userId) !== undefined : this.#state!.users.has(userId)
  }

  /** The state as it was after the entry at this position; where that is not known, as far back as it is. */
  stateAt(position: number): State {
    return this.#pastAt(position).state
  }

  #pastAt(position: number): Past {
    if (this.#past?.position === position) return this.#past
    const before = this.#rowsBefore(position)
    this.#past = { position, before, state: this.#rebuild(before) }
    return this.#past
  }

  #rowsBefore(position: number): Past['before'] {
    const before = new Map<Table, Map<number | string, object | undefined>>()
    // The first change after the position says how the row was until then.
    for (let i = this.#firstAfter(position); i < this.#changes.length; i++) {
      const { table, key, before: row } = this.#changes[i]!
      const rows = before.get(table) ?? new Map<number | string, object | undefined>()
      before.set(table, rows)
      if (!rows.has(key)) rows.set(key, row)
    }
    return before
  }

  #rebuild(before: Past['before']): State {
    const state = this.#state!
    if (before.size === 0) return state
    const listRows = (table: Table) => [...(before.get(table)?.values() ?? [])].filter(row => row !== undefined)
    const then = state.with({
      users: listRows('users') as User[],
      groups: listRows('groups') as Group[],
      channels: listRows('channels') as Channel[],
    })
    const past = (table: 'userTopics' | 'mutedUsers') => ({
      value: pastTable(state[table] as never, before.get(table)),
    })
    return Object.create(then, {
      userTopics: past('userTopics'),
      mutedUsers: past('mutedUsers'),
      subscriptions: { value: pastSubscriptions(state, before.get('subscriptions')) },
    })
  }

  #add(table: Table, key: number | string, before: object | undefined): void {
    const size = least + (growing.has(table) ? measure(before) : 0)
    this.#changes.push({ position: this.#position, table, key, before, size })
    this.#size += size
    this.#past = undefined
    // Cut in halves: taking one off the front of a long list each time would cost its length.
    if (this.#size < 2 * most) return
    let first = 0
    while (this.#size > most) this.#size -= this.#changes[first++]!.size
    this.#reach = this.#changes[first - 1]!.position
    this.#changes = this.#changes.slice(first)
  }

  #firstAfter(position: number): number {
    let [low, high] = [0, this.#changes.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if (this.#changes[middle]!.position > position) high = middle
      else low = middle + 1
    }
    return low
  }
}

/** Rows with lists and texts of any length. */
const growing: ReadonlySet<Table> = new Set(['users', 'groups', 'channels'])

function measure(value: unknown): number {
  if (typeof value === 'string') return value.length
  if (Array.isArray(value)) return 8 * value.length
  if (typeof value !== 'object' || value === null) return 8
  let size = 0
  for (const part of Object.values(value)) size += measure(part)
  return size
}

interface Lookup {
  get(key: number | string): object | undefined
}

function pastTable(now: Lookup, before: ReadonlyMap<number | string, object | undefined> = new Map()): Lookup {
  return { get: key => (before.has(key) ? before.get(key) : now.get(key)) }
}

/** As much of the table as rules ask. */
function pastSubscriptions(state: State, before: ReadonlyMap<number | string, object | undefined> = new Map()) {
  const get = (channelId: number, userId: number): Following | undefined => {
    const key = subscriptionKey(channelId, userId)
    return before.has(key)
      ? (before.get(key) as Following | undefined)
      : state.subscriptions.followers(channelId).get(userId)
  }
  return { get, isActive: (channelId: number, userId: number) => get(channelId, userId)?.active === true }
}

function subscriptionKey(channelId: number, userId: number): string {
  return `${channelId}/${userId}`
}
