// The catalogue's table of contents. Pages are loaded by name, so that one subcommand loads one page.

import type { Page } from './define.ts'

export const catalogue = {
  server: {
    about: 'settings of the server',
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
    about: 'user groups',
    words: ['groups'],
    load: async () => (await import('./people/user-groups.ts')).userGroups,
  },
  settings: {
    about: 'your settings, and the defaults for new accounts',
    words: ['settings'],
    load: async () => (await import('./people/settings.ts')).settings,
  },
  presence: {
    about: 'report whether you are active or idle, and see who is',
    words: ['presence', 'seen'],
    load: async () => (await import('./people/presence.ts')).presence,
  },
  'user-status': {
    about: 'the text and emoji shown next to your name',
    words: ['status'],
    load: async () => (await import('./people/user-status.ts')).userStatus,
  },
  'muted-users': {
    about: 'users you have muted',
    words: ['mutes'],
    load: async () => (await import('./people/muted-users.ts')).mutedUsers,
  },
  'alert-words': {
    about: 'words that notify you when they are mentioned',
    words: ['alerts'],
    load: async () => (await import('./people/alert-words.ts')).alertWords,
  },
  'push-devices': {
    about: 'your devices for push notifications',
    words: ['push'],
    load: async () => (await import('./people/push-devices.ts')).pushDevices,
  },
  linkifiers: {
    about: 'text patterns that become links',
    words: ['linkifiers'],
    load: async () => (await import('./organization/linkifiers.ts')).linkifiers,
  },
  playgrounds: {
    about: 'sites that open and run code blocks',
    words: ['playgrounds'],
    load: async () => (await import('./organization/playgrounds.ts')).playgrounds,
  },
  'video-calls': {
    about: 'addresses of video calls',
    words: ['calls'],
    load: async () => (await import('./organization/video-calls.ts')).videoCalls,
  },
  organization: {
    about: 'the organization, its settings and email domains',
    words: ['org'],
    load: async () => (await import('./organization/organization.ts')).organization,
  },
  exports: {
    about: 'archives of the organization; `natter org export` makes and downloads one',
    words: ['exports'],
    load: async () => (await import('./organization/exports.ts')).dataExports,
  },
  emoji: {
    about: 'custom emoji of the organization',
    words: ['emoji'],
    load: async () => (await import('./organization/emoji.ts')).emoji,
  },
  invitations: {
    about: 'invite people by email or link',
    words: ['invites'],
    load: async () => (await import('./people/invitations.ts')).invitations,
  },
  bots: {
    about: 'accounts for programs',
    words: ['bots'],
    load: async () => (await import('./bots/bots.ts')).bots,
  },
  'bot-storage': {
    about: 'key-value storage of a bot',
    words: ['bot-storage'],
    load: async () => (await import('./bots/bot-storage.ts')).botStorage,
  },
  webhooks: {
    about: 'outgoing webhook bots, and messages that other services post',
    words: ['webhooks'],
    load: async () => (await import('./bots/webhooks.ts')).webhooks,
  },
  keys: {
    about: 'API keys',
    words: ['keys'],
    load: async () => (await import('./people/keys.ts')).keys,
  },
  avatars: {
    about: 'your avatar',
    words: ['avatar'],
    load: async () => (await import('./people/avatars.ts')).avatars,
  },
  'profile-fields': {
    about: 'custom profile fields, and your values for them',
    words: ['profile-fields'],
    load: async () => (await import('./people/profile-fields.ts')).profileFields,
  },
  typing: {
    about: 'show others that you are typing',
    words: ['typing'],
    load: async () => (await import('./messages/typing.ts')).typing,
  },
  channels: {
    about: 'create, configure and archive channels',
    words: ['channels'],
    load: async () => (await import('./channels/channels.ts')).channels,
  },
  subscriptions: {
    about: 'subscribe to channels, and see who is subscribed',
    words: ['subscribe', 'unsubscribe', 'subscriptions'],
    load: async () => (await import('./channels/subscriptions.ts')).subscriptions,
  },
  'default-channels': {
    about: 'channels that new accounts are subscribed to',
    words: ['default-channels'],
    load: async () => (await import('./channels/default-channels.ts')).defaultChannels,
  },
  topics: {
    about: 'list, follow, mute, rename and delete topics',
    words: ['topics'],
    load: async () => (await import('./channels/topics.ts')).topics,
  },
  'channel-folders': {
    about: 'folders that group channels',
    words: ['folders'],
    load: async () => (await import('./channels/channel-folders.ts')).channelFolders,
  },
  'saved-snippets': {
    about: 'saved pieces of text',
    words: ['snippets'],
    load: async () => (await import('./messages/saved-snippets.ts')).savedSnippets,
  },
  'navigation-views': {
    about: 'views in your sidebar',
    words: ['views'],
    load: async () => (await import('./people/navigation-views.ts')).navigationViews,
  },
  'onboarding-steps': {
    about: 'hints for new users that you have seen',
    words: ['onboarding'],
    load: async () => (await import('./people/onboarding-steps.ts')).onboardingSteps,
  },
  pictures: {
    about: 'the icon and the logos of the organization',
    words: ['icon', 'logo'],
    load: async () => (await import('./organization/pictures.ts')).pictures,
  },
  drafts: {
    about: 'drafts of messages',
    words: ['drafts'],
    load: async () => (await import('./messages/drafts.ts')).drafts,
  },
  'scheduled-messages': {
    about: 'messages to send later',
    words: ['scheduled'],
    load: async () => (await import('./messages/scheduled-messages.ts')).scheduledMessages,
  },
  reminders: {
    about: 'reminders from the notification bot',
    words: ['reminders'],
    load: async () => (await import('./messages/reminders.ts')).reminders,
  },
  uploads: {
    about: 'files to link in messages',
    words: ['uploads'],
    load: async () => (await import('./files/uploads.ts')).uploads,
  },
  events: {
    about: 'event queues; `natter tail` manages one for you',
    words: ['queues'],
    load: async () => (await import('./events.ts')).events,
  },
} as const satisfies Record<string, Page>
