// Every rule of the permission model, by theme; each is a named constant with the sentence the generated docs print.
// Nothing else reads a role.

export * from './callers.ts'
export * from './channels.ts'
export * from './groups.ts'
export * from './messages.ts'
export * from './organization.ts'
export * from './people.ts'
export * from './rule.ts'
