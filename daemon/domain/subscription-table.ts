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

/** Everyone who follows or ever followed one channel. */
interface Followers {
  readonly rows: Map<number, Subscription>
  /** Those who do so now. */
  readonly active: Set<number>
}

const none: ReadonlySet<number> = new Set()

export class SubscriptionTable {
  readonly #channels = new Map<number, Followers>()
  /** Lists, since ten thousand people come at once more often than one of them is looked up here. */
  readonly #byUser = new Map<number, Subscription[]>()

  get(channelId: number, userId: number): Subscription | undefined {
    return this.#channels.get(channelId)?.rows.get(userId)
  }

  isActive(channelId: number, userId: number): boolean {
    return this.#channels.get(channelId)?.active.has(userId) ?? false
  }

  /** Subscribed accounts, deactivated ones too: the live set, to be read at once. */
  activeUsers(channelId: number): ReadonlySet<number> {
    return this.#channels.get(channelId)?.active ?? none
  }

  ofChannel(channelId: number): Subscription[] {
    return [...(this.#channels.get(channelId)?.rows.values() ?? [])]
  }

  ofUser(userId: number): Subscription[] {
    return [...this.rowsOfUser(userId)]
  }

  /** Rows of one person, channels they left too, without a copy. */
  rowsOfUser(userId: number): readonly Subscription[] {
    return this.#byUser.get(userId) ?? []
  }

  put(row: Subscription): void {
    const { channelId, userId } = row
    let followers = this.#channels.get(channelId)
    if (!followers) {
      followers = { rows: new Map(), active: new Set() }
      this.#channels.set(channelId, followers)
    }
    const old = followers.rows.get(userId)
    followers.rows.set(userId, row)
    const own = this.#byUser.get(userId)
    if (!own) this.#byUser.set(userId, [row])
    else if (old) own[own.indexOf(old)] = row
    else own.push(row)
    if (row.active) followers.active.add(userId)
    else followers.active.delete(userId)
  }

  save(): unknown[] {
    return [...this.#channels.values()].flatMap(({ rows }) => [...rows.values()])
  }

  load(rows: Iterable<unknown>): void {
    for (const row of rows) this.put(row as Subscription)
  }
}
