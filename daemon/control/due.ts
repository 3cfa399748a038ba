// Lists what falls due next by the clock of a daemon: scheduled messages, reminders, the expiry of queues, attempts of webhooks.

import type { ControlPlane } from './control-plane.ts'

interface DueEntry {
  /** Milliseconds, by the daemon's clock. */
  readonly at: number
  readonly kind: 'scheduled message' | 'reminder' | 'queue expiry' | 'webhook attempt'
  /** Address of the account it belongs to. */
  readonly user: string | null
  readonly about: string
}

/** Characters of a message that are shown. */
const excerpt = 80

/** Soonest first. As many as there are queues and planned messages, each of which has a bound of its own. */
export function whatFallsDue({ engine }: ControlPlane): DueEntry[] {
  const { state, queues } = engine
  const emailOf = (id: number) => state.users.get(id)?.email ?? null
  const found: DueEntry[] = []
  for (const { due, failed, userId, content } of state.scheduledMessages.values())
    if (!failed)
      found.push({ at: due * 1000, kind: 'scheduled message', user: emailOf(userId), about: content.slice(0, excerpt) })
  for (const { due, failed, userId, note, content } of state.reminders.values())
    if (!failed)
      found.push({
        at: due * 1000,
        kind: 'reminder',
        user: emailOf(userId),
        about: (note || content).slice(0, excerpt),
      })
  // A queue with a waiting poll is in use and does not expire.
  for (const { id, userId, lastSeen, lifespan, waiter } of queues.values())
    if (!waiter) found.push({ at: lastSeen + lifespan, kind: 'queue expiry', user: emailOf(userId), about: id })
  for (const { due, botId, messageId } of state.webhookDeliveries.values())
    if (due !== null)
      found.push({ at: due, kind: 'webhook attempt', user: emailOf(botId), about: `message ${messageId}` })
  return found.sort((a, b) => a.at - b.at)
}
