// The report on a failed test: the logs, and what waits unread in every queue, with secrets hidden.

import { maskJson } from '../api/masking.ts'
import { readEvent } from '../events/event-text.ts'
import type { Queue } from '../events/queue.ts'
import type { ControlPlane } from './control-plane.ts'
import { Slices } from './recent.ts'

/** Characters of the unread events of all queues. In the daemon they need little memory, because queues share them. */
const mostUnread = 4 * 1024 * 1024

/** Other requests get their turn meanwhile. */
export async function makeReport(plane: ControlPlane) {
  const { calls, clock, deliveries, engine, events, faults, outbox, parts } = plane
  const slices = new Slices()
  const show = async <T, U>(items: readonly T[], present: (item: T) => U): Promise<U[]> => {
    const shown: U[] = []
    for (const item of items) {
      await slices.take()
      shown.push(JSON.parse(maskJson(JSON.stringify(present(item)))))
    }
    return shown
  }
  const queues = [...engine.queues.values()]
  let [room, left] = [mostUnread, queues.length]
  /** The newest, as many as have their share of the room. What a queue leaves of its share is for those after it. */
  const readNewest = ({ pending }: Queue) => {
    const end = room - room / left--
    let first = pending.length
    while (first > 0 && room - pending[first - 1]!.body.length >= end) room -= pending[--first]!.body.length
    return pending.slice(first).map(({ id, body }) => ({ id, ...readEvent(body) }))
  }
  return {
    version: parts.version,
    clock: { now: clock.now(), time: new Date(clock.now()).toISOString(), frozen: clock.frozen },
    calls: await show(calls.since(), call => ({ ...call, answer: calls.answerOf(call) })),
    // The shapes of a reply are not readonly, but these are never changed.
    events: (await show(events.since(), event => event)) as never[],
    queues: await show(queues, queue => ({
      queue_id: queue.id,
      user: engine.state.users.get(queue.userId)?.email ?? null,
      event_types: queue.eventTypes as string[] | null,
      narrow: [...queue.narrow],
      last_seen: queue.lastSeen,
      pending: queue.pending.length,
      events: readNewest(queue),
    })),
    faults: await show(faults.list(), fault => ({ ...fault })),
    mails: await show(outbox.since(), mail => ({ ...mail })),
    webhooks: (await show(deliveries.since(), delivery => delivery)) as never[],
  }
}
