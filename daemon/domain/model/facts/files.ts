// Facts about uploaded files.

import type { Attachment } from '../rows/messages.ts'

export type UploadFact =
  | { readonly type: 'attachment.added'; readonly attachment: Attachment }
  | { readonly type: 'attachment.removed'; readonly id: number; readonly userId: number }
  | AttachmentsRelinked

export interface AttachmentsRelinked {
  readonly type: 'attachments.relinked'
  readonly messageId: number
  /** Seconds, when the message was sent. */
  readonly time: number
  /** IDs of files that the message links from now on, and of those it links no longer. */
  readonly linked: readonly number[]
  readonly unlinked: readonly number[]
}
