// Channels in which nothing was said for long, which clients put aside. Looked at once a day; a message wakes one at once.

import type { ChannelActivityChanged } from '../../model/facts/channels.ts'
import type { Channel, State } from '../../model/state.ts'
import type { Announcement, Job } from '../../resource.ts'
import { channelAudience } from '../../rules/audiences.ts'
import { day, seconds } from '../../values/time.ts'
import { ifKnown } from './present.ts'

/** Seconds. */
export const quietAfter = 180 * day
/** As many as one event has. */
const batch = 1000

export function applyActivity(state: State, { quiet, woken }: ChannelActivityChanged): void {
  for (const id of quiet) state.channels.put({ ...state.channels.get(id)!, quiet: true })
  for (const id of woken) wake(state, id)
}

export function wake(state: State, channelId: number): void {
  const { quiet: _, ...awake } = state.channels.get(channelId)!
  state.channels.put(awake)
}

export function activityNews(state: State, channel: Channel): Announcement {
  const { id: stream_id, name } = channel
  const value = channel.quiet === undefined
  const event = { type: 'stream', op: 'update', stream_id, name, property: 'is_recently_active', value }
  return { to: channelAudience(state, channel), event: ifKnown(channel, event) }
}

const known = new WeakMap<State, number>()

export const noticeQuiet: Job = {
  op: 'notice-quiet-channels',
  // Asked after every change: messages only put it off, but for those that are deleted or moved, which wait for the day.
  due(state, now) {
    const last = known.get(state)
    if (last !== undefined && last > now) return last
    let due = now + day * 1000
    for (const channel of state.channels.values()) {
      const end = (lastActive(state, channel) + quietAfter) * 1000
      if (channel.quiet ? end > now : end <= now) due = now
      else if (!channel.quiet) due = Math.min(due, end)
    }
    known.set(state, due)
    return due
  },
  run({ state, now }) {
    const ended = (channel: Channel) => lastActive(state, channel) + quietAfter <= seconds(now)
    const changed = [...state.channels.values()].filter(channel => ended(channel) === !channel.quiet).slice(0, batch)
    const quiet = changed.filter(ended).map(channel => channel.id)
    const woken = changed.filter(channel => !ended(channel)).map(channel => channel.id)
    if (quiet.length + woken.length === 0) return { reply: {} }
    return { facts: [{ type: 'channel.activity-changed', quiet, woken }], reply: {} }
  },
}

/** New channels count as active. */
function lastActive(state: State, channel: Channel): number {
  const { last } = state.messages.inChannel(channel.id)
  return Math.max(channel.dateCreated, last === 0 ? 0 : state.messages.time(last))
}
