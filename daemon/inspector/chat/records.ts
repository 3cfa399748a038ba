// Messages, people and channels of the API, as far as the page reads them.

import type { ReadonlyOf } from '../../api/define.ts'
import type { reaction } from '../../api/messages/reactions.ts'
import type { message } from '../../api/shapes/messages.ts'

export type Reaction = ReadonlyOf<typeof reaction>

export type Message = ReadonlyOf<typeof message> & { readonly flags: readonly string[] }

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
