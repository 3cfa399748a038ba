// Handlers of `api/control/why.ts`.

import { why as api } from '../../api/control/why.ts'
import { needed, onlyOneOf } from '../../domain/refusal.ts'
import { requireUser } from '../wait.ts'
import { explainMessage } from '../why.ts'
import { explainCall } from '../why-call.ts'
import { resource } from './handler.ts'

export const why = resource(api, {
  explain({ plane }, { message, user, call }) {
    if (call !== undefined) {
      if (message !== undefined || user !== undefined) throw onlyOneOf('call', 'message')
      return explainCall(plane, call)
    }
    if (message === undefined) throw needed('message', 'together with user, unless call is given')
    if (user === undefined) throw needed('user', 'together with message')
    return explainMessage(plane, message, requireUser(plane, user))
  },
})
