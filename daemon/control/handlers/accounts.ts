// Handlers of `api/control/accounts.ts`.

import { accounts as api } from '../../api/control/accounts.ts'
import type { User } from '../../domain/model/state.ts'
import type { ControlPlane } from '../control-plane.ts'
import { requireUser } from '../wait.ts'
import { resource } from './handler.ts'

export const accounts = resource(api, {
  list({ plane }, { name }) {
    if (name !== undefined) return { account: presentAccount(plane, requireUser(plane, name, 'name')) }
    return { accounts: presentAccounts(plane) }
  },
})

/** Of all accounts that can use the API. */
export function presentAccounts(plane: ControlPlane) {
  const active = [...plane.engine.state.users.values()].filter(user => user.active && !user.bot?.system)
  return active.map(user => presentAccount(plane, user))
}

export function presentAccount({ parts }: ControlPlane, user: User) {
  return { user_id: user.id, email: user.email, full_name: user.fullName, api_key: parts.keys.deriveKey(user) }
}
