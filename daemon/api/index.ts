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
    load: async () => (await import('./server.ts')).server,
  },
  users: {
    about: 'people and bots, and your own account',
    words: ['users'],
    load: async () => (await import('./users.ts')).users,
  },
  bots: {
    about: 'accounts for programs',
    words: ['bots'],
    load: async () => (await import('./bots.ts')).bots,
  },
  'bot-storage': {
    about: 'what a bot remembers',
    words: ['bot-storage'],
    load: async () => (await import('./bot-storage.ts')).botStorage,
  },
  keys: {
    about: 'API keys',
    words: ['keys'],
    load: async () => (await import('./keys.ts')).keys,
  },
  avatars: {
    about: 'your picture',
    words: ['avatar'],
    load: async () => (await import('./avatars.ts')).avatars,
  },
  'profile-fields': {
    about: 'what people tell of themselves, and what they are asked',
    words: ['profile-fields'],
    load: async () => (await import('./profile-fields.ts')).profileFields,
  },
  typing: {
    about: 'tell others that you are typing',
    words: ['typing'],
    load: async () => (await import('./typing.ts')).typing,
  },
  channels: {
    about: 'create, configure and archive channels',
    words: ['channels'],
    load: async () => (await import('./channels.ts')).channels,
  },
  subscriptions: {
    about: 'who follows which channel',
    words: ['subscribe', 'unsubscribe', 'subscriptions'],
    load: async () => (await import('./subscriptions.ts')).subscriptions,
  },
  'default-channels': {
    about: 'channels that new accounts join',
    words: ['default-channels'],
    load: async () => (await import('./default-channels.ts')).defaultChannels,
  },
  topics: {
    about: 'topics of a channel, and how you want to see them',
    words: ['topics'],
    load: async () => (await import('./topics.ts')).topics,
  },
  'channel-folders': {
    about: 'folders that channels are grouped in',
    words: ['folders'],
    load: async () => (await import('./channel-folders.ts')).channelFolders,
  },
  'saved-snippets': {
    about: 'pieces of text to use again',
    words: ['snippets'],
    load: async () => (await import('./saved-snippets.ts')).savedSnippets,
  },
  'navigation-views': {
    about: 'what you keep in the sidebar',
    words: ['views'],
    load: async () => (await import('./navigation-views.ts')).navigationViews,
  },
  drafts: {
    about: 'messages not yet sent',
    words: ['drafts'],
    load: async () => (await import('./drafts.ts')).drafts,
  },
  events: {
    about: 'event queues, by hand; `natter tail` does it for you',
    words: ['queues'],
    load: async () => (await import('./events.ts')).events,
  },
} as const satisfies Record<string, Page>

export type ResourceName = keyof typeof catalogue
