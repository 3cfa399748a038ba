// The organization: how it came to be. Its settings come with the resource of that name.

import type { Announcement, FactOf } from './resource.ts'
import type { Group, Organization, State, User } from './state.ts'

export type OrganizationFact = {
  readonly type: 'organization.founded'
  readonly organization: Organization
  readonly groups: readonly Group[]
  readonly users: readonly User[]
}

/** What the first start of a store is given: `data/seed.json`, with the owner's address and the name from the flags. */
export interface Founding {
  readonly organization: { readonly name: string; readonly description: string }
  readonly system_groups: readonly { readonly name: string; readonly description: string; readonly subgroup?: string }[]
  readonly system_bots: readonly { readonly full_name: string; readonly short_name: string }[]
  readonly owner: { readonly email: string; readonly full_name: string }
}

export function found(seed: Founding, emailDomain: string, now: number): OrganizationFact {
  const groups: Group[] = []
  for (const { name, description, subgroup } of seed.system_groups) {
    const subgroups = groups.filter(group => group.name === subgroup).map(group => group.id)
    groups.push({ id: groups.length + 1, name, description, system: true, members: [], subgroups })
  }
  const account = { active: true, joined: now, timezone: '', avatarVersion: 1, keyVersion: 1 }
  const bots = seed.system_bots.map(({ full_name, short_name }, index) => ({
    ...account,
    id: index + 1,
    email: `${short_name}@${emailDomain}`,
    fullName: full_name,
    role: 400 as const,
    canCreateUsers: false,
    bot: { type: 1 as const, ownerId: null, system: true },
  }))
  const owner: User = {
    ...account,
    id: bots.length + 1,
    email: seed.owner.email,
    fullName: seed.owner.full_name,
    role: 100,
    // Whoever starts the daemon runs the server too: they hold its account flags.
    canCreateUsers: true,
  }
  return {
    type: 'organization.founded',
    organization: { ...seed.organization, dateCreated: Math.floor(now / 1000) },
    groups: groups.map(group => (group.name === 'role:owners' ? { ...group, members: [owner.id] } : group)),
    users: [...bots, owner],
  }
}

export const organization = {
  api: {},
  commands: {},
  apply: {
    'organization.founded'(state: State, fact: FactOf<OrganizationFact, 'organization.founded'>): void {
      state.organization = fact.organization
      for (const group of fact.groups) state.groups.put(group)
      for (const user of fact.users) state.users.put(user)
    },
  },
  // Nobody can listen before there is anybody.
  announce: { 'organization.founded': (): Announcement[] => [] },
}
