// Personal flags of messages.

import type { ParamsOf } from '../../../api/define.ts'
import { messageFlags as api } from '../../../api/messages/message-flags.ts'
import type { AllRead, FlagsChanged } from '../../model/facts/messages.ts'
import { Reader } from '../../model/message-reader.ts'
import { packRuns } from '../../model/message-store/index.ts'
import type { Channel, State } from '../../model/state.ts'
import { planExactNarrow } from '../../narrow/index.ts'
import { inQuotes, invalid, missing } from '../../refusal.ts'
import { type Context, resource } from '../../resource.ts'
import { readTest, seeContent, seeMessage } from '../../rules/index.ts'
import { normalizeTopic } from '../../values/topic-names.ts'
import { announceFlags, readEvent } from '../messages/announce.ts'
import { anchorInside, findRange, resolveAnchor } from '../messages/range.ts'
import { unreadIn } from './unread.ts'

type Flag = FlagsChanged['flag']
type Op = FlagsChanged['op']

const fixed = ['mentioned', 'stream_wildcard_mentioned', 'topic_wildcard_mentioned', 'has_alert_word', 'historical']

/** As many as one request changes by narrow; the rest is for the next. */
const most = 5000

export const messageFlags = resource(api)<FlagsChanged | AllRead>({
  commands: {
    update(ctx, { messages, op, flag }) {
      const ids = ascending(messages)
      const { changed, fact, ignored } = change(ctx, ids, op, checkFlag(flag))
      // The spec has the IDs that changed; public servers repeat what they were given.
      const shown = ctx.dialect === 'zulip' ? messages : changed
      return { facts: fact, reply: { messages: shown, ...ignored } }
    },

    updateNarrow(ctx, params) {
      const flag = checkFlag(params.flag)
      if (!params.include_anchor && params.num_before > 0 && params.num_after > 0) throw anchorInside()
      const plan = planExactNarrow(ctx, params.narrow)
      const anchor = resolveAnchor(ctx, plan, params.anchor, params.anchor_date)
      const { before, after } = lowerRange(params)
      const found = findRange(ctx, plan, { anchor, includeAnchor: params.include_anchor, before, after })
      const { changed, fact, ignored } = change(ctx, found.ids, params.op, flag)
      return {
        facts: fact,
        reply: {
          processed_count: found.ids.length,
          updated_count: changed.length,
          first_processed_id: found.ids[0] ?? null,
          last_processed_id: found.ids.at(-1) ?? null,
          found_oldest: found.foundOldest,
          found_newest: found.foundNewest,
          ...ignored,
        },
      }
    },

    markAll: ({ state, actor }) => ({
      facts: [{ type: 'messages.all-read', userId: actor.id, upTo: state.messages.lastId }],
      reply: { complete: true },
    }),

    markChannel(ctx, { stream_id }) {
      const channel = readableChannel(ctx, stream_id)
      return markRead(ctx, unreadIn(ctx.state, ctx.actor.id, channel.id))
    },

    markTopic(ctx, { stream_id, topic_name }) {
      const channel = readableChannel(ctx, stream_id)
      const key = normalizeTopic(topic_name, 'topic_name').toLowerCase()
      const ids = ctx.state.messages.inTopic(channel.id, key)
      if (!ids.slice().some(readTest(ctx))) throw missing('topic_name', 'topic', topic_name)
      const unread = unreadIn(ctx.state, ctx.actor.id, channel.id)
      return markRead(
        ctx,
        unread.filter(id => ctx.state.messages.place(id).thread.key === key),
      )
    },
  },

  apply: {
    'message-flags.changed': (state, { userId, op, flag, runs, historical = [] }) => {
      const flags = state.messageFlags
      if (historical.length > 0) flags.add(userId, 'historical', historical)
      if (flag !== 'read') flags[op](userId, flag, runs)
      else if (op === 'add') {
        flags.add(userId, 'read', runs)
        flags.remove(userId, 'unread', runs)
      } else {
        flags.remove(userId, 'read', runs)
        // Where being read is the default, being unread must be said.
        flags.add(userId, 'unread', exceptional(state, userId, runs))
      }
    },
    'messages.all-read': (state, { userId, upTo }) => {
      if (upTo > 0) state.messageFlags.add(userId, 'read', [1, upTo])
      state.messageFlags.remove(userId, 'unread', state.messageFlags.of(userId).unread.runs())
    },
  },

  announce: {
    'message-flags.changed': announceFlags,
    'messages.all-read': (_state, { userId }) => [readEvent(userId, [], true)],
  },
})

/** The actor's unread messages, newest first, become read. */
function markRead(ctx: Context, unread: readonly number[]) {
  return { facts: change(ctx, unread.toReversed(), 'add', 'read').fact, reply: {} }
}

function checkFlag(flag: string): Flag {
  if (flag === 'read' || flag === 'starred' || flag === 'collapsed') return flag
  if (fixed.includes(flag)) throw invalid('flag', `${inQuotes(flag)} follows from the message and cannot be changed`)
  throw missing('flag', 'flag', flag, { hint: 'The flags are read, starred and collapsed.' })
}

/** Each once, in order; most callers send them so. */
function ascending(ids: number[]): number[] {
  for (let i = 1; i < ids.length; i++) if (ids[i]! <= ids[i - 1]!) return [...new Set(ids)].sort((a, b) => a - b)
  return ids
}

/** What changes of these messages, ascending. All or nothing. */
function change(ctx: Context, ids: number[], op: Op, flag: Flag) {
  const { state, actor } = ctx
  const set = state.messageFlags.of(actor.id)
  const reader = new Reader(state, actor.id)
  const historical: number[] = []
  const ignored = new Set<number>()
  const unmarking = flag === 'read' && op === 'remove'
  const adding = op === 'add'
  const changes = (id: number): boolean => {
    const channelId = state.messages.channelOf(id)
    const seen = channelId === -1 ? 'none' : reader.look(id, channelId)
    const row = seen !== 'none'
    if (!row) {
      // Without a row it is read already and nothing else; only what needs a row needs the right to read it.
      if (adding === (flag === 'read')) return false
      if (!seeMessage.allows(ctx, id)) throw missing('messages', 'message', id)
    }
    if (unmarking && channelId !== 0 && !reader.follows(channelId)) {
      ignored.add(channelId)
      return false
    }
    const has = flag === 'read' ? seen !== 'unread' : set[flag].has(id)
    if (has === adding) return false
    if (!row) historical.push(id)
    return true
  }
  let some: number[] | undefined
  for (let i = 0; i < ids.length; i++) {
    if (!changes(ids[i]!)) some ??= ids.slice(0, i)
    else some?.push(ids[i]!)
  }
  const changed = some ?? ids
  const fact: FlagsChanged = {
    type: 'message-flags.changed',
    userId: actor.id,
    op,
    flag,
    runs: packRuns(changed),
    ...(historical.length > 0 && { historical: packRuns(historical) }),
  }
  return {
    changed,
    fact: changed.length > 0 ? [fact] : [],
    // The spec has the field for this case only, public servers always.
    ignored: (unmarking || ctx.dialect === 'zulip') && {
      ignored_because_not_subscribed_channels: [...ignored].sort((a, b) => a - b),
    },
  }
}

/** Runs of those messages that are read unless marked. */
function exceptional(state: State, userId: number, runs: readonly number[]): number[] {
  const reader = new Reader(state, userId)
  const ids: number[] = []
  for (let i = 0; i < runs.length; i += 2)
    for (let id = runs[i]!; id <= runs[i + 1]!; id++) if (!reader.isUnreadByDefault(id)) ids.push(id)
  return packRuns(ids)
}

/** num_before gives way first, down to half of the whole. */
function lowerRange({ num_before, num_after }: ParamsOf<typeof api.updateNarrow>): { before: number; after: number } {
  const before = Math.min(num_before, Math.max(most - num_after, most / 2))
  return { before, after: Math.min(num_after, most - before) }
}

function readableChannel(ctx: Context, id: number): Channel {
  const channel = ctx.state.channels.get(id)
  if (!channel || !seeContent.allows(ctx, channel)) throw missing('stream_id', 'channel', id)
  return channel
}
