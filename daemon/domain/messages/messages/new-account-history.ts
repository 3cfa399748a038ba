// The first history of a new account: the recent messages of the channels it starts with.

import type { Fact } from '../../facts.ts'
import { packRuns } from '../../model/message-store/id-set.ts'
import type { Channel, User } from '../../model/state.ts'
import type { Surroundings } from '../../resource.ts'

/** So many messages of all channels together, the newest of them unread. */
const most = 1000
const mostUnread = 20

/** Of channels whose history the account may read. */
export function firstHistory({ state }: Surroundings, user: User, channels: readonly Channel[]): Fact[] {
  const found: number[] = []
  for (const channel of channels) {
    if (!channel.historyPublic) continue
    const ids = state.messages.inChannel(channel.id)
    for (let i = ids.length - 1; i >= Math.max(0, ids.length - most); i--) found.push(ids.at(i))
  }
  if (found.length === 0) return []
  const ids = found.sort((a, b) => a - b).slice(-most)
  const runs = packRuns(ids)
  const change = { type: 'message-flags.changed', userId: user.id, flag: 'read' } as const
  return [
    { ...change, op: 'add', runs, historical: runs },
    { ...change, op: 'remove', runs: packRuns(ids.slice(-mostUnread)) },
  ]
}
