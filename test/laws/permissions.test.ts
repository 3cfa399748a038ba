// Role × rule: who may do what, as a table in a file. A changed right shows as a changed line of it.
// NATTER_UPDATE=1 writes the table anew.

import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import * as permissions from '../../daemon/domain/permissions.ts'
import { roles, type User } from '../../daemon/domain/state.ts'
import { root } from '../support/sources.ts'

const file = join(root, 'test/permissions.table.txt')

/** For rules about a thing: the things to ask about, by the words for their columns. */
const things: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {}

type AnyRule = permissions.Rule<any>

const rules = Object.entries(permissions).filter((entry): entry is [string, AnyRule] => isRule(entry[1]))

function isRule(value: unknown): value is AnyRule {
  return typeof value === 'object' && value !== null && 'sentence' in value && 'allows' in value
}

function user(role: User['role']): User {
  return {
    id: 7,
    email: 'amy@example.com',
    fullName: 'Amy',
    role,
    active: true,
    joined: 0,
    timezone: '',
    avatarVersion: 1,
    keyVersion: 1,
    canCreateUsers: false,
  }
}

function table(): string {
  const columns = rules.flatMap(([name, rule]) =>
    rule.allows.length < 2
      ? [{ name, allows: (asker: User) => rule.allows(asker, undefined) }]
      : Object.entries(things[name] ?? {}).map(([words, thing]) => ({
          name: `${name} ${words}`,
          allows: (asker: User) => rule.allows(asker, thing),
        })),
  )
  const lines = columns.map(({ name, allows }) => {
    const cells = Object.values(roles).map(role => (allows(user(role)) ? 'yes' : '-').padEnd(14))
    return `${name.padEnd(48)}${cells.join('')}`.trimEnd()
  })
  const head = `${'rule'.padEnd(48)}${Object.keys(roles)
    .map(role => role.padEnd(14))
    .join('')}`.trimEnd()
  return `${[head, ...lines.sort()].join('\n')}\n`
}

describe('permissions', () => {
  test('every rule has one English sentence', () => {
    assert.ok(rules.length > 0)
    for (const [name, { sentence }] of rules) assert.match(sentence, /^[A-Z][^\n]*\.$/, name)
  })

  test('every rule about a thing is asked about some', () => {
    for (const [name, { allows }] of rules)
      assert.equal(allows.length >= 2, Object.hasOwn(things, name), `${name}: give it things in this test, or none`)
  })

  test('every role has the rights the table says', () => {
    if (process.env.NATTER_UPDATE) writeFileSync(file, table())
    assert.equal(table(), readFileSync(file, 'utf8'), 'a right has changed; NATTER_UPDATE=1 npm test writes the table')
  })
})
