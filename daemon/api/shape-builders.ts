// The builders of TypeBox that shapes are made of, with its types but without its code: its builders import one another, and every
// start would run all of them. Its compiler (checking.ts) knows a shape by these two symbols.

import type * as TypeBox from '@sinclair/typebox'

const kind = Symbol.for('TypeBox.Kind')
const optional = Symbol.for('TypeBox.Optional')

type Builders =
  | 'Array'
  | 'Boolean'
  | 'Integer'
  | 'Literal'
  | 'Null'
  | 'Number'
  | 'Object'
  | 'Optional'
  | 'Record'
  | 'String'
  | 'Tuple'
  | 'Union'
  | 'Unknown'
  | 'Unsafe'

export const Type: Pick<typeof TypeBox, Builders> = {
  Unknown: options => build('Unknown', {}, options),
  Null: options => build('Null', { type: 'null' }, options),
  Boolean: options => build('Boolean', { type: 'boolean' }, options),
  Number: options => build('Number', { type: 'number' }, options),
  Integer: options => build('Integer', { type: 'integer' }, options),
  String: options => build('String', { type: 'string' }, options),
  Literal: (value, options) => build('Literal', { const: value, type: typeof value }, options),
  Array: (items, options) => build('Array', { type: 'array', items }, options),
  Tuple(items, options) {
    const { length } = items
    return build('Tuple', { type: 'array', items, additionalItems: false, minItems: length, maxItems: length }, options)
  },
  Object(properties, options) {
    const required = Object.keys(properties).filter(name => !(optional in properties[name]!))
    return build('Object', { type: 'object', ...(required.length > 0 && { required }), properties }, options)
  },
  /** Of texts to a shape. */
  Record: (key, shape, options) =>
    build('Record', { type: 'object', patternProperties: { [key.pattern ?? '^(.*)$']: shape } }, options),
  /** Of one shape it is that shape. */
  Union: (anyOf: readonly TypeBox.TSchema[], options?: object) =>
    anyOf.length === 1 ? { ...options, ...anyOf[0] } : build('Union', { anyOf }, options),
  Optional: (shape: TypeBox.TSchema): any => ({ ...shape, [optional]: 'Optional' }),
  Unsafe: (options: any = {}) => build(options[kind] ?? 'Unsafe', {}, options),
}

/** Each builder has the type that TypeBox gives it. */
function build(name: string, fields: object, options: object | undefined): any {
  return { ...options, [kind]: name, ...fields }
}
