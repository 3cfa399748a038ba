// API keys: new ones, and those of others on a server for development.

import { keys as api } from '../../api/people/keys.ts'
import { userByEmail } from '../model/lookups.ts'
import type { User } from '../model/state.ts'
import { enabledMethods } from '../organization/authentication.ts'
import { invalid, organizationDeactivated, Refusal, unauthenticated, userDeactivated } from '../refusal.ts'
import { resource, type Surroundings } from '../resource.ts'
import { isAdministrator } from '../rules/index.ts'
import { noteFirstLogin } from './users/lifecycle.ts'

export const keys = resource(api)<never>({
  commands: {
    regenerate(ctx) {
      const keyVersion = ctx.actor.keyVersion + 1
      return {
        facts: [{ type: 'user.key-regenerated', userId: ctx.actor.id, keyVersion }],
        reply: { api_key: ctx.keys.deriveKey({ ...ctx.actor, keyVersion }) },
      }
    },

    devFetch(ctx, { username }) {
      insistOnDevelopment(ctx)
      if (!username.includes('@')) throw invalid('username', 'must be an email address')
      if (ctx.state.organization.deactivated) throw organizationDeactivated()
      const user = userByEmail(ctx.state, username)
      if (!user || user.bot) throw unauthenticated('AUTHENTICATION_FAILED', 'There is no such account.')
      if (!user.active) throw userDeactivated()
      return {
        facts: noteFirstLogin(ctx, user),
        reply: { api_key: ctx.keys.deriveKey(user), email: user.email, user_id: user.id },
      }
    },

    devUsers(ctx) {
      insistOnDevelopment(ctx)
      const people = [...ctx.state.users.values()].filter(user => user.active && !user.bot)
      const listed = (wanted: (user: User) => boolean) =>
        people.filter(wanted).map(({ email }) => ({ email, realm_url: ctx.server.url }))
      return {
        reply: { direct_admins: listed(isAdministrator), direct_users: listed(user => !isAdministrator(user)) },
      }
    },
  },
  apply: {},
  announce: {},
})

function insistOnDevelopment({ server, state }: Surroundings): void {
  if (!server.devAuth)
    throw new Refusal('Keys without a password need a daemon that runs with --dev-auth.', { kind: 'forbidden' })
  if (!enabledMethods(state).Dev)
    throw new Refusal('This organization does not allow keys without a password.', { kind: 'forbidden' })
}
