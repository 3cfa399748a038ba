// Everything the service remembers, one record per resource. Rows are what facts left behind, in our own words;
// what clients see is made from them by each resource's `present`.

import { Table } from './table.ts'

export const roles = { owner: 100, administrator: 200, moderator: 300, member: 400, guest: 600 } as const
export type Role = (typeof roles)[keyof typeof roles]

export interface Organization {
  readonly name: string
  readonly description: string
  readonly dateCreated: number
}

export interface User {
  readonly id: number
  /** The real address; what others see of it is a rule of visibility. */
  readonly email: string
  readonly fullName: string
  readonly role: Role
  readonly active: boolean
  readonly joined: number
  readonly timezone: string
  readonly avatarVersion: number
  /** Bumped to make the old API key worthless; the key itself is never stored. */
  readonly keyVersion: number
  /** scrypt, with its salt; absent for accounts that cannot log in by password. */
  readonly password?: string
  /** A flag of the account, given only by whoever runs the daemon: even owners lack it by default. */
  readonly canCreateUsers: boolean
  readonly bot?: Bot
}

export interface Bot {
  readonly type: 1 | 2 | 3 | 4
  readonly ownerId: number | null
  /** Part of the server itself, such as the notification bot. */
  readonly system: boolean
}

export interface Group {
  readonly id: number
  readonly name: string
  readonly description: string
  readonly system: boolean
  readonly members: readonly number[]
  readonly subgroups: readonly number[]
}

export interface SavedSnippet {
  readonly id: number
  readonly userId: number
  readonly title: string
  readonly content: string
  readonly dateCreated: number
}

export class State {
  organization: Organization = { name: '', description: '', dateCreated: 0 }
  readonly users = new Table<User, number, { email: (user: User) => string }>(user => user.id, {
    email: user => user.email.toLowerCase(),
  })
  readonly groups = new Table<Group, number, { name: (group: Group) => string }>(group => group.id, {
    name: group => group.name,
  })
  readonly savedSnippets = new Table<SavedSnippet, number, { user: (snippet: SavedSnippet) => number }>(
    snippet => snippet.id,
    { user: snippet => snippet.userId },
  )

  /** For the snapshot: rows are shared, not copied, which is safe because they never change. */
  save(): Record<string, unknown[]> {
    const sections: Record<string, unknown[]> = { organization: [this.organization] }
    for (const [name, table] of Object.entries(this)) if (table instanceof Table) sections[name] = table.save()
    return sections
  }

  static load(sections: Readonly<Record<string, Iterable<unknown>>>): State {
    const state = new State()
    for (const [name, saved] of Object.entries(sections)) {
      const table = (state as unknown as Record<string, unknown>)[name]
      if (table instanceof Table) table.load(saved)
      else if (name === 'organization') for (const row of saved) state.organization = row as Organization
    }
    return state
  }
}
