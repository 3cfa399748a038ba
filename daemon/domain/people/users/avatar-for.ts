// The address of a user's avatar, by ID or email address.

import { missing } from '../../refusal.ts'
import type { Asker } from '../../rules/index.ts'
import { knownUserInPath } from '../../rules/user-access.ts'
import { avatarUrl } from './present.ts'

export function avatarFor(asker: Asker, who: string, medium: boolean): string {
  const user = knownUserInPath(asker, who)
  if (!user) throw missing('user_id_or_email', 'user', who)
  return avatarUrl(user, medium)
}
