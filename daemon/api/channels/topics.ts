// Topics: those of a channel, and each user's visibility policy for them.

import {
  bool,
  channelId,
  defaulted,
  endpoint,
  inPath,
  int,
  listOf,
  numberWithWords,
  oneOf,
  optional,
  record,
  required,
  text,
  topicName,
} from '../define.ts'

const visibilityShortcuts = (
  [
    ['follow', '3', 'Follow a topic, to be notified of its messages', 'followed'],
    ['mute', '1', 'Mute a topic', 'muted'],
    ['unmute', '2', 'Unmute a topic in a muted channel', 'unmuted'],
    ['reset', '0', 'Reset a topic, so that it is no longer followed, muted or unmuted', 'reset'],
  ] as const
).map(([verb, policy, summary, did]) => ({
  summary,
  params: ['stream_id', 'topic'],
  sets: { visibility_policy: policy },
  cli: {
    name: `topics ${verb}`,
    done: `${did} {topic}`,
    args: ['topic'],
    flags: { stream_id: 'channel' },
    examples: [`natter topics ${verb} lunch --channel general`, `natter topics ${verb} '#general>lunch'`] as const,
  },
}))

export const topics = {
  list: endpoint({
    id: 'get-stream-topics',
    route: 'GET /users/me/{stream_id}/topics',
    summary: 'List the topics of a channel, newest first',
    params: {
      stream_id: inPath(channelId, 'the channel'),
      allow_empty_topic_name: defaulted(
        bool,
        false,
        'return the empty topic as an empty string instead of its display name',
      ),
    },
    reply: { topics: listOf(record({ name: text, max_id: int })) },
    cli: {
      name: 'topics list',
      examples: ['natter topics list general', 'natter topics list general --allow-empty-topic-name --json'],
    },
  }),
  follow: endpoint({
    id: 'update-user-topic',
    route: 'POST /user_topics',
    since: 170,
    summary: 'Set your visibility policy for a topic: 0 inherit, 1 muted, 2 unmuted, 3 followed',
    params: {
      stream_id: required(channelId, 'the channel'),
      topic: required(topicName, 'the topic, at most 60 characters; it does not have to exist'),
      visibility_policy: required(
        numberWithWords({ inherit: 0, muted: 1, unmuted: 2, followed: 3 }),
        '0 inherit (as the channel), 1 muted, 2 unmuted, 3 followed',
      ),
    },
    cli: {
      shortcuts: visibilityShortcuts,
      name: 'topics policy',
      done: 'set the visibility policy of {topic}',
      args: ['topic'],
      flags: { stream_id: 'channel', visibility_policy: 'policy' },
      examples: [
        'natter topics policy lunch --channel general --policy followed',
        "natter topics policy '#general>lunch' --policy 0",
      ],
    },
  }),
  mute: endpoint({
    id: 'mute-topic',
    route: 'PATCH /users/me/subscriptions/muted_topics',
    deprecated: 'use POST /user_topics',
    summary: 'Mute or unmute a topic (old form of the visibility policy)',
    params: {
      op: required(oneOf('add', 'remove'), 'mute or unmute'),
      topic: required(topicName, 'the topic'),
      stream_id: optional(channelId, 'the channel'),
      stream: optional(text, 'the name of the channel, instead of its ID'),
    },
    cli: {
      name: 'topics muted',
      done: 'edited {topic}',
      flags: { stream_id: 'channel', stream: 'channel-name' },
      examples: [
        'natter topics muted add lunch --channel general',
        'natter topics muted remove lunch --channel general',
      ],
    },
  }),
  delete: endpoint({
    id: 'delete-topic',
    route: 'POST /streams/{stream_id}/delete_topic',
    callers: 'administrators',
    summary: 'Delete all messages of a topic (administrators)',
    params: { stream_id: inPath(channelId, 'the channel'), topic_name: required(topicName, 'the topic') },
    reply: { complete: bool },
    cli: {
      says: 'topic-deleted',
      name: 'topics delete',
      counts: 'topic',
      done: 'deleted {topic_name}, {count}',
      destroys: { question: 'Delete {topic_name}, {count}?' },
      args: ['topic_name'],
      flags: { stream_id: 'channel' },
      examples: ["natter topics delete '#general>hello'", 'natter topics delete hello --channel general --yes --json'],
      shows: 'complete',
    },
  }),
}
