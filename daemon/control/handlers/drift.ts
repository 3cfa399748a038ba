// Handlers of `api/control/drift.ts`.

import { drift as page } from '../../api/control/drift.ts'
import { resource } from './handler.ts'

export const drift = resource(page, {
  // The shapes of a reply are not readonly, but a report is never changed.
  show: ({ plane }) => ({ drift: plane.drift as never }),
  keep({ plane }, report) {
    plane.drift = { time: plane.clock.now(), ...report }
    return {}
  },
})
