// Keys of rows without an ID.

import type { UserTopic } from './rows/channels.ts'
import type { MutedUser } from './rows/people.ts'

export function userTopicKey(row: Pick<UserTopic, 'userId' | 'channelId' | 'topic'>): string {
  return `${row.userId}/${row.channelId}/${row.topic.toLowerCase()}`
}

export function mutedUserKey({ userId, mutedId }: Pick<MutedUser, 'userId' | 'mutedId'>): string {
  return `${userId}/${mutedId}`
}
