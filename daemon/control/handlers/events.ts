// Handlers of `api/control/events.ts`.

import { eventLog as api } from '../../api/control/events.ts'
import { eventTypes } from '../../api/event-types.ts'
import { missing } from '../../domain/refusal.ts'
import { requireUser } from '../wait.ts'
import { clear, found, newest, waitForEntry } from './entries.ts'
import { resource } from './handler.ts'

const known: ReadonlySet<string> = new Set(eventTypes)

export const events = resource(api, {
  async list({ plane }, { user, type, queue, since, limit, within }) {
    if (type !== undefined && !known.has(type)) throw missing('type', 'event type', type)
    const reader = user === undefined ? undefined : requireUser(plane, user).id
    const log = plane.events
    // An ID of another run of the daemon is too high: start at the beginning.
    const seen = since > log.lastId ? 0 : since
    const list = () =>
      newest(log, seen, limit, ({ to, event, queues }) => {
        if (reader !== undefined && !to.includes(reader)) return false
        return (type === undefined || event.type === type) && (queue === undefined || queues.includes(queue))
      })
    const events = await found(plane, within, list)
    // The shapes of a reply are not readonly, but these are never changed.
    return { events: events as never, last_id: log.lastId }
  },
  wait: (context, sent) => waitForEntry(context, sent),
  clear: ({ plane }) => clear(plane.events),
})
