// Messages and events of the API, with the fields that the command line reads, and where each belongs: channel, topic, people.

import type { Reply } from './reply.ts'

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

/** The place of a message; needed for events that carry only its ID. */
export interface Place {
  readonly channelId?: number | undefined
  readonly channel?: string | undefined
  readonly topic?: string | undefined
  /** Participants of a direct conversation. */
  readonly people?: readonly Reply[] | undefined
  readonly senderId?: number | undefined
  readonly senderEmail?: string | undefined
  readonly senderName?: string | undefined
  readonly content?: string | undefined
}

export function placeOfMessage(message: Message): Place {
  const direct = Array.isArray(message.display_recipient)
  return {
    channelId: direct ? undefined : message.stream_id,
    channel: direct ? undefined : (message.display_recipient as string | undefined),
    topic: direct ? undefined : message.subject,
    people: direct ? (message.display_recipient as readonly Reply[]) : undefined,
    senderId: message.sender_id,
    senderEmail: message.sender_email,
    senderName: message.sender_full_name,
    content: message.content,
  }
}

/** The place of an event that is not a message, if the event contains it: typing, and any event with a channel ID. */
export function placeIn(event: ChatEvent): Place | undefined {
  const sender = event.sender as { user_id?: number; email?: string } | undefined
  const base = { senderId: sender?.user_id ?? (event.sender_id as number | undefined), senderEmail: sender?.email }
  const recipient = event.recipient as { channel_id?: number; topic?: string } | undefined
  const channelId = event.stream_id ?? recipient?.channel_id
  if (typeof channelId === 'number')
    return {
      ...base,
      channelId,
      topic: (event.topic ?? event.subject ?? event.orig_subject ?? recipient?.topic) as string,
    }
  if (Array.isArray(event.recipients)) return { ...base, people: event.recipients as Reply[] }
  return undefined
}
