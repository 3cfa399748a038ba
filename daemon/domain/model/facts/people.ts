// Facts about accounts, user groups, settings, and what people keep about themselves and each other.

import type { GroupPermission } from '../../../api/shapes/permission-settings.ts'
import type { GroupValue, Role } from '../roles.ts'
import type { Invitation, ProfileField } from '../rows/organization.ts'
import type { EmailChange, NavigationView, Presence, PushDevices, UserStatus } from '../rows/people.ts'
import type { Bot, Group, User } from '../state.ts'

export type AnyPeopleFact =
  | OnboardingFact
  | UserFact
  | UserGroupFact
  | SettingsFact
  | PresenceFact
  | UserStatusFact
  | MutedUserFact
  | AlertWordsFact
  | PushDevicesFact
  | NavigationViewFact
  | InvitationFact
  | ProfileFieldFact

export type OnboardingFact = {
  readonly type: 'user.onboarding-step-seen'
  readonly userId: number
  readonly step: string
}

export type UserFact =
  | { readonly type: 'user.created'; readonly user: User }
  | { readonly type: 'user.renamed'; readonly userId: number; readonly fullName: string }
  | { readonly type: 'user.reassigned'; readonly userId: number; readonly from: Role; readonly to: Role }
  | { readonly type: 'user.email-changed'; readonly userId: number; readonly from: string; readonly to: string }
  | { readonly type: 'user.avatar-changed'; readonly userId: number; readonly avatar: User['avatar'] }
  | { readonly type: 'user.profile-changed'; readonly userId: number; readonly values: readonly ProfileChange[] }
  /** The first login to an account that an administrator made; milliseconds. */
  | { readonly type: 'user.entered'; readonly userId: number; readonly joined: number }
  /** `quiet`: other subscribers of its channels get no event for each of them. */
  | { readonly type: 'user.deactivated'; readonly userId: number; readonly quiet?: true }
  | {
      readonly type: 'user.reactivated'
      readonly userId: number
      /** A bot whose owner is gone moves to the person who reactivates it. */
      readonly ownerId?: number
      readonly formerOwnerId?: number | null
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

export type UserGroupFact =
  | { readonly type: 'group.created'; readonly group: Group }
  | {
      readonly type: 'group.edited'
      readonly groupId: number
      readonly changes: { readonly name?: string; readonly description?: string }
      readonly permissions: Partial<Record<GroupPermission, GroupValue>>
    }
  | { readonly type: 'group.deactivated' | 'group.reactivated'; readonly groupId: number }
  | {
      readonly type: 'group.members-added' | 'group.members-removed'
      readonly groupId: number
      readonly userIds: readonly number[]
    }
  | {
      readonly type: 'group.subgroups-added' | 'group.subgroups-removed'
      readonly groupId: number
      readonly subgroupIds: readonly number[]
    }

export type SettingsFact =
  | {
      readonly type: 'user.settings-changed'
      readonly userId: number
      readonly changes: SettingChanges
      /** The values that these settings had. */
      readonly before: SettingChanges
      /** What the new default_language calls itself. */
      readonly languageName?: string
      /** The administrator who changed them, if the person did not. */
      readonly by?: number
    }
  | { readonly type: 'user.password-changed'; readonly userId: number; readonly password: string }
  | { readonly type: 'email-change.requested'; readonly change: EmailChange }
  | { readonly type: 'email-change.confirmed'; readonly token: string }
  | { readonly type: 'organization.user-defaults-changed'; readonly changes: SettingChanges }

/** Written when the daemon stops: reports themselves are not kept. */
export type PresenceFact = { readonly type: 'presence.saved'; readonly rows: readonly Presence[] }

export type UserStatusFact = {
  readonly type: 'user-status.set'
  readonly status: UserStatus
  /** Which parts were given, for the event. */
  readonly changed: readonly ('text' | 'emoji')[]
  /** Whether the person chose to be invisible, if the same call said so. */
  readonly away?: boolean
}

export type MutedUserFact =
  | { readonly type: 'user.muted'; readonly userId: number; readonly mutedId: number; readonly since: number }
  | { readonly type: 'user.unmuted'; readonly userId: number; readonly mutedId: number }

export type AlertWordsFact = {
  readonly type: 'alert-words.changed'
  readonly userId: number
  readonly words: readonly string[]
}

export type PushDevicesFact = { readonly type: 'push-devices.changed'; readonly devices: PushDevices }

export type NavigationViewFact =
  | { readonly type: 'navigation-view.added'; readonly view: NavigationView }
  | {
      readonly type: 'navigation-view.edited'
      readonly view: NavigationView
      readonly changed: { readonly is_pinned?: boolean; readonly name?: string | null }
    }
  | { readonly type: 'navigation-view.removed'; readonly userId: number; readonly fragment: string }

export type InvitationFact =
  | { readonly type: 'invitations.made'; readonly invitations: readonly Invitation[] }
  | { readonly type: 'invitation.resent'; readonly id: number; readonly madeAt: number; readonly inviterId: number }
  | { readonly type: 'invitation.revoked'; readonly id: number; readonly inviterId: number }
  /** A link stays open for others. */
  | { readonly type: 'invitation.accepted'; readonly id: number; readonly inviterId: number; readonly userId: number }
  /** There is an account with the address now. */
  | { readonly type: 'invitations.outdated'; readonly ids: readonly number[] }

export type ProfileFieldFact =
  | { readonly type: 'profile-field.created'; readonly field: ProfileField }
  | {
      readonly type: 'profile-field.updated'
      readonly field: ProfileField
      /** People whose value was an option that is gone. */
      readonly cleared: readonly number[]
    }
  | { readonly type: 'profile-field.reordered'; readonly order: readonly number[] }
  | { readonly type: 'profile-field.deleted'; readonly id: number; readonly cleared: readonly number[] }

export type SettingChanges = Readonly<Record<string, unknown>>
