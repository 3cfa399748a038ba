// Typing notifications: sent to listening clients, never stored.

import { channelId, defaulted, endpoint, listOf, oneOf, optional, required, topicName, userId } from '../define.ts'

export const typing = {
  set: endpoint({
    id: 'set-typing-status',
    route: 'POST /typing',
    summary: 'Notify others that you started or stopped typing',
    params: {
      op: required(oneOf('start', 'stop'), 'whether you started or stopped typing'),
      type: defaulted(
        oneOf('direct', 'stream', 'channel'),
        'direct',
        'direct message or channel message; `private` is refused since level 215',
      ),
      to: optional(listOf(userId), 'user IDs of the recipients; required for direct messages'),
      stream_id: optional(channelId, 'the channel; required for channel messages'),
      topic: optional(topicName, 'the topic; required for channel messages', { alias: 'subject' }),
    },
    cli: {
      name: 'typing',
      done: 'sent the notification',
      flags: { stream_id: 'channel' },
      examples: ['natter typing start --to amy@example.com', 'natter typing stop --channel general --topic lunch'],
    },
  }),
}
