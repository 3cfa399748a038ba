// Tables: rows by key, and indexes that follow every change.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { Table } from '../../../daemon/domain/model/table.ts'
import { cases } from '../../support/cases.ts'

interface Row {
  readonly id: number
  readonly name: string
  readonly tags: readonly number[]
}

const row = fc.record({
  id: fc.integer({ min: 1, max: 5 }),
  name: fc.constantFrom('a', 'b', 'c'),
  tags: fc.array(fc.integer({ min: 1, max: 6 }), { maxLength: 12 }),
})

function newTable() {
  return new Table((one: Row) => one.id, { name: (one: Row) => one.name, tag: (one: Row) => one.tags })
}

describe('a table', () => {
  test('finds rows by index as if it looked at all of them', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(row, fc.boolean()), { maxLength: 30 }), steps => {
        const table = newTable()
        for (const [one, isRemoved] of steps) {
          if (isRemoved) table.remove(one.id)
          else table.put(one)
          const rows = [...table.values()]
          const byId = (found: readonly Row[]) => [...found].sort((a, b) => a.id - b.id)
          for (const name of ['a', 'b', 'c'])
            assert.deepEqual(byId(table.where('name', name)), byId(rows.filter(other => other.name === name)))
          for (let tag = 1; tag <= 6; tag++) {
            const wanted = rows.filter(other => other.tags.includes(tag))
            assert.deepEqual(byId(table.where('tag', tag)), byId(wanted))
            assert.equal(table.count('tag', tag), wanted.length)
            assert.equal(table.find('tag', tag) !== undefined, wanted.length > 0)
          }
        }
      }),
      { numRuns: cases(200) },
    )
  })

  test('knows when a list has changed, and when something else has', () => {
    const table = newTable()
    const one = { id: 1, name: 'a', tags: [1, 2] }
    table.put(one)
    const { listsVersion } = table
    table.put({ ...one, name: 'b' })
    assert.equal(table.listsVersion, listsVersion)
    table.put({ ...one, tags: [1] })
    assert.notEqual(table.listsVersion, listsVersion)
  })

  test('looks up only what has changed in a long list', () => {
    const table = newTable()
    const tags = Array.from({ length: 1000 }, (_, n) => n)
    const one = { id: 1, name: 'a', tags }
    table.put(one)
    const { get } = Map.prototype
    let lookups = 0
    Map.prototype.get = function (key) {
      lookups++
      return get.call(this, key)
    }
    try {
      table.put({ ...one, tags: tags.slice(1) })
    } finally {
      Map.prototype.get = get
    }
    assert.ok(lookups < 10, `${lookups}`)
    assert.deepEqual([table.count('tag', 0), table.count('tag', 1)], [0, 1])
  })
})
