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
  messages: {
    about: 'send, read, edit, move and delete messages',
    words: ['send', 'messages'],
    load: async () => (await import('./messages.ts')).messages,
  },
  'message-flags': {
    about: 'mark messages as read, starred or collapsed',
    words: ['flags'],
    load: async () => (await import('./message-flags.ts')).messageFlags,
  },
  reactions: {
    about: 'react to messages with emoji',
    words: ['reactions'],
    load: async () => (await import('./reactions.ts')).reactions,
  },
  typing: {
    about: 'tell others that you are typing',
    words: ['typing'],
    load: async () => (await import('./typing.ts')).typing,
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
