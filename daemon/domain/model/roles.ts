// Roles, and sets of people as permissions name them.

export const roles = { owner: 100, administrator: 200, moderator: 300, member: 400, guest: 600 } as const

export type Role = (typeof roles)[keyof typeof roles]

/** A set of users: a group's ID, or users and groups listed. Always in normal form (`group-values.ts`). */
export type GroupValue =
  | number
  | { readonly direct_members: readonly number[]; readonly direct_subgroups: readonly number[] }
