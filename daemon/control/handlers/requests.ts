// Handlers of `api/control/requests.ts`.

import { requests as page } from '../../api/control/requests.ts'
import { missing, missingOwn } from '../../domain/refusal.ts'
import { userOf } from '../wait.ts'
import { cleared, matching, newest, waited } from './entries.ts'
import { type ControlContext, resource } from './handler.ts'

export const requests = resource(page, {
  list(context, { user, since, limit, ...filter }) {
    checkEndpoint(context, filter.endpoint)
    const of = user === undefined ? {} : { user_id: userOf(context.plane, user).id }
    const { calls } = context.plane
    return { requests: newest(calls, since, limit, matching({ ...filter, ...of })), last_id: calls.lastId }
  },
  show({ plane }, { id }) {
    const request = plane.calls.since(id - 1)[0]
    if (request?.id !== id) throw missingOwn('id', 'call', id)
    return { request, answer: plane.calls.answerOf(request) }
  },
  wait(context, { since, within, ...call }) {
    checkEndpoint(context, call.endpoint)
    return waited(context, { call, since, within })
  },
  clear: ({ plane }) => cleared(plane.calls),
})

function checkEndpoint({ knows }: ControlContext, endpoint: string | undefined): void {
  if (endpoint !== undefined && !knows(endpoint)) throw missing('endpoint', 'endpoint', endpoint)
}
