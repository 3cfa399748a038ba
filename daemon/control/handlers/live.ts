// Handlers of `api/control/live.ts`.

import { live as api } from '../../api/control/live.ts'
import type { ControlPlane } from '../control-plane.ts'
import { longestWatch } from '../live.ts'
import { clockReply } from './clock.ts'
import { readDuration } from './durations.ts'
import { resource } from './handler.ts'

export const live = resource(api, {
  async watch({ plane }, { events, requests, within, limit }) {
    const { calls, events: log } = plane
    // Numbers of another run of the daemon are too high: start at the beginning.
    const seen = events > log.lastId ? 0 : events
    const known = requests > calls.revision ? 0 : requests
    const wait = Math.min(readDuration('within', within), longestWatch)
    if (log.lastId === seen && calls.revision === known) await plane.live.next(wait)
    return {
      // The shapes of a reply are not readonly, but these are never changed.
      events: log.since(seen).slice(-limit) as never,
      events_cursor: log.lastId,
      requests: calls.changedSince(known).slice(-limit),
      requests_cursor: calls.revision,
      clock: clockReply(plane),
      health: measureHealth(plane),
    }
  },
  health: ({ plane }) => ({ health: measureHealth(plane) }),
})

function measureHealth({ engine, parts, calls, events }: ControlPlane) {
  const { rss, heapUsed } = process.memoryUsage()
  const queues = [...engine.queues.values()]
  return {
    version: parts.version,
    uptime_ms: Math.round(process.uptime() * 1000),
    rss,
    heap_used: heapUsed,
    position: engine.position,
    journal_bytes: parts.journalSize(),
    queues: queues.length,
    waiting: queues.filter(queue => queue.waiter !== undefined).length,
    pending: queues.reduce((sum, queue) => sum + queue.pending.length, 0),
    calls: calls.lastId,
    events: events.lastId,
  }
}
