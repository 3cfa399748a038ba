// Facts about messages, and about what people prepare, plan and mark around them.

import type { Edit, Message, Reaction, Submessage } from '../message-store/index.ts'
import type { Draft, Reminder, SavedSnippet, ScheduledMessage, WebhookDelivery } from '../rows/messages.ts'
import type { Conversation } from '../state.ts'

export type AnyMessageFact = MessageFact | DraftFact | ReminderFact | SavedSnippetFact | ScheduledMessageFact

export type MessageFact =
  | MessageSent
  | MessageEdited
  | MessagesMoved
  | MessagesDeleted
  | ReactionAdded
  | ReactionRemoved
  | SubmessageAdded
  | FlagsChanged
  | AllRead

export interface MessageSent {
  readonly type: 'message.sent'
  readonly message: Message
  /** Set when it is the first of its conversation. */
  readonly conversation?: Conversation
  /** People for whom it is read from the start: its sender, and users who muted the sender. */
  readonly readBy?: readonly number[]
  /** Outgoing webhook bots that it calls. */
  readonly calls?: readonly WebhookDelivery[]
  /** Bots mentioned in a channel they do not follow; they get it all the same. */
  readonly called?: readonly number[]
  /** Its channel had been quiet. */
  readonly woke?: true
  /** The sender's queue, which gets the sender's own name for the message. */
  readonly echo?: { readonly queueId: string; readonly localId: string }
}

export interface MessageEdited {
  readonly type: 'message.edited'
  /** As it is now, without its edits. */
  readonly message: Message
  readonly edit: Edit
}

export interface MessagesMoved {
  readonly type: 'messages.moved'
  /** The message that was asked to be moved. */
  readonly id: number
  /** All that moved, ascending. */
  readonly ids: readonly number[]
  readonly from: { readonly channelId: number; readonly topic: string }
  readonly to: { readonly channelId: number; readonly topic: string }
  readonly topicLinks: readonly { readonly text: string; readonly url: string }[]
  readonly mode: 'change_one' | 'change_later' | 'change_all'
  readonly userId: number
  /** Seconds. */
  readonly time: number
  /** What becomes read because its reader is not subscribed to the new channel: user ID and runs of IDs. */
  readonly markedRead: readonly (readonly [userId: number, runs: readonly number[]])[]
  /** Stars of people who cannot read the messages where they are now. */
  readonly unstarred?: readonly (readonly [userId: number, runs: readonly number[]])[]
  /** Users who no longer have the messages in their history: they followed the old channel and do not follow the new one. */
  readonly lost?: readonly number[]
  /** Users who have all of them in their history now: they follow a channel that shows only what one received. */
  readonly gained?: readonly number[]
  /** Readers of the old channel who could not read all of them there. */
  readonly partly?: readonly PartlyRead[]
  /** When the content of the one asked for changed too. */
  readonly edited?: MessageEdited
}

/** Users who could read the same ones of some messages, and not the others, because the history of their channel is protected. */
export interface PartlyRead {
  /** Runs of positions in the list of messages, which are fewer than runs of IDs: a topic has not all IDs in a row. */
  readonly positions: readonly number[]
  readonly userIds: readonly number[]
}

export interface MessagesDeleted {
  readonly type: 'messages.deleted'
  /** Ascending. */
  readonly ids: readonly number[]
  /** Where they were. */
  readonly place: { readonly channelId: number; readonly topic: string } | { readonly conversationId: number }
  /** null: the system. */
  readonly userId: number | null
  /** Those that `userId` could read, if not all. */
  readonly seen?: readonly number[]
  /** Who had one of them in their history and could read it, without following the channel. */
  readonly also?: readonly number[]
  /** Who of all these people, the user who deletes too, could not read all of them. */
  readonly partly?: readonly PartlyRead[]
  /** Messages whose links to files go now: all that are deleted together, so that each file changes once. If absent, these. */
  readonly unlinked?: readonly number[]
  /** IDs of the files that those linked. */
  readonly files?: readonly number[]
}

export interface ReactionAdded {
  readonly type: 'reaction.added'
  readonly messageId: number
  readonly reaction: Reaction
  /** The message was not in the user's history before. */
  readonly historical: boolean
}

export interface ReactionRemoved {
  readonly type: 'reaction.removed'
  readonly messageId: number
  readonly reaction: Reaction
}

export interface SubmessageAdded {
  readonly type: 'submessage.added'
  readonly messageId: number
  readonly submessage: Submessage
}

export interface FlagsChanged {
  readonly type: 'message-flags.changed'
  readonly userId: number
  readonly op: 'add' | 'remove'
  readonly flag: 'read' | 'starred' | 'collapsed'
  /** Runs of IDs: first, last, first, last … */
  readonly runs: readonly number[]
  /** Those of them that were not in the user's history before. */
  readonly historical?: readonly number[]
}

export interface AllRead {
  readonly type: 'messages.all-read'
  readonly userId: number
  readonly upTo: number
}

export type DraftFact =
  | { readonly type: 'drafts.created'; readonly drafts: readonly Draft[] }
  | { readonly type: 'draft.edited'; readonly draft: Draft }
  | { readonly type: 'draft.deleted'; readonly id: number; readonly userId: number }

export type ReminderFact =
  | { readonly type: 'reminder.created'; readonly reminder: Reminder }
  /** The account was deactivated; there is no event. */
  | { readonly type: 'reminder.failed'; readonly reminder: Reminder }
  | { readonly type: 'reminder.deleted'; readonly id: number; readonly userId: number }
  | { readonly type: 'reminder.delivered'; readonly id: number; readonly userId: number }

export type SavedSnippetFact =
  | { readonly type: 'saved-snippet.created'; readonly snippet: SavedSnippet }
  | { readonly type: 'saved-snippet.edited'; readonly snippet: SavedSnippet }
  | { readonly type: 'saved-snippet.deleted'; readonly id: number; readonly userId: number }

export type ScheduledMessageFact =
  | { readonly type: 'scheduled-message.created'; readonly message: ScheduledMessage }
  | { readonly type: 'scheduled-message.edited'; readonly message: ScheduledMessage }
  | { readonly type: 'scheduled-message.failed'; readonly message: ScheduledMessage }
  | { readonly type: 'scheduled-message.deleted'; readonly id: number; readonly userId: number }
  | { readonly type: 'scheduled-message.delivered'; readonly id: number; readonly userId: number }
