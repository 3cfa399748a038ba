// permissions.md: the law of every rule of the permission model.

import { roles } from '../../daemon/domain/model/roles.ts'
import * as permissions from '../../daemon/domain/rules/index.ts'
import { code, page, table } from './markdown.ts'

export function permissionsPage(): string {
  const rules = Object.entries(permissions as Record<string, unknown>)
    .filter((entry): entry is [string, { law: string }] => isRule(entry[1]))
    .sort(([a], [b]) => (a < b ? -1 : 1))
  return page(
    'Permissions',
    'Who may do what. All rules are in `daemon/domain/rules`; no other file reads a role. A caller who breaks a rule reads its refusal, which says what they cannot do and who can.',
    '## Rules',
    table(
      ['Rule', 'Law'],
      rules.map(([name, { law }]) => [code(name), law]),
    ),
    '## Roles',
    table(
      ['Role', 'Number in the API'],
      Object.entries(roles).map(([name, number]) => [name, String(number)]),
    ),
  )
}

function isRule(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'law' in value && 'allows' in value
}
