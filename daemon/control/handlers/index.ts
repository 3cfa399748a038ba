// Every page of the control plane with its handlers.

import { accounts } from './accounts.ts'
import { clock } from './clock.ts'
import { drift } from './drift.ts'
import { events } from './events.ts'
import { faults } from './faults.ts'
import type { ControlResource } from './handler.ts'
import { live } from './live.ts'
import { outbox } from './outbox.ts'
import { queues } from './queues.ts'
import { recording } from './recording.ts'
import { report } from './report.ts'
import { requests } from './requests.ts'
import { rules } from './rules.ts'
import { snapshots } from './snapshots.ts'
import { spaces } from './spaces.ts'
import { webhooks } from './webhooks.ts'
import { why } from './why.ts'

export const controlResources: readonly ControlResource[] = [
  clock,
  snapshots,
  spaces,
  faults,
  requests,
  events,
  queues,
  live,
  outbox,
  webhooks,
  why,
  report,
  recording,
  drift,
  rules,
  accounts,
]
