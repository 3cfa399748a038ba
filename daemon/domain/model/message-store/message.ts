// A message as facts and snapshots hold it. The store keeps it packed; this is what goes in and comes out.

import type { ReactionType } from '../emoji.ts'

export interface Message {
  readonly id: number
  readonly senderId: number
  /** Where it is: a channel and a topic, or a direct conversation. */
  readonly channelId?: number
  readonly topic?: string
  readonly conversationId?: number
  /** Seconds. */
  readonly time: number
  /** Name of the program it was sent with. */
  readonly client: string
  readonly content: string
  readonly html: string
  /** Sum of `marks`. */
  readonly marks: number
  readonly details?: Details
}

/** What the content was found to be when it was rendered. */
export const marks = { link: 1, image: 2, attachment: 4, me: 8, channelWildcard: 16, topicWildcard: 32 } as const

/** What only some messages have. */
export interface Details {
  /** Users mentioned by name or through a group, ascending. */
  readonly mentioned?: readonly number[]
  /** Who took part in the topic when it was mentioned as a whole, ascending. */
  readonly topicMentioned?: readonly number[]
  /** Users one of whose alert words it contains, ascending. */
  readonly alerted?: readonly number[]
  readonly topicLinks?: readonly { readonly text: string; readonly url: string }[]
  /** Oldest first. */
  readonly edits?: readonly Edit[]
  /** In the order they were made. */
  readonly reactions?: readonly Reaction[]
  readonly submessages?: readonly Submessage[]
  /** The channel it was sent to, once it has been moved out of it: who received it follows from there. */
  readonly sentTo?: number
  /** Content as it is since the last edit; inside the store only. */
  readonly text?: { readonly content: string; readonly html: string }
}

export interface Edit {
  readonly userId: number
  /** Seconds. */
  readonly time: number
  readonly prevContent?: string
  readonly prevHtml?: string
  readonly prevTopic?: string
  readonly topic?: string
  readonly prevChannelId?: number
  readonly channelId?: number
}

export interface Reaction {
  readonly type: ReactionType
  readonly code: string
  readonly name: string
  readonly userId: number
}

export interface Submessage {
  readonly id: number
  readonly senderId: number
  readonly msgType: string
  readonly content: string
}
