// Email domains: from which addresses may be when the organization restricts them.

import type { EmailDomain } from '../model/rows/organization.ts'
import type { State } from '../model/state.ts'
import { invalid, missing, taken } from '../refusal.ts'

export function checkDomain(state: State, given: string): string {
  const domain = given.trim().toLowerCase()
  if (domain.length > 255) throw invalid('domain', 'must be at most 255 characters')
  const labels = domain.split('.')
  const wellFormed = labels.length > 1 && labels.every(label => /^[a-z0-9]([a-z0-9-]*[a-z0-9])?$/.test(label))
  if (!wellFormed) throw invalid('domain', 'must be a domain such as example.com')
  if (state.domains.find('domain', domain)) throw taken('domain', domain)
  return domain
}

export function knownDomain(state: State, given: string): EmailDomain {
  const found = state.domains.find('domain', given.trim().toLowerCase())
  if (!found) throw missing('domain', 'domain', given)
  return found
}

export function presentDomain({ domain, allowSubdomains }: EmailDomain) {
  return { domain, allow_subdomains: allowSubdomains }
}
