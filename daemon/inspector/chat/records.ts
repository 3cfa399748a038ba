// Messages, people and channels of the API, as far as the page reads them.

export interface Reaction {
  readonly emoji_name: string
  readonly emoji_code: string
  readonly reaction_type: string
  readonly user_id: number
}

export interface Message {
  readonly id: number
  readonly type: 'stream' | 'private'
  readonly stream_id?: number
  readonly subject: string
  readonly content: string
  readonly display_recipient: string | readonly { readonly id: number; readonly full_name: string }[]
  readonly sender_id: number
  readonly sender_full_name: string
  readonly sender_email: string
  readonly timestamp: number
  readonly last_edit_timestamp?: number
  readonly reactions: readonly Reaction[]
  readonly flags: readonly string[]
}

export interface User {
  readonly user_id: number
  readonly email: string
  readonly full_name: string
  readonly role: number
  readonly is_bot: boolean
  readonly is_active: boolean
  readonly avatar_url: string | null
}

export interface Channel {
  readonly stream_id: number
  readonly name: string
  readonly description: string
  readonly invite_only: boolean
  readonly is_web_public: boolean
  readonly is_archived: boolean
  readonly subscribed: boolean
  readonly [setting: string]: unknown
}
