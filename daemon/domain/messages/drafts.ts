// Drafts: personal records that may be unfinished in every way.

import type { ParamsOf, Static } from '../../api/define.ts'
import { drafts as api, type draft as draftShape } from '../../api/messages/drafts.ts'
import { limits } from '../limits.ts'
import type { DraftFact } from '../model/facts/messages.ts'
import type { Draft } from '../model/rows/messages.ts'
import { userSetting } from '../model/settings.ts'
import { full, invalid, missing, missingOwn, Refusal } from '../refusal.ts'
import { type Context, resource } from '../resource.ts'
import * as may from '../rules/index.ts'
import { knownUser } from '../rules/user-access.ts'
import { endOfTime, seconds } from '../values/time.ts'
import { normalizeTopic } from '../values/topic-names.ts'
import { checkKept, truncateContent } from './messages/compose.ts'

type Given = ParamsOf<typeof api.edit>['draft']

export const drafts = resource(api)<DraftFact>({
  commands: {
    list(ctx) {
      checkSynchronised(ctx)
      const mine = present(ctx)
      return { reply: { count: mine.length, drafts: mine } }
    },

    create(ctx, params) {
      checkSynchronised(ctx)
      const others = ctx.state.drafts.where('user', ctx.actor.id)
      if (others.length + params.drafts.length > limits.drafts) throw full('You', limits.drafts, 'drafts')
      const first = ctx.state.drafts.nextId
      const created = params.drafts.map((given, index) => checkDraft(ctx, `drafts[${index}]`, given, first + index))
      checkKept(others, created, 'drafts')
      return {
        facts: created.length > 0 ? [{ type: 'drafts.created', drafts: created }] : [],
        reply: { ids: created.map(({ id }) => id) },
      }
    },

    edit(ctx, params) {
      checkSynchronised(ctx)
      const { id } = findOwn(ctx, params.draft_id)
      const draft = checkDraft(ctx, 'draft', params.draft, id)
      checkKept(ctx.state.drafts.where('user', ctx.actor.id), [draft], 'drafts')
      return { facts: [{ type: 'draft.edited', draft }], reply: {} }
    },

    delete(ctx, { draft_id }) {
      checkSynchronised(ctx)
      const { id, userId } = findOwn(ctx, draft_id)
      return { facts: [{ type: 'draft.deleted', id, userId }], reply: {} }
    },
  },

  apply: {
    'drafts.created': (state, fact) => {
      for (const draft of fact.drafts) state.drafts.put(draft)
    },
    'draft.edited': (state, { draft }) => state.drafts.put(draft),
    'draft.deleted': (state, { id }) => state.drafts.remove(id),
  },

  announce: {
    'drafts.created': (_state, fact) => [
      {
        to: [fact.drafts[0]!.userId],
        event: { type: 'drafts', op: 'add', drafts: fact.drafts.map(presentOne) },
      },
    ],
    'draft.edited': (_state, { draft }) => [
      {
        to: [draft.userId],
        event: { type: 'drafts', op: 'update', draft: presentOne(draft) },
      },
    ],
    'draft.deleted': (_state, { id, userId }) => [
      { to: [userId], event: { type: 'drafts', op: 'remove', draft_id: id } },
    ],
  },

  sections: {
    drafts: ctx => ({ drafts: present(ctx).reverse().slice(0, 1000) }),
  },
})

/** By the time of the last edit, the oldest first. */
function present(ctx: Context) {
  const mine = ctx.state.drafts.where('user', ctx.actor.id)
  return mine.sort((a, b) => a.timestamp - b.timestamp || a.id - b.id).map(presentOne)
}

/** The empty topic is empty for every client: it is to be edited, not to be shown. */
function presentOne({ id, kind, to, topic, content, timestamp }: Draft): Static<typeof draftShape> {
  // Only what goes to a channel has a topic.
  return { id, type: kind, to: [...to], topic: kind === 'stream' ? (topic ?? '') : '', content, timestamp }
}

function findOwn(ctx: Context, id: number): Draft {
  const draft = ctx.state.drafts.get(id)
  if (draft?.userId !== ctx.actor.id) throw missingOwn('draft_id', 'draft', id)
  return draft
}

function checkSynchronised(ctx: Context): void {
  if (!userSetting(ctx.actor, 'enable_drafts_synchronization'))
    throw new Refusal('Your setting enable_drafts_synchronization is off; turn it on to use drafts.', {
      kind: 'conflict',
    })
}

function checkDraft(ctx: Context, place: string, given: Given, id: number): Draft {
  for (const key of Object.keys(given))
    if (!['type', 'to', 'topic', 'content', 'timestamp'].includes(key))
      throw invalid(`${place}["${key}"]`, 'is not a field of a draft')
  const content = truncateContent(given.content.trimEnd())
  if (content.trim() === '') throw invalid(`${place}["content"]`, 'cannot be blank')
  const { timestamp = seconds(ctx.now) } = given
  if (timestamp < 0) throw invalid(`${place}["timestamp"]`, 'cannot be negative')
  if (timestamp > endOfTime) throw invalid(`${place}["timestamp"]`, 'must be before the year 10000')
  const inChannel = given.type === 'stream'
  if (inChannel) checkChannel(ctx, place, given.to)
  else for (const [index, userId] of given.to.entries()) checkPerson(ctx, `${place}["to"][${index}]`, userId)
  return {
    id,
    userId: ctx.actor.id,
    // OPEN: a direct draft without recipients is kept as one that is not addressed yet.
    kind: given.type === 'private' && given.to.length === 0 ? '' : given.type,
    to: recipients(ctx, given),
    topic: inChannel ? normalizeTopic(given.topic, `${place}["topic"]`) : '',
    content,
    timestamp: Math.floor(timestamp),
  }
}

/** The channel, or the other users in ascending order; the user alone for a message to oneself. */
function recipients({ actor }: Context, { type, to }: Given): readonly number[] {
  if (type !== 'private') return type === 'stream' ? to : []
  const others = [...new Set(to)].filter(id => id !== actor.id).sort((a, b) => a - b)
  return others.length === 0 && to.length > 0 ? [actor.id] : others
}

function checkChannel(ctx: Context, place: string, to: readonly number[]): void {
  const channel = to.length === 1 ? ctx.state.channels.get(to[0]!) : undefined
  if (!channel || !may.seeContent.allows(ctx, channel))
    throw invalid(`${place}["to"]`, 'must be the ID of one channel that you have access to')
}

function checkPerson(ctx: Context, place: string, userId: number): void {
  if (!knownUser(ctx, userId)) throw missing(place, 'user', userId)
}
