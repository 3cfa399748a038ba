// The members, the leader and the head of the log as etcd named them last, and how long ago that was.

import { setTimeout as sleep } from 'node:timers/promises'
import type { View } from './membership.ts'

/** Milliseconds without an answer of etcd after which the view is out of date, however long the lease is. */
const longestSilence = 6000
/** Milliseconds that a request waits for a leader that can be reached, or for this daemon to catch up. */
export const leaderTimeout = 10_000

export interface OwnStatus {
  readonly id: string
  readonly peer: string
  readonly leads: boolean
  readonly stopped: boolean
}

export class KnownCluster {
  view: View | undefined
  /** The position of the head in the view before. */
  headBefore = 0
  readonly #longestSilence: number
  #updatedAt = Number.NEGATIVE_INFINITY

  constructor(leaseSeconds: number) {
    // By the end of the lease another daemon may lead.
    this.#longestSilence = Math.min(longestSilence, leaseSeconds * 1000)
  }

  update(view: View): void {
    this.headBefore = this.view?.head.position ?? view.head.position
    this.view = view
    this.#updatedAt = performance.now()
  }

  get isFresh(): boolean {
    return performance.now() - this.#updatedAt < this.#longestSilence
  }

  /** Addresses of the other daemons. */
  others(self: string | undefined): string[] {
    return (this.view?.members ?? []).flatMap(({ id, peer }) => (id !== self && peer !== undefined ? [peer] : []))
  }

  /** The address of the leader. Waits for one, unless etcd does not answer: then no election would be noticed. */
  async findLeader(ownStatus: () => OwnStatus): Promise<string | undefined> {
    const end = performance.now() + leaderTimeout
    while (performance.now() < end) {
      const { id, peer, leads, stopped } = ownStatus()
      const { leader } = this.view ?? {}
      if (leads) return peer
      if (!this.isFresh && !stopped) return undefined
      // If etcd names this daemon, it has just been elected and is about to lead.
      if (leader && leader.id !== id) return leader.peer
      // It has led and hands over. It would not see what another daemon writes for its clients, which can go there themselves.
      if (stopped) return undefined
      await sleep(50)
    }
    return undefined
  }
}
