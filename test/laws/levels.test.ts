// Laws on feature levels: the code asks for a behaviour by name, and what is newer than the default level is described so that
// older levels can do without it.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { eventTypes } from '../../daemon/api/event-types.ts'
import { type Behaviour, behaviours } from '../../daemon/api/levels/behaviours.ts'
import { changes } from '../../daemon/api/levels/changes.ts'
import { defaultLevel, newestLevel } from '../../daemon/api/levels/releases.ts'
import { catalogueEndpoints } from '../support/catalogue.ts'
import { sources } from '../support/sources.ts'

const inRange = ({ level }: { level: number }) => level > defaultLevel && level <= newestLevel

describe('feature levels', () => {
  test('no condition compares with a level', () => {
    const compared = /\blevel(?:\.number)?\s*[<>=!]=?=?\s*\d{3}|\d{3}\s*[<>]=?\s*level\b|\.level\.number\s*[<>=!]/
    assert.match('if (level >= 443) return', compared)
    assert.match('if (ctx.server.level.number < other) return', compared)
    for (const { path, code } of sources('daemon', 'cli'))
      if (!path.startsWith('daemon/api/levels/'))
        for (const line of code.split('\n'))
          assert.doesNotMatch(
            line,
            compared,
            `${path}: give the behaviour a name in daemon/api/levels/behaviours.ts: ${line}`,
          )
  })

  test('each behaviour that has a name is asked for', () => {
    const code = sources('daemon')
      .map(({ code }) => code)
      .join('\n')
    for (const name of Object.keys(behaviours))
      assert.match(code, new RegExp(`(?:\\.|\\{[^}]*)\\b${name}\\b`), `nothing asks for ${name}`)
  })

  test('changes are of levels above the default, and name endpoints and events that exist', async () => {
    const ids = new Set((await catalogueEndpoints()).map(({ endpoint }) => endpoint.id))
    const exist = (endpoints: readonly string[], events: readonly string[]) => {
      for (const id of endpoints) assert.ok(ids.has(id), `no endpoint ${id}`)
      for (const type of events) assert.ok((eventTypes as readonly string[]).includes(type), `no event type ${type}`)
    }
    for (const change of changes) {
      assert.ok(inRange(change), `level ${change.level}`)
      assert.match(change.about, /^[A-Z`].*\.$/, change.about)
      exist(Object.keys(change.replies ?? {}), Object.keys(change.events ?? {}))
    }
    for (const { since: level, about, endpoints = [], events = [] } of Object.values<Behaviour>(behaviours)) {
      assert.ok(inRange({ level }), about)
      assert.match(about, /^[A-Z`].*\.$/, about)
      exist(endpoints, events)
    }
  })

  test('a param that older levels do not have has no default and is not required', async () => {
    for (const { endpoint } of await catalogueEndpoints())
      for (const [name, { since = 0, presence }] of Object.entries(endpoint.params))
        if (since > defaultLevel) assert.equal(presence, 'optional', `${endpoint.id}: ${name}`)
  })
})
