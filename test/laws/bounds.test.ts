// Law 11: no parameter without a bound. Every text, list and object of the catalogue is tried at its largest size, which
// is accepted, and one past it, which is refused.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { type TSchema, Type } from '@sinclair/typebox'
import { defaultBounds } from '../../daemon/api/bounds.ts'
import { problemIn } from '../../daemon/api/checking.ts'
import { catalogueEndpoints } from '../support/catalogue.ts'
import { type Place, placesIn, sample } from '../support/shape-places.ts'

const endpoints = (await catalogueEndpoints()).map(({ endpoint }) => endpoint)

describe('bounds of the catalogue', () => {
  for (const { id, params } of endpoints)
    for (const [name, { shape }] of Object.entries(params))
      for (const place of placesIn(name, shape).filter(canGrow))
        test(`${id}: ${place.path} is accepted at its largest size and refused one past it`, () => {
          const [most, one] = sizes(place.shape)
          assert.ok(most !== undefined, `${place.path} has no bound: ${JSON.stringify(place.shape)}`)
          assert.equal(problemIn(name, shape, place.around(one(most))), undefined)
          const problem = problemIn(name, shape, place.around(one(most + 1)))
          assert.match(problem ?? 'accepted', new RegExp(`at most ${most} (characters|items|entries)$`))
        })

  test('texts are counted in code points, in lists and objects too', () => {
    const shape = Type.Array(Type.String({ maxLength: 3 }), { maxItems: 1 })
    assert.equal(problemIn('x', shape, ['😀😀😀']), undefined)
    assert.equal(problemIn('x', shape, ['😀😀😀😀']), 'x[0]: must have at most 3 characters')
  })

  test('what has no shape is bounded too, in depth as well', () => {
    const shape = Type.Unknown()
    const nested = (depth: number): unknown => (depth === 0 ? 1 : [nested(depth - 1)])
    assert.equal(problemIn('x', shape, nested(defaultBounds.depth)), undefined)
    assert.match(problemIn('x', shape, nested(defaultBounds.depth + 1))!, /nested at most 16 levels/)
    const deep = JSON.parse('['.repeat(100_000) + ']'.repeat(100_000))
    assert.match(problemIn('x', shape, deep)!, /nested at most 16 levels/)
    assert.match(problemIn('x', shape, { ['k'.repeat(1001)]: 1 })!, /key: must have at most 1000 characters/)
    assert.match(problemIn('x', shape, 'x'.repeat(10_001))!, /at most 10000 characters/)
  })
})

function canGrow({ shape }: Place): boolean {
  return ['string', 'array', 'object'].includes(shape.type) && shape.const === undefined && shape.format !== 'binary'
}

/** The bound of the shape, and how to make a value of a size. */
function sizes(shape: TSchema): [number | undefined, (size: number) => unknown] {
  if (shape.type === 'string') return [shape.maxLength, size => 'x'.repeat(size)]
  if (shape.type === 'array') return [shape.maxItems, size => Array(size).fill(sample(shape.items))]
  const values = Object.values<TSchema>(shape.patternProperties ?? {})[0]
  return [
    shape.maxProperties,
    size => {
      const made: Record<string, unknown> = values ? {} : { ...(sample(shape) as object) }
      for (let i = Object.keys(made).length; i < size; i++) made[`k${i}`] = values ? sample(values) : 1
      return made
    },
  ]
}
