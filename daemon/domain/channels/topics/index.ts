// Topics: those of a channel, and how each person wants to see them.

import { topics as api } from '../../../api/channels/topics.ts'
import type { ParamsOf } from '../../../api/define.ts'
import type { Fact } from '../../facts.ts'
import { limits } from '../../limits.ts'
import { bulkDeletion } from '../../messages/messages/deletion-facts.ts'
import type { UserTopicFact } from '../../model/facts/channels.ts'
import { userTopicKey } from '../../model/keys.ts'
import { channelByName } from '../../model/lookups.ts'
import { hasRow } from '../../model/message-reader.ts'
import type { UserTopic } from '../../model/rows/channels.ts'
import type { State } from '../../model/state.ts'
import { full, invalid, missing, neededOneOf, onlyOneOf } from '../../refusal.ts'
import { type Announcement, type Client, type Context, type Event, resource } from '../../resource.ts'
import { liveChannelFor, readableChannelFor } from '../../rules/channel-access.ts'
import * as may from '../../rules/index.ts'
import { clean, hasUnprintable } from '../../values/text.ts'
import { seconds } from '../../values/time.ts'
import { topicMeant, topicShown } from '../../values/topic-names.ts'
import { listTopics } from '../channels/history.ts'
import { clearedFacts, userTopicFacts } from './visibility.ts'

const none = 0
const muted = 1

export const topics = resource(api)<UserTopicFact>({
  commands: {
    list(ctx, { stream_id, allow_empty_topic_name }) {
      const channel = readableChannelFor(ctx, stream_id, may.seeContent)
      const named = (name: string) => topicShown(name, allow_empty_topic_name)
      return {
        reply: { topics: listTopics(ctx, channel).map(({ name, maxId }) => ({ name: named(name), max_id: maxId })) },
      }
    },

    follow(ctx, { stream_id, topic, visibility_policy }) {
      if (![0, 1, 2, 3].includes(visibility_policy)) throw invalid('visibility_policy', 'must be 0, 1, 2 or 3')
      return { facts: visibilityPolicyFacts(ctx, stream_id, topic, visibility_policy), reply: {} }
    },

    mute: (ctx, params) => ({
      facts: visibilityPolicyFacts(ctx, mutedChannel(ctx, params), params.topic, params.op === 'add' ? muted : none),
      reply: {},
    }),

    delete(ctx, { stream_id, topic_name }) {
      may.insist(may.administer, ctx)
      const channel = liveChannelFor(ctx, stream_id, may.deleteTopics)
      const topic = readTopic('topic_name', topic_name)
      const all = ctx.state.messages.inTopic(channel.id, topic).slice()
      const readable = all.filter(may.readTest(ctx))
      const { facts, complete } = bulkDeletion(ctx.state, readable, ctx.actor.id)
      const left = difference(all, readable)
      const keepsIt = ({ userId }: UserTopic) => left.some(id => hasRow(ctx.state, userId, id))
      return {
        facts: [...facts, ...(complete ? clearedFacts(ctx, { channelId: stream_id, topic }, keepsIt) : [])],
        reply: { complete },
      }
    },
  },

  apply: {
    'user-topic.set': (state, { row }) => state.userTopics.put(row),
    'user-topic.cleared': (state, { row }) => state.userTopics.remove(userTopicKey(row)),
  },

  announce: {
    'user-topic.set': (state, { row }) => announceTopic(state, row, row.policy),
    'user-topic.cleared': (state, { row }) => announceTopic(state, row, none),
  },

  sections: {
    user_topic: ({ state, actor }, client) => ({
      user_topics: live(state, actor.id).map(row => presentOne(row, client)),
    }),
    muted_topics: ({ state, actor }, client) =>
      client.fetched?.includes('user_topic') ? {} : { muted_topics: mutedTopics(state, actor.id, client) },
  },
})

function difference(all: readonly number[], without: readonly number[]): number[] {
  const gone = new Set(without)
  return all.filter(id => !gone.has(id))
}

/** Facts that give a topic a policy for the actor; none when it has it already. */
function visibilityPolicyFacts(ctx: Context, channelId: number, given: string, policy: number): Fact[] {
  const topic = readTopic('topic', given)
  // What was set once can be taken back, in a channel that was left or archived too.
  const isSet = ctx.state.userTopics.get(userTopicKey({ userId: ctx.actor.id, channelId, topic })) !== undefined
  const channel = ctx.state.channels.get(channelId)
  if (policy !== none) liveChannelFor(ctx, channelId, may.seeContent)
  if (policy !== none && !isSet && ctx.state.userTopics.where('user', ctx.actor.id).length >= limits.userTopics)
    throw full('You', limits.userTopics, 'topics with a visibility policy')
  if (policy === none && !isSet && !(channel && may.seeMetadata.allows(ctx, channel)))
    throw missing('stream_id', 'channel', channelId)
  return userTopicFacts(ctx.state, { userId: ctx.actor.id, channelId, topic, policy, updated: seconds(ctx.now) })
}

function announceTopic(state: State, row: UserTopic, policy: number): Announcement[] {
  const event = (client: Client): Event[] => [
    ...(wantsBoth(client) ? [] : [{ type: 'muted_topics', muted_topics: mutedTopics(state, row.userId, client) }]),
    { type: 'user_topic', ...presentOne({ ...row, policy }, client) },
  ]
  return [{ to: [row.userId], event }]
}

function wantsBoth({ eventTypes }: Client): boolean {
  return (eventTypes?.has('user_topic') && eventTypes.has('muted_topics')) === true
}

type Form = Pick<Client, 'emptyTopic'>

function presentOne({ channelId, topic, updated, policy }: UserTopic, form: Form) {
  return {
    stream_id: channelId,
    topic_name: shownTopic(topic, form),
    last_updated: updated,
    visibility_policy: policy,
  }
}

function shownTopic(topic: string, { emptyTopic }: Form): string {
  return topicShown(topic, emptyTopic)
}

function mutedTopics(state: State, userId: number, form: Form): [string, string, number][] {
  return live(state, userId)
    .filter(row => row.policy === muted)
    .map(({ channelId, topic, updated }) => [state.channels.get(channelId)!.name, shownTopic(topic, form), updated])
}

/** Archived channels are left out; so are those the caller may no longer know of, because the reply has their names. */
function live(state: State, userId: number): UserTopic[] {
  const actor = state.users.get(userId)!
  return state.userTopics.where('user', userId).filter(row => {
    const channel = state.channels.get(row.channelId)!
    return !channel.archived && may.seeMetadata.allows({ state, actor }, channel)
  })
}

function mutedChannel(ctx: Context, { stream_id, stream }: ParamsOf<typeof api.mute>): number {
  if (stream_id !== undefined && stream !== undefined) throw onlyOneOf('stream_id', 'stream')
  if (stream_id !== undefined) return stream_id
  if (stream === undefined) throw neededOneOf('stream_id', 'stream')
  const channel = channelByName(ctx.state, stream)
  if (!channel || !may.seeMetadata.allows(ctx, channel)) throw missing('stream', 'channel', stream)
  return channel.id
}

function readTopic(parameter: string, topic: string): string {
  const checked = clean(parameter, topic, limits.topic)
  if (hasUnprintable(checked)) throw invalid(parameter, 'cannot contain characters that cannot be printed')
  return topicMeant(checked)
}
