// Numeric limits of the API, in Unicode code points unless the name says otherwise. `register` reports most of them.

import { longestContent, longestTopic, mostFiles } from '../api/shapes/messages.ts'

export const limits = {
  // OPEN: the public server sets no limit to how many linkifiers, custom emoji, groups and the like an organization has, nor to how many
  // drafts, reminders and the like an account has; here the largest organizations have room, and no program can fill the memory with them.
  linkifiers: 100,
  /** Instructions of the patterns of all linkifiers together, each with what must stand before and after it. */
  linkifierSize: 5000,
  /** Each of its templates. */
  linkifierTemplate: 2000,
  playgrounds: 100,
  profileFields: 100,
  customEmoji: 10_000,
  /** Every client gets all that it can see when it registers. */
  channels: 12_000,
  /** That a member and their bots create; administrators create any number. */
  channelsPerMember: 1000,
  /** Of one owner. */
  bots: 1000,
  userGroups: 10_000,
  /** That a member creates; bots create none, administrators any number. */
  userGroupsPerMember: 1000,
  /** In all groups together: who is in which group is worked out through all of them. */
  subgroups: 2000,
  /** In all groups together, system groups left out: every client gets all of them. */
  groupMembers: 200_000,
  channelFolders: 1000,
  defaultChannelGroups: 100,
  emailDomains: 1000,
  savedSnippets: 1000,
  drafts: 1000,
  scheduledMessages: 1000,
  reminders: 1000,
  /** HTML of all scheduled messages of an account, or of all its reminders: every client gets them when it registers. */
  waitingContent: 4_000_000,
  /** Of all drafts of an account, or of all its saved snippets: every client gets them too. */
  keptContent: 4_000_000,
  navigationViews: 1000,
  /** With a visibility policy. */
  userTopics: 10_000,
  /** Calls of the servers of all bots of one owner. */
  waitingDeliveries: 10_000,
  // OPEN: the public server limits neither how many accounts times channels one request subscribes or unsubscribes, nor how many files a
  // message may link, nor how many messages are listed with a file; here one request ends in a moment.
  subscriptionsAtOnce: 20_000,
  // OPEN: the public server does not limit how many people come to see, or no longer see, whom or which private channel by one change of
  // subscriptions or of a group; here all of them are told at once, in a moment.
  sightsAtOnce: 300_000,
  /** Groups and settings that list an account which comes back or goes: every queue gets an event for each. */
  membershipsAnnounced: 500,
  // OPEN: the public server does not limit from how many messages one request unsubscribes several accounts; here what an account has not
  // read becomes read in one step. The messages of a channel count for each account.
  readAtOnce: 3_000_000,
  /** Channels of accounts that are deactivated together, of which other subscribers get an event for each account. */
  departuresAnnounced: 1000,
  /** People and groups that one setting names without a group of their own: every client gets them with every channel and group. */
  namedInSetting: 100,
  /**
   * The same in the settings of all channels and groups together, beyond one name each, and beyond what one request adds.
   * OPEN: the public server has no such bound; here one member could make every `register` megabytes larger.
   */
  namedInAllSettings: 200_000,
  // OPEN: the public server does not limit the recipients of a direct message; here every conversation is remembered with all of them, and
  // is in the answer of `register` for each.
  directRecipients: 300,
  filesPerMessage: mostFiles,
  // OPEN: the public server lists all messages that link a file; here the newest 100, because an event repeats them for each one that is added.
  messagesListedPerFile: 100,
  /** Messages that share a file. */
  messagesPerFile: 10_000,
  // OPEN: the public server does not limit the reactions to a message, nor those of one account; here every client can still show it.
  reactionsPerMessage: 10_000,
  /** To one message, of an account and its bots: others must find room too. */
  reactionsPerAccount: 1000,
  /** How often a person in rows that a client sends can have come to a channel. */
  sentSpans: 1000,
  channelName: 60,
  channelDescription: 1024,
  /**
   * Of all channels that one request creates.
   * OPEN: the public server does not limit the descriptions of the channels that one request creates together; here rendering them would
   * keep other callers waiting for seconds.
   */
  newDescriptions: 20_000,
  /**
   * Of all channels and folders, without plain sentences. Descriptions with formulas count 50 times. The profiles in rows that a client
   * sends can have as much.
   * OPEN: the public server renders a description once, when it is written; here all of them are rendered in one turn after a start.
   */
  formattedDescriptions: 200_000,
  folderName: 60,
  folderDescription: 1024,
  topic: longestTopic,
  messageContent: longestContent,
  /** HTML. Nothing a person writes comes near it: a text full of mentions takes half. */
  renderedContent: 300_000,
  /**
   * Characters of all earlier versions of one message, and of what they were rendered to.
   * OPEN: the public server does not limit how often a message is edited or moved; here its history has a largest size, because every
   * page that shows the message has all of it.
   */
  messageHistory: 4 * 1024 * 1024,
  /** HTML, of a profile field too. */
  renderedDescription: 10_000,
  /**
   * That the searches of one narrow read.
   * OPEN: the public server searches in a database beside it; here all others wait for a search, so it ends within half a second.
   */
  searchedCharacters: 100_000_000,
  reminderNote: 1000,
  reportDescription: 1000,
  savedSnippetTitle: 60,
  statusText: 60,
  alertWord: 100,
  /** Per account. */
  alertWords: 200,
  pushToken: 4096,
  /** Per account. */
  pushDevices: 100,
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
  /**
   * Per account.
   * OPEN: the public server limits the characters in the storage of a bot only, not its keys, so that small values can fill the memory.
   */
  botStorageKeys: 10_000,
  imageMiB: 5,
  imagePixels: 90_000_000,
  fileName: 255,
  clientName: 30,
  /** Days. */
  deletionDelayDays: 14,
  // OPEN: the public server deletes a deactivated organization after any delay, unless a longest one is configured; here the time must be
  // one that a date can hold.
  longestDeletionDelayDays: 36_500,
  // OPEN: the public server does not limit the length of names of playgrounds; natter does.
  playgroundName: 100,
  playgroundLanguage: 40,
  organizationName: 40,
  organizationDescription: 1000,
  welcomeMessage: 8000,
  jitsiUrl: 200,
  /** Mailed, by the whole organization. */
  invitationsPerDay: 1000,
  // OPEN: the public server limits neither the links that an account makes nor what an invitation names; here accepting one ends in a moment.
  /** Open ones of one account. */
  invitationLinks: 1000,
  /** Channels and groups that one invitation names. */
  invitationPlaces: 1000,
  exportsPerWeek: 5,
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
  queueLifespanMobileSeconds: 43_200,
} as const
