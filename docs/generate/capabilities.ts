// capabilities.md: what a client may declare when it registers a queue.

import { capabilities } from '../../daemon/api/capabilities.ts'
import { code, page, table } from './markdown.ts'

export function capabilitiesPage(): string {
  return page(
    'Client capabilities',
    'What a client may declare in `client_capabilities` of [POST /register](api.md#post-register). One that is absent counts as false; an unknown one changes nothing.',
    table(
      ['Capability', 'Since level', 'When declared'],
      Object.entries(capabilities).map(([name, { since, effect }]) => [code(name), String(since), effect]),
    ),
  )
}
