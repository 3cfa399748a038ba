// Who follows which channel, now and before. Both directions are kept, so that neither question scans the other side.

export interface Subscription {
  readonly channelId: number
  readonly userId: number
  readonly active: boolean
  readonly color: string
  readonly muted: boolean
  readonly pinned: boolean
  /** null: as the user's own settings say. */
  readonly notifications: {
    readonly desktop: boolean | null
    readonly audible: boolean | null
    readonly push: boolean | null
    readonly email: boolean | null
    readonly wildcardMentions: boolean | null
  }
  /**
   * When the user was subscribed, as message IDs between `after` and `upTo`, both left out; upTo is absent while it
   * lasts. Who received a message follows from this, so a send costs the same however many listen.
   */
  readonly spans: readonly (readonly [after: number, upTo?: number])[]
}

const none: ReadonlySet<number> = new Set()

export class SubscriptionTable {
  readonly #byChannel = new Map<number, Map<number, Subscription>>()
  readonly #byUser = new Map<number, Map<number, Subscription>>()
  readonly #active = new Map<number, Set<number>>()

  get(channelId: number, userId: number): Subscription | undefined {
    return this.#byChannel.get(channelId)?.get(userId)
  }

  isActive(channelId: number, userId: number): boolean {
    return this.#active.get(channelId)?.has(userId) ?? false
  }

  /** Subscribed accounts, deactivated ones too: the live set, to be read at once. */
  activeUsers(channelId: number): ReadonlySet<number> {
    return this.#active.get(channelId) ?? none
  }

  ofChannel(channelId: number): Subscription[] {
    return [...(this.#byChannel.get(channelId)?.values() ?? [])]
  }

  ofUser(userId: number): Subscription[] {
    return [...(this.#byUser.get(userId)?.values() ?? [])]
  }

  /** Rows of one person, channels they left too, without a copy. */
  rowsOfUser(userId: number): Iterable<Subscription> {
    return this.#byUser.get(userId)?.values() ?? []
  }

  put(row: Subscription): void {
    inner(this.#byChannel, row.channelId).set(row.userId, row)
    inner(this.#byUser, row.userId).set(row.channelId, row)
    let active = this.#active.get(row.channelId)
    if (!active) {
      active = new Set()
      this.#active.set(row.channelId, active)
    }
    if (row.active) active.add(row.userId)
    else active.delete(row.userId)
  }

  save(): unknown[] {
    return [...this.#byChannel.values()].flatMap(rows => [...rows.values()])
  }

  load(rows: Iterable<unknown>): void {
    for (const row of rows) this.put(row as Subscription)
  }
}

function inner(outer: Map<number, Map<number, Subscription>>, key: number): Map<number, Subscription> {
  let rows = outer.get(key)
  if (!rows) {
    rows = new Map()
    outer.set(key, rows)
  }
  return rows
}
