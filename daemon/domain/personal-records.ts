// Rows that belong to one person and are told to nobody else.

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
  /** null: it stands alone. */
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
