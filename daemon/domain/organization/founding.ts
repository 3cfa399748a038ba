// The organization: how it came to be.

import { groupPermissions, organizationPermissions } from '../../api/shapes/permission-settings.ts'
import type { OrganizationFounded } from '../model/facts/organization.ts'
import { roles } from '../model/roles.ts'
import type { Organization } from '../model/rows/organization.ts'
import type { Group, State, User } from '../model/state.ts'
import { seconds } from '../values/time.ts'

/** What the first start of a store is given: `data/seed.json`, with the owner's address and the name from the flags. */
interface Founding {
  readonly organization: { readonly name: string; readonly description: string }
  readonly system_groups: readonly { readonly name: string; readonly description: string; readonly subgroup?: string }[]
  readonly system_bots: readonly { readonly full_name: string; readonly short_name: string }[]
  readonly owner: { readonly email: string; readonly full_name: string }
}

/** `drawsAvatars`: new accounts get a Jdenticon, the owner's among them. */
export function found(seed: Founding, emailDomain: string, now: number, drawsAvatars = false): OrganizationFounded {
  const groups = systemGroups(seed)
  const groupId = (name: string) => groups.find(group => group.name === name)!.id
  const [notificationBot] = systemBots(seed, emailDomain, now, 1)
  const owner: User = {
    ...newAccount(now),
    id: 2,
    email: seed.owner.email,
    fullName: seed.owner.full_name,
    role: roles.owner,
    ...(drawsAvatars && { avatar: { version: 1, jdenticon: true } }),
    // The person who starts the daemon runs the server too and has its account flags.
    canCreateUsers: true,
    canChangeEmails: true,
  }
  const permissions = Object.fromEntries(
    Object.entries(organizationPermissions).map(([name, setting]) => [name, groupId(setting.default)]),
  ) as Organization['permissions']
  return {
    type: 'organization.founded',
    organization: {
      dateCreated: seconds(now),
      emailDomain,
      settings: { ...seed.organization, ...(drawsAvatars && { default_avatar_source: 'J' }) },
      permissions,
      userDefaults: {},
    },
    groups,
    users: [notificationBot!, owner],
  }
}

/**
 * The system bots besides the notification bot. They are created last, so that the IDs of the accounts of a seed do not depend on
 * how many there are.
 */
export function otherSystemBots(seed: Founding, emailDomain: string, now: number, firstId: number): User[] {
  return systemBots(seed, emailDomain, now, firstId - 1).slice(1)
}

/** System bots that an organization lacks because it was founded before they existed. An address that has an account stays with it. */
export function findMissingSystemBots(seed: Founding, { users, organization }: State, now: number): User[] {
  const bots = systemBots(seed, organization.emailDomain, now, 0)
  return bots
    .filter(({ email }) => users.find('email', email.toLowerCase()) === undefined)
    .map((bot, index) => ({ ...bot, id: users.nextId + index }))
}

function systemBots({ system_bots }: Founding, emailDomain: string, now: number, firstId: number): User[] {
  return system_bots.map(({ full_name, short_name }, index) => ({
    ...newAccount(now),
    id: firstId + index,
    email: `${short_name}@${emailDomain}`,
    fullName: full_name,
    role: roles.member,
    bot: { type: 1, ownerId: null, system: true },
  }))
}

function newAccount(now: number) {
  return {
    fullMember: true,
    active: true,
    joined: now,
    avatar: { version: 1 },
    keyVersion: 1,
    canCreateUsers: false,
    canChangeEmails: false,
    settings: {},
    profile: {},
  }
}

function systemGroups(seed: Founding): Group[] {
  const groups: Group[] = []
  for (const { name, description, subgroup } of seed.system_groups)
    groups.push({
      id: groups.length + 1,
      name,
      description,
      system: true,
      creatorId: null,
      dateCreated: null,
      deactivated: false,
      members: [],
      subgroups: groups.filter(group => group.name === subgroup).map(group => group.id),
      // No one may change a system group: the first one created is role:nobody.
      permissions: Object.fromEntries(Object.keys(groupPermissions).map(key => [key, 1])) as Group['permissions'],
    })
  return groups
}
