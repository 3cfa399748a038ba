// Handlers of `api/control/webhooks.ts`.

import { webhookRequests as api } from '../../api/control/webhooks.ts'
import { requireUser } from '../wait.ts'
import { matching, newest, waitForEntry } from './entries.ts'
import { resource } from './handler.ts'

export const webhooks = resource(api, {
  list({ plane }, { bot, since, limit, ...filter }) {
    const of = bot === undefined ? {} : { bot_id: requireUser(plane, bot, 'bot').id }
    const { deliveries } = plane
    const found = newest(deliveries, since, limit, matching({ ...filter, ...of }))
    return { deliveries: found as never, last_id: deliveries.lastId }
  },
  wait: (context, { since, within, ...webhook }) => waitForEntry(context, { webhook, since, within }),
})
