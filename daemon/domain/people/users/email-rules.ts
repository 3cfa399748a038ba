// Checks addresses of new accounts: the domains of the organization, and no disposable addresses.

import disposableDomains from '../../../../data/disposable-domains.json' with { type: 'json' }
import { organizationSetting } from '../../model/settings.ts'
import type { State } from '../../model/state.ts'

/** Why an account cannot have this address, or undefined when it can. */
export function emailProblem(state: State, email: string): string | undefined {
  const at = email.lastIndexOf('@')
  const host = email.slice(at + 1).toLowerCase()
  if (!organizationSetting(state, 'emails_restricted_to_domains'))
    return organizationSetting(state, 'disallow_disposable_email_addresses') && isDisposable(host)
      ? 'disposable addresses are not allowed in this organization'
      : undefined
  // One mailbox would pass for any number of people.
  if (email.slice(0, at).includes('+')) return 'addresses with + are not allowed in this organization'
  return isInDomains(state, host) ? undefined : 'the address is outside the domains of this organization'
}

function isInDomains(state: State, host: string): boolean {
  for (const { domain, allowSubdomains } of state.domains.values())
    if (host === domain || (allowSubdomains && host.endsWith(`.${domain}`))) return true
  return false
}

function isDisposable(host: string): boolean {
  disposable ??= new Set(disposableDomains.split(' '))
  return disposable.has(host)
}

// Shared by all worlds: made from a file that ships with the program, and never changed after that.
let disposable: ReadonlySet<string> | undefined
