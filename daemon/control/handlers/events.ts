// Handlers of `api/control/events.ts`.

import { eventLog as page } from '../../api/control/events.ts'
import { userOf } from '../wait.ts'
import { cleared, newest, waited } from './entries.ts'
import { resource } from './handler.ts'

export const events = resource(page, {
  list({ plane }, { user, type, since, limit }) {
    const reader = user === undefined ? undefined : userOf(plane, user).id
    const found = newest(plane.events, since, limit, ({ to, event }) => {
      return (reader === undefined || to.includes(reader)) && (type === undefined || event.type === type)
    })
    // The shapes of a reply are not readonly; nobody changes these.
    return { events: found as never, last_id: plane.events.lastId }
  },
  wait: (context, sent) => waited(context, sent),
  clear: ({ plane }) => cleared(plane.events),
})
