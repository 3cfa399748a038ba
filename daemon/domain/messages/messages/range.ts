// Messages around an anchor.

import type { State } from '../../model/state.ts'
import { isTopicMuted, topicPolicy, visibility } from '../../model/topic-policy.ts'
import type { Plan } from '../../narrow/index.ts'
import { invalid, needed, type Refusal } from '../../refusal.ts'
import type { Context } from '../../resource.ts'
import { unreadIds } from '../message-flags/unread.ts'

/** An anchor after everything. */
const beyondNewest = 10_000_000_000_000_000

export interface Range {
  readonly anchor: number
  readonly includeAnchor: boolean
  readonly before: number
  readonly after: number
}

export interface Found {
  /** Ascending. */
  readonly ids: number[]
  readonly foundAnchor: boolean
  readonly foundOldest: boolean
  readonly foundNewest: boolean
}

export function resolveAnchor(ctx: Context, plan: Plan, given: string, date: string | undefined): number {
  if (given === 'date' && ctx.server.level.rules.anchorByDate) return anchorAt(ctx, plan, date)
  if (given === 'newest') return beyondNewest
  if (given === 'oldest') return 0
  if (given === 'first_unread') return firstUnread(ctx, plan)
  if (!/^-?\d+$/.test(given)) throw invalid('anchor', 'must be a message ID, newest, oldest or first_unread')
  return Math.min(Math.max(0, Number(given)), beyondNewest)
}

/** The first message of the narrow from a time on; the newest one if there is none. */
function anchorAt({ state }: Context, plan: Plan, date: string | undefined): number {
  if (date === undefined) throw needed('anchor_date', 'with anchor=date')
  const isIso = /^\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?$/.test(date)
  const isLocal = !/(?:Z|[+-]\d\d:?\d\d)$/.test(date.slice(10))
  const time = isIso ? Date.parse(isLocal && date.length > 10 ? `${date}Z` : date) : Number.NaN
  if (Number.isNaN(time)) throw invalid('anchor_date', 'must be a time in ISO 8601, such as 2030-01-31T09:00:00Z')
  // Messages are numbered in the order in which they were sent.
  let [from, to] = [1, state.messages.lastId + 1]
  while (from < to) {
    const middle = Math.floor((from + to) / 2)
    if (sentBefore(state, middle, time / 1000)) from = middle + 1
    else to = middle
  }
  return (
    take(plan.source.up(from - 1), plan.test, 1)[0] ??
    take(plan.source.down(beyondNewest), plan.test, 1)[0] ??
    beyondNewest
  )
}

/** Of a message that was deleted, the time of the next one counts. */
function sentBefore(state: State, id: number, time: number): boolean {
  for (let next = id; next <= state.messages.lastId; next++) {
    const message = state.messages.has(next) ? state.messages.get(next) : undefined
    if (message) return message.time < time
  }
  return false
}

export function anchorInside(): Refusal {
  return invalid('include_anchor', 'must be true unless num_before or num_after is 0')
}

/** Muted topics are passed over, and muted channels unless the narrow names one. */
function firstUnread({ state, actor }: Context, plan: Plan): number {
  const isHidden = (channelId: number, topic: string) =>
    plan.inChannel
      ? topicPolicy(state, actor.id, channelId, topic) === visibility.muted
      : isTopicMuted(state, actor.id, channelId, topic)
  const unread = unreadIds(state, actor.id)
  for (let i = unread.length - 1; i >= 0; i--) {
    const id = unread[i]!
    const { topic, thread } = state.messages.place(id)
    if (!plan.directOnly && thread.conversationId === 0 && isHidden(thread.channelId, topic)) continue
    if (plan.test(id)) return id
  }
  return beyondNewest
}

export function findRange({ state }: Context, plan: Plan, { anchor, includeAnchor, before, after }: Range): Found {
  const older = take(plan.source.down(anchor), plan.test, before).reverse()
  const here = includeAnchor && state.messages.has(anchor) && plan.test(anchor)
  const newer = anchor >= beyondNewest ? [] : take(plan.source.up(anchor), plan.test, after)
  return {
    ids: [...older, ...(here ? [anchor] : []), ...newer],
    foundAnchor: here,
    foundOldest: anchor === 0 || older.length < before,
    foundNewest: anchor >= beyondNewest || newer.length < after,
  }
}

function take(ids: Iterable<number>, test: (id: number) => boolean, limit: number): number[] {
  const taken: number[] = []
  if (limit > 0)
    for (const id of ids) {
      if (!test(id)) continue
      taken.push(id)
      if (taken.length === limit) break
    }
  return taken
}
