// Messages and events as the API describes them, as far as a tail reads them.

import type { Reply } from '../../base/reply.ts'

export interface Message {
  readonly id: number
  readonly type?: string
  readonly content?: string
  readonly stream_id?: number
  readonly subject?: string
  readonly display_recipient?: string | readonly Reply[]
  readonly sender_id?: number
  readonly sender_email?: string
  readonly sender_full_name?: string
  readonly timestamp?: number
  readonly is_me_message?: boolean
  readonly [field: string]: unknown
}

export interface ChatEvent {
  /** Absent for what did not come through the queue. */
  readonly id?: number
  readonly type: string
  readonly op?: string
  readonly message?: Message
  readonly flags?: readonly string[]
  readonly [field: string]: unknown
}
