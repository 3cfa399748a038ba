// Does a reply have the shape the catalogue promises? Strict: a field that nobody declared is a mistake too.

import { Type } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import type { Endpoint } from '../../daemon/api/define.ts'
import { type CodeEntry, commonCodes, type ErrorCode, errorCodes } from '../../daemon/api/errors.ts'
import type { HttpReply } from './http.ts'

export function replyProblem(endpoint: Endpoint, { status, body }: HttpReply): string | undefined {
  return body.result === 'success' ? successProblem(endpoint, status, body) : errorProblem(endpoint, status, body)
}

function successProblem(endpoint: Endpoint, status: number, body: HttpReply['body']): string | undefined {
  if (status !== 200) return `success with status ${status}`
  const shape = Type.Object({
    result: Type.Literal('success'),
    msg: Type.Literal(''),
    ignored_parameters_unsupported: Type.Optional(Type.Array(Type.String())),
    ...endpoint.reply,
  })
  const error = Value.Errors(shape, body).First()
  if (error) return `${error.path}: ${error.message}`
  // What `register` adds depends on what is asked for; its own tests look at that.
  const undeclared =
    endpoint.id === 'register-queue' ? [] : Object.keys(body).filter(key => !Object.hasOwn(shape.properties, key))
  return undeclared.length > 0 ? `undeclared fields ${undeclared.join(', ')}` : undefined
}

function errorProblem(endpoint: Endpoint, status: number, body: HttpReply['body']): string | undefined {
  if (body.result !== 'error' || typeof body.msg !== 'string' || body.msg === '') return 'not an error body'
  const kind: CodeEntry | undefined = errorCodes[body.code as ErrorCode]
  if (!kind) return `unlisted code ${body.code}`
  if (!commonCodes.includes(body.code) && !endpoint.refusals.includes(body.code))
    return `undocumented refusal ${body.code}`
  if (status !== kind.status && !(body.code === 'BAD_REQUEST' && [404, 405, 413].includes(status)))
    return `${body.code} with status ${status}`
  const extra = Object.keys(body).filter(key => !['result', 'msg', 'code'].includes(key) && !kind.fields?.includes(key))
  return extra.length > 0 ? `undeclared fields ${extra.join(', ')} with ${body.code}` : undefined
}
