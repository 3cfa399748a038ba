// A state as the rows of its sections, the form in which it is saved.

import type { WebhookDelivery } from './rows/messages.ts'

/** The files that rows of a state refer to. */
export function filesIn(sections: Readonly<Record<string, readonly unknown[]>>): string[] {
  const { files = [] } = (sections.messages?.[0] ?? {}) as { readonly files?: readonly (string | null)[] }
  return files.filter(file => file !== null)
}

/** All rows at once; a state gives them one by one. */
export function collectRows(saved: Readonly<Record<string, Iterable<unknown>>>): Record<string, unknown[]> {
  return Object.fromEntries(Object.entries(saved).map(([name, rows]) => [name, [...rows]]))
}

/**
 * For another state. Each row is copied, because caches are keyed by rows, so that two states must not share one. The values in a row
 * never change, so they can be shared.
 */
export function copyRows(sections: Readonly<Record<string, readonly unknown[]>>): Record<string, object[]> {
  const copied = Object.entries(sections).map(([name, rows]) => [name, rows.map(row => ({ ...(row as object) }))])
  return Object.fromEntries(copied)
}

/** Rows with a link that works for anyone who has it: one that comes from a copy must not make an account in the first world. */
const withLinks = ['invitations', 'emailChanges']

/**
 * The rows that another world begins with. Answers to idempotency keys stay behind, because they belong to requests to one store,
 * and to its secret, and so do rows with links. Webhooks that wait are given up, because the first world calls the server of the bot.
 */
export function rowsForCopy<Rows extends Iterable<unknown>>(
  saved: Readonly<Record<string, Rows>>,
): Record<string, Rows | unknown[]> {
  const { answers: _answers, ...copied }: Record<string, Rows | unknown[]> = saved
  // The head of a table stays: the highest ID that was used.
  for (const section of withLinks) copied[section] = [...(copied[section] ?? [])].slice(0, 1)
  const deliveries = [...(copied.webhookDeliveries ?? [])] as WebhookDelivery[]
  if (deliveries.length > 0) copied.webhookDeliveries = deliveries.map(giveUp)
  return copied
}

/** Rows of the head of a table stay as they are. */
function giveUp(row: WebhookDelivery): WebhookDelivery {
  if (row.status !== 'waiting') return row
  return { ...row, status: 'failed', due: null, error: 'Not sent: it waited when the organization was copied' }
}
