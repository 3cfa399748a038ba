// Messages by the channel that they were sent to, of those that are in another one now.

import type { IdList } from './id-list.ts'
import { Lists } from './indexes.ts'
import { push } from './places.ts'

export class MovedFrom {
  readonly #lists = new Lists()

  of(channelId: number): IdList {
    return this.#lists.of(channelId)
  }

  add(id: number, sentTo: number | undefined): void {
    if (sentTo !== undefined) this.#lists.open(sentTo).add(id)
  }

  remove(id: number, sentTo: number | undefined): void {
    if (sentTo !== undefined) this.#lists.of(sentTo).removeAll([id])
  }

  /** Messages, ascending, were moved: what they were sent to before, where that differed from where they were, and now. */
  change(ids: readonly number[], before: readonly (number | undefined)[], sentTo: (id: number) => number | undefined) {
    const removed = new Map<number, number[]>()
    const added = new Map<number, number[]>()
    for (const [index, id] of ids.entries()) {
      const [was, is] = [before[index], sentTo(id)]
      if (was === is) continue
      if (was !== undefined) push(removed, was, id)
      if (is !== undefined) push(added, is, id)
    }
    for (const [channelId, some] of removed) this.#lists.of(channelId).removeAll(some)
    for (const [channelId, some] of added) this.#lists.open(channelId).addAll(some)
  }
}
