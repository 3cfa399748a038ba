// The address of a user's avatar, by ID or email address.

import type { Asker } from '../../rules/index.ts'
import { knownUserInPath } from '../../rules/user-access.ts'
import { avatarUrl, providerAvatarUrl, unknownAvatar } from './present.ts'

/** Hidden users look like unknown ones: an ID has a picture that says nothing, an address that of the provider. */
export function avatarFor(asker: Asker, who: string, medium: boolean): string {
  const user = knownUserInPath(asker, who)
  if (user) return avatarUrl(user, medium)
  return who.includes('@') ? providerAvatarUrl(who, medium) : unknownAvatar
}
