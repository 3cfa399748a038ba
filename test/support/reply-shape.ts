// Checks that a reply has the shape that the catalogue promises. A field that is not declared is a mistake too.

import { type TSchema, Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import type { Endpoint } from '../../daemon/api/define.ts'
import { type CodeEntry, commonCodes, type ErrorCode, errorCodes } from '../../daemon/api/errors.ts'
import type { HttpReply } from './http.ts'

export function replyProblem(endpoint: Endpoint, { status, headers, body }: HttpReply): string | undefined {
  // Replies hold keys, tokens and what is for one reader.
  if (!/\bno-store\b/.test(String(headers['cache-control']))) return `cache-control ${headers['cache-control']}`
  return body.result === 'success' ? successProblem(endpoint, status, body) : errorProblem(endpoint, status, body)
}

/** What `register` adds depends on what is asked for, and each type of event has its own fields: their own tests look at that. */
const open = ['register-queue', 'get-events']

function successProblem(endpoint: Endpoint, status: number, body: HttpReply['body']): string | undefined {
  if (status !== 200) return `success with status ${status}`
  const shape = shapeOf(endpoint)
  // Looking for errors costs much more than checking that there are none.
  const error = Value.Check(shape, body) ? undefined : Value.Errors(shape, body).First()
  if (error) return `${error.path}: ${error.message}`
  const undeclared = open.includes(endpoint.id) ? [] : undeclaredIn(shape, body)
  return undeclared.length > 0 ? `undeclared fields ${undeclared.join(', ')}` : undefined
}

const shapes = new WeakMap<Endpoint, TSchema>()

function shapeOf(endpoint: Endpoint): TSchema {
  const known = shapes.get(endpoint)
  if (known) return known
  const shape = Type.Object({
    result: Type.Literal('success'),
    msg: Type.Literal(''),
    ignored_parameters_unsupported: Type.Optional(Type.Array(Type.String())),
    ...endpoint.reply,
  })
  shapes.set(endpoint, shape)
  return shape
}

/** The paths of fields that no shape names, however deep. Where one of several shapes applies, the one that names most counts. */
function undeclaredIn(shape: TSchema, value: unknown, path = ''): string[] {
  if (typeof value !== 'object' || value === null) return []
  if (shape.anyOf)
    return (shape.anyOf as TSchema[])
      .filter(arm => Value.Check(arm, value))
      .map(arm => undeclaredIn(arm, value, path))
      .reduce((fewest, found) => (found.length < fewest.length ? found : fewest))
  if (Array.isArray(value))
    return shape.type === 'array' ? value.flatMap(item => undeclaredIn(shape.items, item, `${path}[]`)) : []
  const { properties, patternProperties } = shape as { properties?: Shapes; patternProperties?: Shapes }
  const [any] = Object.values(patternProperties ?? {})
  if (!properties && !any) return []
  return Object.entries(value).flatMap(([name, field]) => {
    const known = properties && Object.hasOwn(properties, name) ? properties[name] : any
    if (known) return undeclaredIn(known, field, `${path}.${name}`)
    // A caller that is not known gets some fields under the name of public servers too.
    return /^(realm_)?zulip_/.test(name) ? [] : [`${path}.${name}`]
  })
}

type Shapes = Readonly<Record<string, TSchema>>

function errorProblem(endpoint: Endpoint, status: number, body: HttpReply['body']): string | undefined {
  if (body.result !== 'error' || typeof body.msg !== 'string' || body.msg === '') return 'not an error body'
  const kind: CodeEntry | undefined = errorCodes[body.code as ErrorCode]
  if (!kind) return `unlisted code ${body.code}`
  if (!commonCodes.includes(body.code) && !endpoint.refusals.includes(body.code))
    return `undocumented refusal ${body.code}`
  const other = body.code === 'BAD_REQUEST' ? [404, 405, 413] : body.code === 'SERVER_NOT_READY' ? [503] : []
  if (status !== kind.status && !other.includes(status)) return `${body.code} with status ${status}`
  const extra = Object.keys(body).filter(key => !['result', 'msg', 'code'].includes(key) && !kind.fields?.includes(key))
  return extra.length > 0 ? `undeclared fields ${extra.join(', ')} with ${body.code}` : undefined
}
