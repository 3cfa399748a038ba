// Handlers of `api/control/drift.ts`.

import { drift as api } from '../../api/control/drift.ts'
import { resource } from './handler.ts'

export const drift = resource(api, {
  show: ({ plane }) => ({ drift: plane.drift }),
  keep({ plane }, report) {
    plane.drift = { time: plane.clock.now(), ...report }
    return {}
  },
})
