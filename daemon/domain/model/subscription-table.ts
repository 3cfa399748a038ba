// Subscriptions, present and former. Kept by channel and by user, so that neither lookup scans the other side.
// Ten thousand people come to a channel at once: what is the same for all of them is kept once, and a person's row is put
// together when it is asked for.

import { paletteBit } from '../values/color-palette.ts'
import { Chains, grown } from './chains.ts'
import { Followers } from './followers.ts'
import type { Following, Subscription, Subscriptions } from './rows/channels.ts'

/** More people than this are saved in several groups, so that none takes long to write. */
const largestGroup = 10_000

const noFollowers = new Followers()

export class SubscriptionTable {
  readonly #channels = new Map<number, Followers>()
  /** By user: what they follow or ever followed. */
  readonly #channelIds = new Chains()
  /** By user: colors of the palette that are in use, as bits. */
  #colors = new Int32Array(1024)
  /** Called with what a subscription was before it changed; undefined where there was none. */
  onChange: ((channelId: number, userId: number, before: Following | undefined) => void) | undefined

  get(channelId: number, userId: number): Subscription | undefined {
    const following = this.followers(channelId).get(userId)
    return following && { channelId, userId, ...inOrder(following) }
  }

  isActive(channelId: number, userId: number): boolean {
    return this.followers(channelId).has(userId)
  }

  /** The live rows of a channel, to be read at once. */
  followers(channelId: number): Omit<Followers, 'put'> {
    return this.#channels.get(channelId) ?? noFollowers
  }

  /** Channels of one person, those they left too. */
  channelsOfUser(userId: number): number[] {
    return this.#channelIds.of(userId)
  }

  ofUser(userId: number): Subscription[] {
    return this.channelsOfUser(userId).map(channelId => this.get(channelId, userId)!)
  }

  /** Colors of the palette that the person uses, as bits. */
  colorsOfUser(userId: number): number {
    return this.#colors[userId] ?? 0
  }

  put({ channelId, userId, ...following }: Subscription): void {
    this.putAll(channelId, [userId], following)
  }

  /** The same for many people of one channel, each named once. */
  putAll(channelId: number, userIds: readonly number[], following: Following): void {
    const followers = this.#open(channelId)
    const bit = paletteBit(following.color)
    for (const userId of userIds) {
      const before = followers.put(userId, following)
      if (userId >= this.#colors.length) this.#colors = grown(this.#colors, userId + 1)
      if (!before) {
        this.#channelIds.add(userId, channelId)
        this.#colors[userId]! |= bit
      } else if (before.color !== following.color) this.#colors[userId] = this.#countColors(userId)
      this.onChange?.(channelId, userId, before)
    }
  }

  /** Rows as they are now, put together as they are asked for. */
  save(): Iterable<Subscriptions> {
    const channels = [...this.#channels].map(([channelId, followers]) => [channelId, followers.copy()] as const)
    return (function* () {
      for (const [channelId, followers] of channels) yield* buildGroups(channelId, followers)
    })()
  }

  /** Format 1 had a row for each person. */
  load(saved: Iterable<unknown>): void {
    for (const one of saved as Iterable<Subscriptions | Subscription>)
      if ('userId' in one) this.put(one)
      else {
        const { channelId, userIds, ...following } = one
        this.putAll(channelId, userIds, following)
      }
  }

  #open(channelId: number): Followers {
    let followers = this.#channels.get(channelId)
    if (!followers) {
      followers = new Followers()
      this.#channels.set(channelId, followers)
    }
    return followers
  }

  #countColors(userId: number): number {
    return this.ofUser(userId).reduce((colors, { color }) => colors | paletteBit(color), 0)
  }
}

/** By what they say, not by who was put together with whom: the same rows are always saved in the same way. */
function* buildGroups(channelId: number, followers: Followers): Generator<Subscriptions> {
  const known = new Map<Following, number[]>()
  const groups = new Map<string, number[]>()
  for (const userId of followers.everyone()) {
    const following = followers.get(userId)!
    let userIds = known.get(following)
    if (!userIds) {
      const said = JSON.stringify(inOrder(following))
      userIds = groups.get(said) ?? []
      groups.set(said, userIds)
      known.set(following, userIds)
    }
    userIds.push(userId)
  }
  for (const [said, userIds] of groups)
    for (let i = 0; i < userIds.length; i += largestGroup)
      yield { channelId, ...JSON.parse(said), userIds: userIds.slice(i, i + largestGroup) }
}

function inOrder({ active, color, muted, pinned, notifications, spans }: Following): Following {
  return { active, color, muted, pinned, notifications, spans }
}
