// Facts about bot storage and the deliveries of outgoing webhooks.

import type { WebhookDelivery } from '../rows/messages.ts'
import type { StoredItem } from '../rows/people.ts'

export type AnyBotFact = BotStorageFact | WebhookFact

export type BotStorageFact =
  | { readonly type: 'bot-storage.put'; readonly items: readonly StoredItem[] }
  | { readonly type: 'bot-storage.removed'; readonly userId: number; readonly keys: readonly string[] }

export type WebhookFact =
  | { readonly type: 'webhook.asked'; readonly delivery: WebhookDelivery }
  /** As the delivery is after the attempt; the oldest ones that are over are forgotten. */
  | { readonly type: 'webhook.attempted'; readonly delivery: WebhookDelivery; readonly forgotten?: readonly number[] }
