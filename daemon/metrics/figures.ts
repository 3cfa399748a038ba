// Figures of a world at the moment of a scrape.

import type { Engine } from '../engine.ts'

export interface WorldFigures {
  readonly users: number
  readonly messages: number
  readonly queues: number
  /** Polls that wait for an event. */
  readonly waitingPolls: number
  readonly pendingEvents: number
  /** Characters of all pending events. */
  readonly pendingSize: number
  /** Of the newest entry of the journal. */
  readonly position: number
  /** undefined where nothing is written. */
  readonly journalBytes: number | undefined
  /** Of the newest snapshot; undefined before the first one. */
  readonly snapshot: { readonly position: number; readonly ageSeconds: number } | undefined
  /** Calls of bots' servers that are still to be made. */
  readonly waitingWebhooks: number
}

/** What a world tells the metrics, and what it shows at /metrics. */
export interface WorldMetrics {
  readonly contentType: string
  text(): Promise<string>
  countWebhook(outcome: WebhookOutcome): void
}

/** What a call of a bot's server came to. */
export type WebhookOutcome = 'answered' | 'unreachable' | 'impossible' | 'pointless'

/** Looks at every queue and every account once. */
export function collectFigures(engine: Engine, journalBytes: number | null, now: number): WorldFigures {
  const { state, queues, position, newestSnapshot } = engine
  let waitingPolls = 0
  let pendingEvents = 0
  let pendingSize = 0
  for (const queue of queues.values()) {
    if (queue.waiter) waitingPolls++
    pendingEvents += queue.pending.length
    pendingSize += queue.size
  }
  return {
    users: [...state.users.values()].filter(user => user.active).length,
    messages: state.messages.count,
    queues: queues.size,
    waitingPolls,
    pendingEvents,
    pendingSize,
    position,
    journalBytes: journalBytes ?? undefined,
    snapshot: newestSnapshot && {
      position: newestSnapshot.position,
      ageSeconds: Math.max(0, (now - newestSnapshot.time) / 1000),
    },
    waitingWebhooks: state.webhookDeliveries.count('waiting', 1),
  }
}
