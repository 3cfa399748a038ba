// Typing notifications: told to whoever is listening, never stored.

import { channelId, defaulted, endpoint, listOf, oneOf, optional, required, topicName, userId } from '../define.ts'

export const typing = {
  set: endpoint({
    id: 'set-typing-status',
    method: 'POST',
    path: '/typing',
    access: 'user',
    since: 1,
    summary: 'Tell others that you started or stopped typing',
    params: {
      op: required(oneOf('start', 'stop'), 'typing began or ended'),
      type: defaulted(oneOf('direct', 'stream', 'channel'), 'direct', 'where; `private` is refused since level 215'),
      to: optional(listOf(userId), 'recipient user IDs; needed for direct'),
      stream_id: optional(channelId, 'needed for a channel'),
      topic: optional(topicName, 'needed for a channel'),
    },
    reply: {},
    refusals: ['BAD_REQUEST'],
    cli: {
      name: 'typing',
      args: ['op'],
      flags: { stream_id: 'channel' },
      examples: ['natter typing start --to amy@example.com', 'natter typing stop --channel general --topic lunch'],
    },
  }),
}
