// Where the picture of somebody is, for those who ask by ID or address.

import { missing } from '../../refusal.ts'
import { type Asker, accessUser } from '../../rules/index.ts'
import { avatarUrl } from './present.ts'
import { visibleUser } from './read.ts'

export function avatarFor(asker: Asker, who: string, medium: boolean): string {
  const user = /^\d{1,15}$/.test(who) ? asker.state.users.get(Number(who)) : visibleUser(asker, who)
  if (!user || !accessUser.allows(asker, user)) throw missing('user_id_or_email', 'user', who)
  return avatarUrl(user, medium)
}
