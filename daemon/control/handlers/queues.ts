// Handlers of `api/control/queues.ts`.

import { allQueues as api } from '../../api/control/queues.ts'
import { missingOwn } from '../../domain/refusal.ts'
import type { Queue } from '../../events/queue.ts'
import type { ControlPlane } from '../control-plane.ts'
import { findListening, requireUser, waitForListener } from '../wait.ts'
import { readDuration } from './durations.ts'
import { resource } from './handler.ts'

export const queues = resource(api, {
  list({ plane }, { user }) {
    const owner = user === undefined ? undefined : requireUser(plane, user).id
    const found = [...plane.engine.queues.values()].filter(({ userId }) => (owner ?? userId) === userId)
    return { queues: found.map(queue => presentQueue(plane, queue)) }
  },
  async wait({ plane }, { user, within }) {
    const { id } = requireUser(plane, user)
    const met = await waitForListener(plane, id, readDuration('within', within))
    if (!met) return { met: false, near: [] as never[] }
    const queue = findListening(plane, id)
    return { met: true, ...(queue && { queue: presentQueue(plane, queue) }) }
  },
  async expire({ plane }, { queue_id, user }) {
    const { engine } = plane
    if (queue_id !== undefined && !engine.queues.get(queue_id)) throw missingOwn('queue_id', 'queue', queue_id)
    const owner = user === undefined ? undefined : requireUser(plane, user).id
    const fits = (queue: Queue) => (owner ?? queue.userId) === queue.userId && (queue_id ?? queue.id) === queue.id
    const expired = [...engine.queues.values()].filter(fits).map(({ id }) => id)
    const facts = expired.map(queueId => ({ type: 'queue.removed' as const, queueId, reason: 'expired' as const }))
    if (facts.length > 0) await engine.record('expire-queues', null, facts)
    return { expired }
  },
})

function presentQueue(plane: ControlPlane, queue: Queue) {
  return {
    queue_id: queue.id,
    user: plane.engine.state.users.get(queue.userId)?.email ?? null,
    client: queue.clientName ?? null,
    event_types: queue.eventTypes as string[] | null,
    narrow: [...queue.narrow],
    pending: queue.pending.length,
    last_event_id: queue.newest,
    acknowledged: queue.acknowledged,
    waiting: queue.waiter !== undefined,
    last_seen: queue.lastSeen,
    expires: queue.lastSeen + queue.lifespan,
  }
}
