// Every fact there is: what has happened, past tense, as the journal keeps it. Each subject declares its own in model/facts.

import type { BotStorageFact, WebhookFact } from './model/facts/bots.ts'
import type {
  ChannelFact,
  ChannelFolderFact,
  ChannelVisibilityChanged,
  DefaultChannelFact,
  SubscriptionFact,
  UserTopicFact,
} from './model/facts/channels.ts'
import type { UploadFact } from './model/facts/files.ts'
import type {
  DraftFact,
  MessageFact,
  ReminderFact,
  SavedSnippetFact,
  ScheduledMessageFact,
} from './model/facts/messages.ts'
import type {
  EmojiFact,
  ExportFact,
  LinkifierFact,
  OrganizationFact,
  PictureFact,
  PlaygroundFact,
} from './model/facts/organization.ts'
import type {
  AlertWordsFact,
  InvitationFact,
  MutedUserFact,
  NavigationViewFact,
  OnboardingFact,
  PresenceFact,
  ProfileFieldFact,
  PushDevicesFact,
  SettingsFact,
  UserFact,
  UserGroupFact,
  UserStatusFact,
} from './model/facts/people.ts'
import type { QueueFact, StoreFact } from './model/facts/queues.ts'

/** `daemon/replay.ts` applies those that no resource owns. */
export type Fact = ResourceFact | QueueFact | StoreFact

export type ResourceFact =
  | OrganizationFact
  | UserGroupFact
  | SettingsFact
  | UserStatusFact
  | PresenceFact
  | MutedUserFact
  | AlertWordsFact
  | PushDevicesFact
  | LinkifierFact
  | PlaygroundFact
  | EmojiFact
  | PictureFact
  | ExportFact
  | InvitationFact
  | UserFact
  | ChannelFact
  | ChannelVisibilityChanged
  | SubscriptionFact
  | DefaultChannelFact
  | UserTopicFact
  | ChannelFolderFact
  | SavedSnippetFact
  | NavigationViewFact
  | OnboardingFact
  | DraftFact
  | ScheduledMessageFact
  | ReminderFact
  | UploadFact
  | MessageFact
  | BotStorageFact
  | ProfileFieldFact
  | WebhookFact
