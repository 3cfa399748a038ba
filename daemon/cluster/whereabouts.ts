// The knowledge of a daemon about its cluster: who is there, who leads, how far the log goes, and how old that knowledge is.

import { setTimeout as sleep } from 'node:timers/promises'
import type { View } from './membership.ts'

/** Milliseconds without an answer of etcd after which a daemon does not know what it misses, whatever the lease. */
const longestSilence = 6000
/** Milliseconds that a request waits for a leader. */
const patience = 10_000

/** This daemon, now. */
export interface Standing {
  readonly id: string
  readonly peer: string
  readonly leads: boolean
  readonly stopped: boolean
}

export class Whereabouts {
  view: View | undefined
  /** The head that etcd named the time before. */
  headBefore = 0
  readonly #longestSilence: number
  #seenAt = Number.NEGATIVE_INFINITY

  /** By the end of the lease another daemon may lead. */
  constructor(leaseSeconds: number) {
    this.#longestSilence = Math.min(longestSilence, leaseSeconds * 1000)
  }

  see(view: View): void {
    this.headBefore = this.view?.head.position ?? view.head.position
    this.view = view
    this.#seenAt = performance.now()
  }

  /** Whether etcd has answered lately. */
  get isFresh(): boolean {
    return performance.now() - this.#seenAt < this.#longestSilence
  }

  /** Where the other daemons are. */
  others(self: string | undefined): string[] {
    return (this.view?.members ?? []).flatMap(({ id, peer }) => (id !== self && peer !== undefined ? [peer] : []))
  }

  /** Where the leader is. Waits for one, unless etcd does not answer: then this daemon could not hear of an election. */
  async findLeader(standing: () => Standing): Promise<string | undefined> {
    const end = performance.now() + patience
    while (performance.now() < end) {
      const { id, peer, leads, stopped } = standing()
      const { leader } = this.view ?? {}
      if (leads) return peer
      if (!this.isFresh && !stopped) return undefined
      // A leader that is this daemon has just been elected and begins to lead.
      if (leader && leader.id !== id) return leader.peer
      await sleep(50)
    }
    return undefined
  }
}
