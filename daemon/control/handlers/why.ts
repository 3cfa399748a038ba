// Handlers of `api/control/why.ts`.

import { why as api } from '../../api/control/why.ts'
import { needed, onlyOneOf } from '../../domain/refusal.ts'
import { requireUser } from '../wait.ts'
import { explainMessage, explainToAll } from '../why.ts'
import { explainCall } from '../why-call.ts'
import { resource } from './handler.ts'

export const why = resource(api, {
  explain({ plane }, { message, user, call }) {
    if (call !== undefined) {
      if (message !== undefined || user !== undefined) throw onlyOneOf('call', 'message')
      return explainCall(plane, call)
    }
    if (message === undefined) throw needed('message', 'unless call is given')
    if (user === undefined) return explainToAll(plane, message)
    return explainMessage(plane, message, requireUser(plane, user))
  },
})
