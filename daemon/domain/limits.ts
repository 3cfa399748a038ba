// Numeric limits of the API, in Unicode code points unless the name says otherwise. `register` reports most of them.

export const limits = {
  channelName: 60,
  channelDescription: 1024,
  folderName: 60,
  folderDescription: 1024,
  topic: 60,
  messageContent: 10_000,
  reminderNote: 1000,
  savedSnippetTitle: 60,
  statusText: 60,
  alertWord: 100,
  fullName: 100,
  groupName: 100,
  clientName: 30,
  organizationName: 40,
  bulkNewSubscriptionMessages: 100,
  longPollSeconds: 90,
  presencePingSeconds: 60,
  presenceOfflineSeconds: 200,
  typingAudience: 100,
  typingStartedWaitMs: 30_000,
  typingStoppedWaitMs: 12_000,
  typingStartedExpiryMs: 45_000,
  passwordMin: 6,
  passwordMax: 100,
  passwordGuesses: 10_000,
  queueLifespanSeconds: 600,
  queueLifespanMaxSeconds: 604_800,
} as const

/** Shown in place of the empty topic, and read as it. */
export const emptyTopicDisplayName = 'general chat'
