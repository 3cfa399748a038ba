// The first history of a new account: the recent messages of the channels it starts with.

import type { Fact } from '../../facts.ts'
import { defaultChannels } from '../../model/lookups.ts'
import { runsOf } from '../../model/message-store/id-set.ts'
import type { User } from '../../model/state.ts'
import type { Surroundings } from '../../resource.ts'
import { seconds } from '../../values/time.ts'

// OPEN: how much is recent is not shown: here the last week, at most so many messages, the newest of them unread.
const recentSeconds = 7 * 24 * 60 * 60
const most = 200
const mostUnread = 20

export function firstHistory({ state, now }: Surroundings, user: User): Fact[] {
  const since = seconds(now) - recentSeconds
  const found: number[] = []
  for (const channel of defaultChannels(state)) {
    const ids = state.messages.inChannel(channel.id)
    for (let i = ids.length - 1; i >= Math.max(0, ids.length - most); i--) {
      if (state.messages.time(ids.at(i)) < since) break
      found.push(ids.at(i))
    }
  }
  if (found.length === 0) return []
  const ids = found.sort((a, b) => a - b).slice(-most)
  const runs = runsOf(ids)
  const change = { type: 'message-flags.changed', userId: user.id, flag: 'read' } as const
  return [
    { ...change, op: 'add', runs, historical: runs },
    { ...change, op: 'remove', runs: runsOf(ids.slice(-mostUnread)) },
  ]
}
