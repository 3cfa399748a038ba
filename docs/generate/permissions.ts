// permissions.md: every rule of the permission model, in its own words.

import { roles } from '../../daemon/domain/model/roles.ts'
import * as permissions from '../../daemon/domain/rules/index.ts'
import { code, page, table } from './markdown.ts'

export function permissionsPage(): string {
  const rules = Object.entries(permissions as Record<string, unknown>)
    .filter((entry): entry is [string, { sentence: string }] => isRule(entry[1]))
    .sort(([a], [b]) => (a < b ? -1 : 1))
  return page(
    'Permissions',
    'Who may do what. All rules stand in `daemon/domain/rules`; no other file reads a role.',
    '## Rules',
    table(
      ['Rule', 'Says'],
      rules.map(([name, { sentence }]) => [code(name), sentence]),
    ),
    '## Roles',
    table(
      ['Role', 'Number in the API'],
      Object.entries(roles).map(([name, number]) => [name, String(number)]),
    ),
  )
}

function isRule(value: unknown): boolean {
  return typeof value === 'object' && value !== null && 'sentence' in value && 'allows' in value
}
