// `--dry-run` and `--curl` of subcommands that follow events: the call that would register the queue.

import type { Globals } from '../../../base/globals.ts'
import type { Account } from '../../../base/profile.ts'
import { encodeFields } from '../../../transport/connection.ts'
import { type Plan, registration } from './follow.ts'

export function isShown({ dryRun, curl }: Globals): boolean {
  return dryRun || curl
}

export async function showRegistration(account: Account, plan: Plan, globals: Globals): Promise<void> {
  const { printRequest } = await import('../../../print/request-text.ts')
  const fields = encodeFields(registration(plan))
  await printRequest(account, { method: 'POST', path: '/api/v1/register', fields }, globals)
}
