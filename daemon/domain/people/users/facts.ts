// What happens to accounts.

import type { Bot, Role, User } from '../../model/state.ts'

export type UserFact =
  | { readonly type: 'user.created'; readonly user: User }
  | { readonly type: 'user.renamed'; readonly userId: number; readonly fullName: string }
  | { readonly type: 'user.reassigned'; readonly userId: number; readonly from: Role; readonly to: Role }
  | { readonly type: 'user.email-changed'; readonly userId: number; readonly from: string; readonly to: string }
  | { readonly type: 'user.avatar-changed'; readonly userId: number; readonly avatar: User['avatar'] }
  | { readonly type: 'user.profile-changed'; readonly userId: number; readonly values: readonly ProfileChange[] }
  | { readonly type: 'user.deactivated'; readonly userId: number }
  | {
      readonly type: 'user.reactivated'
      readonly userId: number
      /** A bot whose owner is gone moves to whoever brings it back. */
      readonly ownerId?: number
    }
  | { readonly type: 'user.key-regenerated'; readonly userId: number; readonly keyVersion: number }
  /** The waiting period of these accounts ended, or began again because it was made longer. */
  | { readonly type: 'user.waiting-settled'; readonly userIds: readonly number[]; readonly fullMember: boolean }
  | {
      readonly type: 'bot.configured'
      readonly userId: number
      readonly bot: Bot
      readonly changed: readonly BotPart[]
      readonly formerOwnerId?: number | null
    }

export interface ProfileChange {
  readonly id: number
  /** null: removed. */
  readonly value: string | null
}

export type BotPart = 'owner' | 'service' | 'sending' | 'events' | 'allPublic'
