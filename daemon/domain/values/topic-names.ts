// Names of topics: the display name of the empty topic, and the mark before the name of a resolved one.

import { trimText } from '../../local/text-parts.ts'
import { limits } from '../limits.ts'
import { invalid } from '../refusal.ts'
import { hasUnprintable, truncate } from './text.ts'

/** Shown in place of the empty topic, and read as it. */
export const emptyTopicDisplayName = 'general chat'

/** To clients that cannot show an empty topic it has a name. */
export function topicShown(topic: string | undefined, emptyTopic: boolean): string {
  // Direct messages have none, and then it is empty for everyone.
  if (topic === undefined) return ''
  return topic === '' && !emptyTopic ? emptyTopicDisplayName : topic
}

/** The topic that a name means: trimmed, the display name of the empty topic read as empty. */
export function topicMeant(given: string): string {
  const topic = trimText(given)
  return topic === emptyTopicDisplayName ? '' : topic
}

/** The topic as it is kept with what is written: cut when too long. */
export function normalizeTopic(given: string, name = 'topic'): string {
  const topic = topicMeant(given)
  if (hasUnprintable(topic)) throw invalid(name, 'cannot contain characters that cannot be printed')
  return truncate(topic, limits.topic, '...')
}

/** Where something is sent, now or later, or typed, the older name of the empty topic is understood too. */
export function isNoTopic(given: string): boolean {
  return given.trim() === '(no topic)'
}

export const resolvedPrefix = '✔ '

/** Whether the topic is marked as resolved, or no longer so, and stays the same otherwise. */
export function togglesResolved(before: string, after: string): boolean {
  if (!before.startsWith(resolvedPrefix)) return after === truncate(resolvedPrefix + before, limits.topic, '...')
  return !after.startsWith(resolvedPrefix) && before.replace(/^[✔ ]+/u, '') === after
}
