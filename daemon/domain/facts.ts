// Every fact there is: what has happened, past tense, as it stands in the journal.

import type { AlertWordsFact } from './alert-words.ts'
import type { BotStorageFact } from './bot-storage.ts'
import type { ChannelFolderFact } from './channel-folders.ts'
import type { VisibilityFact } from './channel-visibility.ts'
import type { ChannelFact } from './channels/index.ts'
import type { EmojiFact } from './custom-emoji.ts'
import type { DefaultChannelFact } from './default-channels.ts'
import type { DraftFact } from './drafts.ts'
import type { InvitationFact } from './invitations.ts'
import type { LinkifierFact } from './linkifiers.ts'
import type { MessageFact } from './messages/facts.ts'
import type { MutedUserFact } from './muted-users.ts'
import type { NavigationViewFact } from './navigation-views.ts'
import type { OrganizationFact } from './organization/index.ts'
import type { PlaygroundFact } from './playgrounds.ts'
import type { ProfileFieldFact } from './profile-fields/index.ts'
import type { ReminderFact } from './reminders.ts'
import type { SavedSnippetFact } from './saved-snippets.ts'
import type { ScheduledMessageFact } from './scheduled-messages.ts'
import type { SettingsFact } from './settings/index.ts'
import type { SubscriptionFact } from './subscriptions/index.ts'
import type { UploadFact } from './uploads.ts'
import type { UserGroupFact } from './user-groups/facts.ts'
import type { UserStatusFact } from './user-status.ts'
import type { UserTopicFact } from './user-topics.ts'
import type { UserFact } from './users/facts.ts'
import type { WebhookFact } from './webhooks/index.ts'

/** Facts of the event queues; applied by `events/queues.ts`, which owns them. */
export type QueueFact =
  | { readonly type: 'queue.registered'; readonly queue: QueueRegistration }
  | { readonly type: 'queue.acknowledged'; readonly queueId: string; readonly upTo: number }
  | { readonly type: 'queue.removed'; readonly queueId: string; readonly reason: 'deleted' | 'expired' | 'overflowed' }

/** Everything was put back to how it once was; applied by the engine itself. */
export type StoreFact = {
  readonly type: 'store.restored'
  readonly sections: Readonly<Record<string, unknown[]>>
}

export interface QueueRegistration {
  readonly id: string
  readonly userId: number
  /** null: all types. */
  readonly eventTypes: readonly string[] | null
  readonly capabilities: readonly string[]
  /** Milliseconds without a poll after which it expires. */
  readonly lifespan: number
  readonly narrow: readonly (readonly [string, string])[]
  readonly allPublicStreams: boolean
  readonly applyMarkdown: boolean
  readonly clientGravatar: boolean
  readonly slimPresence: boolean
  readonly includeSubscribers: 'true' | 'false' | 'partial'
}

export type Fact =
  | OrganizationFact
  | UserGroupFact
  | SettingsFact
  | UserStatusFact
  | MutedUserFact
  | AlertWordsFact
  | LinkifierFact
  | PlaygroundFact
  | EmojiFact
  | InvitationFact
  | UserFact
  | ChannelFact
  | VisibilityFact
  | SubscriptionFact
  | DefaultChannelFact
  | UserTopicFact
  | ChannelFolderFact
  | SavedSnippetFact
  | NavigationViewFact
  | DraftFact
  | ScheduledMessageFact
  | ReminderFact
  | UploadFact
  | MessageFact
  | BotStorageFact
  | ProfileFieldFact
  | WebhookFact
  | QueueFact
  | StoreFact
