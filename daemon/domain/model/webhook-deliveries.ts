// Deliveries of outgoing webhooks: one row for each call to the server of a bot.

import { Table } from './table.ts'

export type Trigger = 'mention' | 'direct_message'

export interface WebhookDelivery {
  readonly id: number
  readonly botId: number
  readonly messageId: number
  readonly trigger: Trigger
  /** Milliseconds. */
  readonly queued: number
  readonly status: 'waiting' | 'delivered' | 'failed'
  readonly attempts: number
  /** Asked for once more by a person. */
  readonly again?: boolean
  /** Milliseconds of the next attempt; null when there will be none. */
  readonly due: number | null
  readonly httpStatus?: number
  readonly error?: string
  /** How the answer began. */
  readonly response?: string
}

export function deliveryTable() {
  return new Table((delivery: WebhookDelivery) => delivery.id, {
    waiting: (delivery: WebhookDelivery) => (delivery.due === null ? undefined : 1),
    bot: (delivery: WebhookDelivery) => delivery.botId,
  })
}
