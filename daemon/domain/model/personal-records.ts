// Rows that belong to one person. Except for status and attachments, only the owner gets their events.

import type { Emoji } from './emoji.ts'

export interface SavedSnippet {
  readonly id: number
  readonly userId: number
  readonly title: string
  readonly content: string
  readonly dateCreated: number
}

export interface NavigationView {
  readonly userId: number
  readonly fragment: string
  readonly isPinned: boolean
  /** null for built-in views. */
  readonly name: string | null
}

export interface Draft {
  readonly id: number
  readonly userId: number
  readonly kind: '' | 'stream' | 'private'
  readonly to: readonly number[]
  readonly topic: string
  readonly content: string
  /** Seconds, of the last edit. */
  readonly timestamp: number
}

/** A message that waits for its time. */
export interface ScheduledMessage {
  readonly id: number
  readonly userId: number
  readonly target:
    | { readonly channelId: number; readonly topic: string }
    /** Everyone in the conversation, its author too, ascending. */
    | { readonly userIds: readonly number[] }
  readonly content: string
  readonly html: string
  /** Seconds. */
  readonly due: number
  readonly failed: boolean
  /** Why it was not sent. */
  readonly reason?: string
  /** The program it was written with. */
  readonly client: string
  readonly readBySender: boolean
}

export interface Reminder {
  readonly id: number
  readonly userId: number
  /** null: there is none. */
  readonly messageId: number | null
  readonly note: string
  /** As it was when the reminder was made: sent when the message cannot be read any more. */
  readonly content: string
  readonly html: string
  /** Seconds. */
  readonly due: number
  readonly failed: boolean
}

/** An uploaded file. */
export interface Attachment {
  readonly id: number
  readonly userId: number
  readonly name: string
  /** `1/4f/…/name.txt`, hard to guess; its address is this behind `/user_uploads/`. */
  readonly path: string
  /** Name of the file beside the store. */
  readonly file: string
  readonly size: number
  readonly contentType: string
  /** Of pictures, in pixels. */
  readonly width?: number
  readonly height?: number
  /** Milliseconds. */
  readonly created: number
  /** Those that link it, ascending; times are seconds. */
  readonly messages: readonly { readonly id: number; readonly time: number }[]
}

/** A user's visibility policy for a topic, where it differs from that of the channel. */
export interface UserTopic {
  readonly userId: number
  readonly channelId: number
  /** As first spelt; found in any case. */
  readonly topic: string
  /** 1 muted, 2 unmuted, 3 followed. */
  readonly policy: number
  /** Seconds. */
  readonly updated: number
}

export function userTopicKey(row: Pick<UserTopic, 'userId' | 'channelId' | 'topic'>): string {
  return `${row.userId}/${row.channelId}/${row.topic.toLowerCase()}`
}

export interface UserStatus {
  readonly userId: number
  readonly text: string
  readonly emoji?: Emoji
}

export interface MutedUser {
  readonly userId: number
  readonly mutedId: number
  /** Seconds. */
  readonly since: number
}

export function mutedUserKey({ userId, mutedId }: Pick<MutedUser, 'userId' | 'mutedId'>): string {
  return `${userId}/${mutedId}`
}

export interface AlertWords {
  readonly userId: number
  readonly words: readonly string[]
}

/** What an account's devices registered. */
export interface PushDevices {
  readonly userId: number
  readonly tokens: readonly PushToken[]
  /** Those that asked for encrypted notifications, by the number that each chose. */
  readonly accounts: readonly { readonly id: number; readonly kind: PushToken['kind'] }[]
}

export interface PushToken {
  readonly kind: 'apns' | 'fcm'
  readonly token: string
  /** Of the app; Apple devices have it. */
  readonly appId?: string
}

/** A new address that waits for its owner to confirm it. */
export interface EmailChange {
  readonly token: string
  readonly userId: number
  readonly email: string
  /** Milliseconds. */
  readonly expires: number
}

/** One thing a bot remembers. */
export interface StoredItem {
  readonly userId: number
  readonly key: string
  readonly value: string
}
