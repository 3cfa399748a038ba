// Every fact there is: what has happened, past tense, as it stands in the journal.

import type { DraftFact } from './drafts.ts'
import type { MessageFact } from './messages/facts.ts'
import type { NavigationViewFact } from './navigation-views.ts'
import type { OrganizationFact } from './organization.ts'
import type { SavedSnippetFact } from './saved-snippets.ts'
import type { UserFact } from './users.ts'

/** Facts of the event queues; applied by `events/queues.ts`, which owns them. */
export type QueueFact =
  | { readonly type: 'queue.registered'; readonly queue: QueueRegistration }
  | { readonly type: 'queue.acknowledged'; readonly queueId: string; readonly upTo: number }
  | { readonly type: 'queue.removed'; readonly queueId: string; readonly reason: 'deleted' | 'expired' | 'overflowed' }

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
  | UserFact
  | SavedSnippetFact
  | NavigationViewFact
  | DraftFact
  | MessageFact
  | QueueFact
