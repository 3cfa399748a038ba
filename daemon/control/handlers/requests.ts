// Handlers of `api/control/requests.ts`.

import { webhooks } from '../../api/bots/webhooks.ts'
import { requests as api } from '../../api/control/requests.ts'
import { requireEndpoint } from '../../domain/index.ts'
import { missingOwn, Refusal } from '../../domain/refusal.ts'
import type { Call } from '../calls.ts'
import { requireUser } from '../wait.ts'
import { clear, found, matching, newest, waitForEntry } from './entries.ts'
import { resource } from './handler.ts'

export const requests = resource(api, {
  async list({ plane }, { user, integration, since, limit, changed_since, within, full, ...filter }) {
    const { calls } = plane
    const endpoint = filter.endpoint === undefined ? undefined : requireEndpoint(filter.endpoint)
    const sought = matching({
      ...filter,
      endpoint,
      ...(user !== undefined && { user_id: requireUser(plane, user).id }),
    })
    const fits = (call: Call) =>
      sought(call) && (integration === undefined || (isPosted(call) && call.params.integration === integration))
    // A cursor of another run of the daemon is too high: start at the beginning.
    const changed = changed_since > calls.revision ? 0 : changed_since
    const list = () => newest(calls, since, limit, call => calls.revisionOf(call) > changed && fits(call))
    const requests = await found(plane, within, list)
    return {
      requests: full ? requests.map(call => ({ ...call, answer: calls.answerOf(call) })) : requests,
      last_id: calls.lastId,
      cursor: calls.revision,
    }
  },
  show({ plane }, { id }) {
    const request = plane.calls.since(id - 1)[0]
    if (request?.id !== id) throw missingOwn('id', 'call', id)
    return { request, answer: plane.calls.answerOf(request) }
  },
  findings({ plane: { findings } }) {
    if (!findings) throw new Refusal('This daemon does not check calls. Start it with --strict.', { kind: 'conflict' })
    return { findings: findings.list(), left_out: findings.leftOut }
  },
  wait(context, { since, within, integration, ...filter }) {
    if (filter.endpoint !== undefined) requireEndpoint(filter.endpoint)
    const posted = integration === undefined ? {} : { endpoint: webhooks.post.id, params: { integration } }
    return waitForEntry(context, { call: { ...posted, ...filter }, since, within })
  },
  clear: ({ plane }) => clear(plane.calls),
})

function isPosted({ endpoint }: Call): boolean {
  return endpoint === webhooks.post.id
}
