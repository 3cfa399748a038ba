// The catalogue's table of contents. Resources are loaded by name, so that one subcommand loads one page of it.

import type { Endpoints } from './define.ts'

export interface Page {
  readonly about: string
  /** First words of its subcommands. */
  readonly words: readonly string[]
  readonly load: () => Promise<Endpoints>
}

export const catalogue = {
  server: {
    about: 'what the server says of itself',
    words: ['server'],
    load: async () => (await import('./organization/server.ts')).server,
  },
  users: {
    about: 'people and bots, and your own account',
    words: ['users'],
    load: async () => (await import('./people/users.ts')).users,
  },
  messages: {
    about: 'send, read, edit, move and delete messages',
    words: ['send', 'messages'],
    load: async () => (await import('./messages/messages.ts')).messages,
  },
  'message-flags': {
    about: 'mark messages as read, starred or collapsed',
    words: ['flags'],
    load: async () => (await import('./messages/message-flags.ts')).messageFlags,
  },
  reactions: {
    about: 'react to messages with emoji',
    words: ['reactions'],
    load: async () => (await import('./messages/reactions.ts')).reactions,
  },
  'user-groups': {
    about: 'named sets of people',
    words: ['groups'],
    load: async () => (await import('./people/user-groups.ts')).userGroups,
  },
  settings: {
    about: 'your settings, and those new accounts start with',
    words: ['settings'],
    load: async () => (await import('./people/settings.ts')).settings,
  },
  presence: {
    about: 'report that you are active or idle, and see who is',
    words: ['presence', 'seen'],
    load: async () => (await import('./people/presence.ts')).presence,
  },
  'user-status': {
    about: 'a line of text and an emoji beside your name',
    words: ['status'],
    load: async () => (await import('./people/user-status.ts')).userStatus,
  },
  'muted-users': {
    about: 'people you do not want to hear',
    words: ['mutes'],
    load: async () => (await import('./people/muted-users.ts')).mutedUsers,
  },
  'alert-words': {
    about: 'words that make a message concern you',
    words: ['alerts'],
    load: async () => (await import('./people/alert-words.ts')).alertWords,
  },
  linkifiers: {
    about: 'patterns that become links',
    words: ['linkifiers'],
    load: async () => (await import('./organization/linkifiers.ts')).linkifiers,
  },
  playgrounds: {
    about: 'where code blocks can be opened and run',
    words: ['playgrounds'],
    load: async () => (await import('./organization/playgrounds.ts')).playgrounds,
  },
  organization: {
    about: 'the organization, its settings and email domains',
    words: ['org'],
    load: async () => (await import('./organization/organization.ts')).organization,
  },
  emoji: {
    about: 'emoji of the organization’s own',
    words: ['emoji'],
    load: async () => (await import('./organization/emoji.ts')).emoji,
  },
  invitations: {
    about: 'invite people, by mail or by link',
    words: ['invites'],
    load: async () => (await import('./people/invitations.ts')).invitations,
  },
  bots: {
    about: 'accounts for programs',
    words: ['bots'],
    load: async () => (await import('./bots/bots.ts')).bots,
  },
  'bot-storage': {
    about: 'what a bot remembers',
    words: ['bot-storage'],
    load: async () => (await import('./bots/bot-storage.ts')).botStorage,
  },
  webhooks: {
    about: 'what outgoing webhook bots are sent',
    words: ['webhooks'],
    load: async () => (await import('./bots/webhooks.ts')).webhooks,
  },
  keys: {
    about: 'API keys',
    words: ['keys'],
    load: async () => (await import('./people/keys.ts')).keys,
  },
  avatars: {
    about: 'your picture',
    words: ['avatar'],
    load: async () => (await import('./people/avatars.ts')).avatars,
  },
  'profile-fields': {
    about: 'what people tell of themselves, and what they are asked',
    words: ['profile-fields'],
    load: async () => (await import('./people/profile-fields.ts')).profileFields,
  },
  typing: {
    about: 'tell others that you are typing',
    words: ['typing'],
    load: async () => (await import('./messages/typing.ts')).typing,
  },
  channels: {
    about: 'create, configure and archive channels',
    words: ['channels'],
    load: async () => (await import('./channels/channels.ts')).channels,
  },
  subscriptions: {
    about: 'who follows which channel',
    words: ['subscribe', 'unsubscribe', 'subscriptions'],
    load: async () => (await import('./channels/subscriptions.ts')).subscriptions,
  },
  'default-channels': {
    about: 'channels that new accounts join',
    words: ['default-channels'],
    load: async () => (await import('./channels/default-channels.ts')).defaultChannels,
  },
  topics: {
    about: 'topics of a channel, and how you want to see them',
    words: ['topics'],
    load: async () => (await import('./channels/topics.ts')).topics,
  },
  'channel-folders': {
    about: 'folders that channels are grouped in',
    words: ['folders'],
    load: async () => (await import('./channels/channel-folders.ts')).channelFolders,
  },
  'saved-snippets': {
    about: 'pieces of text to use again',
    words: ['snippets'],
    load: async () => (await import('./messages/saved-snippets.ts')).savedSnippets,
  },
  'navigation-views': {
    about: 'what you keep in the sidebar',
    words: ['views'],
    load: async () => (await import('./people/navigation-views.ts')).navigationViews,
  },
  drafts: {
    about: 'messages not yet sent',
    words: ['drafts'],
    load: async () => (await import('./messages/drafts.ts')).drafts,
  },
  'scheduled-messages': {
    about: 'messages to be sent later',
    words: ['scheduled'],
    load: async () => (await import('./messages/scheduled-messages.ts')).scheduledMessages,
  },
  reminders: {
    about: 'what the notification bot is to remind you of',
    words: ['reminders'],
    load: async () => (await import('./messages/reminders.ts')).reminders,
  },
  uploads: {
    about: 'files to link in messages',
    words: ['uploads'],
    load: async () => (await import('./files/uploads.ts')).uploads,
  },
  events: {
    about: 'event queues, by hand; `natter tail` does it for you',
    words: ['queues'],
    load: async () => (await import('./events.ts')).events,
  },
} as const satisfies Record<string, Page>

export type ResourceName = keyof typeof catalogue
