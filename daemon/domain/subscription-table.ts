// Who follows which channel, now and before. Both directions are kept, so that neither question scans the other side.

import { paletteBit } from './subscriptions/colors.ts'

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

/** Everything one person follows or ever followed. */
interface Own {
  readonly rows: Subscription[]
  /** Colors of the palette that are in use, as bits. */
  colors: number
}

const none: ReadonlySet<number> = new Set()
const nobody: ReadonlyMap<number, Subscription> = new Map()

export class SubscriptionTable {
  readonly #channels = new Map<number, Followers>()
  /** Lists, since ten thousand people come at once more often than one of them is looked up here. */
  readonly #byUser = new Map<number, Own>()

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

  /** By user, those who left too: the live rows, to be read at once. */
  rowsOfChannel(channelId: number): ReadonlyMap<number, Subscription> {
    return this.#channels.get(channelId)?.rows ?? nobody
  }

  ofChannel(channelId: number): Subscription[] {
    return [...(this.#channels.get(channelId)?.rows.values() ?? [])]
  }

  ofUser(userId: number): Subscription[] {
    return [...this.rowsOfUser(userId)]
  }

  /** Rows of one person, channels they left too, without a copy. */
  rowsOfUser(userId: number): readonly Subscription[] {
    return this.#byUser.get(userId)?.rows ?? []
  }

  /** Colors of the palette that the person uses, as bits. */
  colorsOfUser(userId: number): number {
    return this.#byUser.get(userId)?.colors ?? 0
  }

  put(row: Subscription): void {
    this.#put(this.#followers(row.channelId), row)
  }

  /** Many people of one channel at once. */
  putAll(channelId: number, userIds: readonly number[], rowOf: (userId: number) => Subscription): void {
    const followers = this.#followers(channelId)
    for (const userId of userIds) this.#put(followers, rowOf(userId))
  }

  #followers(channelId: number): Followers {
    let followers = this.#channels.get(channelId)
    if (!followers) {
      followers = { rows: new Map(), active: new Set() }
      this.#channels.set(channelId, followers)
    }
    return followers
  }

  #put({ rows, active }: Followers, row: Subscription): void {
    const { userId } = row
    const old = rows.get(userId)
    rows.set(userId, row)
    const own = this.#byUser.get(userId)
    if (!own) this.#byUser.set(userId, { rows: [row], colors: paletteBit(row.color) })
    else if (old) {
      own.rows[own.rows.indexOf(old)] = row
      if (old.color !== row.color) own.colors = own.rows.reduce((bits, { color }) => bits | paletteBit(color), 0)
    } else {
      own.rows.push(row)
      own.colors |= paletteBit(row.color)
    }
    if (row.active) active.add(userId)
    else active.delete(userId)
  }

  save(): unknown[] {
    return [...this.#channels.values()].flatMap(({ rows }) => [...rows.values()])
  }

  load(rows: Iterable<unknown>): void {
    for (const row of rows) this.put(row as Subscription)
  }
}
