// Handlers of `api/control/outbox.ts`.

import { outbox as api } from '../../api/control/outbox.ts'
import { clear, matching, newest } from './entries.ts'
import { resource } from './handler.ts'

export const outbox = resource(api, {
  list({ plane }, { since, limit, ...filter }) {
    return { mails: newest(plane.outbox, since, limit, matching(filter)), last_id: plane.outbox.lastId }
  },
  clear: ({ plane }) => clear(plane.outbox),
})
