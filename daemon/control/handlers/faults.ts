// Handlers of `api/control/faults.ts`.

import { faults as api, faultKinds } from '../../api/control/faults.ts'
import { missingOwn } from '../../domain/refusal.ts'
import { checkRule } from '../faults.ts'
import { requireUser } from '../wait.ts'
import { resource } from './handler.ts'

export const faults = resource(api, {
  add({ plane }, rule) {
    return { fault: plane.faults.add(checkRule(rule, name => requireUser(plane, name).email)) }
  },
  list: ({ plane }) => ({ faults: plane.faults.list(), kinds: faultKinds }),
  remove({ plane }, { id }) {
    if (id === undefined) plane.faults.clear()
    else if (!plane.faults.remove(id)) throw missingOwn('id', 'fault', id)
    return {}
  },
})
