// The report on a failed test: the logs, and what waits unread in every queue, with secrets hidden.

import { maskJson } from '../api/masking.ts'
import { readEvent } from '../events/event-text.ts'
import type { ControlPlane } from './control-plane.ts'

export function makeReport(plane: ControlPlane) {
  const { calls, clock, deliveries, engine, events, faults, outbox, parts } = plane
  const report = {
    version: parts.version,
    clock: { now: clock.now(), time: new Date(clock.now()).toISOString(), frozen: clock.frozen },
    calls: calls.since().map(call => ({ ...call, answer: calls.answerOf(call) })),
    // The shapes of a reply are not readonly, but these are never changed.
    events: events.since() as never[],
    queues: [...engine.queues.values()].map(({ id, userId, eventTypes, narrow, lastSeen, pending }) => ({
      queue_id: id,
      user: engine.state.users.get(userId)?.email ?? null,
      event_types: eventTypes as string[] | null,
      narrow: [...narrow],
      last_seen: lastSeen,
      events: pending.map(event => ({ id: event.id, ...readEvent(event.body) })),
    })),
    faults: faults.list().map(fault => ({ ...fault })),
    mails: outbox.since().map(mail => ({ ...mail })),
    webhooks: deliveries.since() as never[],
  }
  return JSON.parse(maskJson(JSON.stringify(report))) as typeof report
}
