// Numeric limits of the API, in Unicode code points unless the name says otherwise. `register` reports most of them.

import { longestContent, longestTopic } from '../api/shapes/messages.ts'

export const limits = {
  channelName: 60,
  channelDescription: 1024,
  folderName: 60,
  folderDescription: 1024,
  topic: longestTopic,
  messageContent: longestContent,
  /** HTML. Nothing a person writes comes near it: a text full of mentions takes half. */
  renderedContent: 300_000,
  reminderNote: 1000,
  reportDescription: 1000,
  savedSnippetTitle: 60,
  statusText: 60,
  alertWord: 100,
  /** Per account. */
  alertWords: 200,
  fullName: 100,
  groupName: 100,
  groupDescription: 1024,
  email: 254,
  deactivationComment: 2000,
  profileFieldName: 40,
  profileFieldHint: 80,
  profileShortText: 50,
  profileLongText: 500,
  botStorage: 10_000_000,
  imageMiB: 5,
  clientName: 30,
  /** Days. */
  deletionDelayDays: 14,
  playgroundText: 100,
  organizationName: 40,
  organizationDescription: 1000,
  welcomeMessage: 8000,
  jitsiUrl: 200,
  invitesAtOnce: 100,
  /** Mailed, by the whole organization. */
  invitationsPerDay: 1000,
  /** Request bodies may be a little larger. */
  fileUploadMiB: 100,
  bulkNewSubscriptionMessages: 100,
  longPollSeconds: 90,
  presencePingSeconds: 60,
  presenceOfflineSeconds: 200,
  typingAudience: 100,
  presenceEventAudience: 100,
  typingStartedWaitMs: 30_000,
  typingStoppedWaitMs: 12_000,
  typingStartedExpiryMs: 45_000,
  passwordMin: 6,
  passwordMax: 100,
  passwordGuesses: 10_000,
  queueLifespanSeconds: 600,
  queueLifespanMaxSeconds: 604_800,
} as const
