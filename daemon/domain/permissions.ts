// Every rule of the permission model, by theme; each is a named constant with the sentence the generated docs print.
// Nothing else reads a role.

export * from './permissions/channels.ts'
export * from './permissions/groups.ts'
export * from './permissions/messages.ts'
export * from './permissions/organization.ts'
export * from './permissions/people.ts'
export * from './permissions/rule.ts'
