// The builders of shapes make what those of TypeBox make: its compiler, its checks of values and its types are used with them.

import assert from 'node:assert/strict'
import { test } from 'node:test'
import * as TypeBox from '@sinclair/typebox'
import { Type as ours } from '../../daemon/api/shape-builders.ts'

const options = { ref: 'x', maxLength: 3 }

test('every builder makes the same shape as the builder of TypeBox with its name', () => {
  const made = build(ours)
  assert.deepEqual(made, build(TypeBox))
  assert.deepEqual(Object.keys(made).sort(), Object.keys(ours).sort())
})

function build(Type: typeof ours) {
  const text = Type.String()
  const fields = { a: text, b: Type.Optional(Type.Integer(options)) }
  return {
    Array: [Type.Array(text), Type.Array(text, options)],
    Boolean: Type.Boolean(),
    Integer: [Type.Integer(), Type.Integer(options)],
    Literal: [Type.Literal('a'), Type.Literal(1, options), Type.Literal(true)],
    Null: Type.Null(),
    Number: [Type.Number(), Type.Number(options)],
    Object: [Type.Object(fields), Type.Object({}), Type.Object({ b: fields.b }, { additionalProperties: false })],
    Optional: [Type.Optional(text), Type.Optional(Type.Optional(text))],
    Record: [
      Type.Record(text, text),
      Type.Record(Type.String({ pattern: '^a$' }), text, { additionalProperties: false }),
    ],
    String: [Type.String(), Type.String(options)],
    Tuple: [Type.Tuple([text, text]), Type.Tuple([text], options)],
    Union: [Type.Union([text, Type.Null()]), Type.Union([text], options), Type.Union([text, Type.Null()], options)],
    Unknown: [Type.Unknown(), Type.Unknown(options)],
    Unsafe: [Type.Unsafe(text), Type.Unsafe({ type: 'string', format: 'binary' }), Type.Unsafe()],
  }
}
