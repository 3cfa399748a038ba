// Who follows which channel, now and before. Both directions are kept, so that neither question scans the other side.
// Ten thousand people come to a channel at once: what is the same for all of them is kept once, and a person's row is put
// together when it is asked for.

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

/** What a row says, apart from whose it is. Never changed, so that many can have the same. */
export type Following = Omit<Subscription, 'channelId' | 'userId'>

/** Everyone who follows or ever followed one channel. */
interface Followers {
  readonly rows: Map<number, Following>
  /** Those who do so now. */
  readonly active: Set<number>
}

/** Everything one person follows or ever followed. */
interface Own {
  readonly channelIds: number[]
  /** Colors of the palette that are in use, as bits. */
  colors: number
}

const none: ReadonlySet<number> = new Set()
const nobody: ReadonlyMap<number, Following> = new Map()

export class SubscriptionTable {
  readonly #channels = new Map<number, Followers>()
  readonly #byUser = new Map<number, Own>()

  get(channelId: number, userId: number): Subscription | undefined {
    const following = this.#channels.get(channelId)?.rows.get(userId)
    return following && rowOf(channelId, userId, following)
  }

  isActive(channelId: number, userId: number): boolean {
    return this.#channels.get(channelId)?.active.has(userId) ?? false
  }

  /** Subscribed accounts, deactivated ones too: the live set, to be read at once. */
  activeUsers(channelId: number): ReadonlySet<number> {
    return this.#channels.get(channelId)?.active ?? none
  }

  /** By user, those who left too: the live rows, to be read at once. */
  followers(channelId: number): ReadonlyMap<number, Following> {
    return this.#channels.get(channelId)?.rows ?? nobody
  }

  /** Channels of one person, those they left too, without a copy. */
  channelsOfUser(userId: number): readonly number[] {
    return this.#byUser.get(userId)?.channelIds ?? []
  }

  ofUser(userId: number): Subscription[] {
    return this.channelsOfUser(userId).map(channelId => this.get(channelId, userId)!)
  }

  /** Colors of the palette that the person uses, as bits. */
  colorsOfUser(userId: number): number {
    return this.#byUser.get(userId)?.colors ?? 0
  }

  put({ channelId, userId, ...following }: Subscription): void {
    this.putAll(channelId, [userId], following)
  }

  /** The same for many people of one channel, each named once. */
  putAll(channelId: number, userIds: readonly number[], following: Following): void {
    const { rows, active } = this.#open(channelId)
    const bit = paletteBit(following.color)
    const isNew = rows.size === 0
    for (const userId of userIds) {
      const old = isNew ? undefined : rows.get(userId)
      rows.set(userId, following)
      if (following.active) active.add(userId)
      else active.delete(userId)
      const own = this.#byUser.get(userId)
      if (!own) this.#byUser.set(userId, { channelIds: [channelId], colors: bit })
      else if (!old) {
        own.channelIds.push(channelId)
        own.colors |= bit
      } else if (old.color !== following.color) own.colors = this.#countColors(userId)
    }
  }

  /** Rows as they are now, put together as they are asked for. */
  save(): Iterable<Subscription> {
    const channels = [...this.#channels].map(
      ([channelId, { rows }]) => [channelId, [...rows.keys()], [...rows.values()]] as const,
    )
    return (function* () {
      for (const [channelId, userIds, followings] of channels)
        for (let i = 0; i < userIds.length; i++) yield rowOf(channelId, userIds[i]!, followings[i]!)
    })()
  }

  load(rows: Iterable<unknown>): void {
    for (const row of rows) this.put(row as Subscription)
  }

  #open(channelId: number): Followers {
    let followers = this.#channels.get(channelId)
    if (!followers) {
      followers = { rows: new Map(), active: new Set() }
      this.#channels.set(channelId, followers)
    }
    return followers
  }

  #countColors(userId: number): number {
    return this.ofUser(userId).reduce((colors, { color }) => colors | paletteBit(color), 0)
  }
}

function rowOf(channelId: number, userId: number, following: Following): Subscription {
  const { active, color, muted, pinned, notifications, spans } = following
  return { channelId, userId, active, color, muted, pinned, notifications, spans }
}
