// Ways to log in, by the names the organization's settings know them by.

import type { State } from '../model/state.ts'
import { inQuotes, invalid, missing } from '../refusal.ts'
import type { ServerFacts } from '../resource.ts'

const methods = [
  'Dev',
  'Email',
  'LDAP',
  'RemoteUser',
  'SAML',
  'OpenID Connect',
  'GitHub',
  'Google',
  'GitLab',
  'Apple',
  'AzureAD',
] as const

type Enabled = Readonly<Record<string, boolean>>

/** What is switched on, for every way there is. */
export function enabledMethods({ organization }: State): Enabled {
  const given = (organization.settings.authentication_methods ?? {}) as Enabled
  return Object.fromEntries(methods.map(name => [name, given[name] ?? (name === 'Email' || name === 'Dev')]))
}

export function presentMethods(state: State, server: ServerFacts) {
  return presentEnabled(enabledMethods(state), server)
}

export function presentEnabled(enabled: Enabled, server: ServerFacts) {
  return Object.fromEntries(
    methods.map(name => {
      const available = isAvailable(name, server)
      const reason = available ? {} : { unavailable_reason: 'This server does not offer it.' }
      return [name, { enabled: enabled[name]!, available, ...reason }]
    }),
  )
}

/** The whole new table; refuses a request that enables nothing. */
export function checkMethods(state: State, server: ServerFacts, given: Enabled): Enabled {
  for (const [name, on] of Object.entries(given)) {
    if (!methods.some(known => known === name)) throw missing('authentication_methods', 'authentication method', name)
    if (on && !isAvailable(name, server))
      throw invalid('authentication_methods', `${inQuotes(name)} is not available on this server`)
  }
  if (!Object.values(given).includes(true)) throw invalid('authentication_methods', 'at least one must be enabled')
  const next = { ...enabledMethods(state), ...given }
  if (!methods.some(name => next[name] && isAvailable(name, server)))
    throw invalid('authentication_methods', 'at least one must stay enabled')
  return next
}

function isAvailable(name: string, server: ServerFacts): boolean {
  return name === 'Email' || (name === 'Dev' && server.devAuth)
}
