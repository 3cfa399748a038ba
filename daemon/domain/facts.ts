// Every fact there is: what has happened, past tense, as it stands in the journal.

import type { BotStorageFact } from './bots/bot-storage.ts'
import type { WebhookFact } from './bots/webhooks/index.ts'
import type { ChannelFolderFact } from './channels/channel-folders.ts'
import type { ChannelFact } from './channels/channels.ts'
import type { DefaultChannelFact } from './channels/default-channels.ts'
import type { SubscriptionFact } from './channels/subscriptions/index.ts'
import type { UserTopicFact } from './channels/topics.ts'
import type { VisibilityFact } from './channels/visibility.ts'
import type { UploadFact } from './files/uploads.ts'
import type { DraftFact } from './messages/drafts.ts'
import type { MessageFact } from './messages/facts.ts'
import type { ReminderFact } from './messages/reminders.ts'
import type { SavedSnippetFact } from './messages/saved-snippets.ts'
import type { ScheduledMessageFact } from './messages/scheduled-messages.ts'
import type { EmojiFact } from './organization/emoji.ts'
import type { LinkifierFact } from './organization/linkifiers.ts'
import type { OrganizationFact } from './organization/organization.ts'
import type { PlaygroundFact } from './organization/playgrounds.ts'
import type { AlertWordsFact } from './people/alert-words.ts'
import type { InvitationFact } from './people/invitations.ts'
import type { MutedUserFact } from './people/muted-users.ts'
import type { NavigationViewFact } from './people/navigation-views.ts'
import type { ProfileFieldFact } from './people/profile-fields/index.ts'
import type { SettingsFact } from './people/settings/index.ts'
import type { UserGroupFact } from './people/user-groups/facts.ts'
import type { UserStatusFact } from './people/user-status.ts'
import type { UserFact } from './people/users/facts.ts'

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
