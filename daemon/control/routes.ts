// The routes of the control plane, /control/v1/*, as its pages describe them. JSON both ways; a program that has the token
// may do everything.

import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { decodeJson } from '../api/json-wire.ts'
import { invalid, malformed, Refusal, unauthenticated } from '../domain/refusal.ts'
import { missingPath, refusalHeaders, wrongMethod } from '../http/answer.ts'
import { Hold, perCall } from '../http/held-bytes.ts'
import { controlPrefix, hasControlToken } from '../http/incoming.ts'
import { type Found, Routes } from '../http/routes.ts'
import { controlPlane } from '../http/turns.ts'
import { parseJson } from '../local/nesting.ts'
import { type ControlContext, type ControlResource, Streamed } from './handlers/handler.ts'
import { controlResources } from './handlers/index.ts'

/** Answers every path below the prefix: the server has one route for all worlds and asks the one that is meant. */
export function controlHandler(context: ControlContext) {
  const { plane, host } = context
  const routes = Routes.of(controlResources)
  const share = host.shares.get(controlPlane)
  return async (request: FastifyRequest, reply: FastifyReply): Promise<object> => {
    const sent = request.body as Buffer | undefined
    const hold = new Hold(share.held)
    try {
      admit(request, context)
      const [path, query = ''] = request.url.slice(controlPrefix.length).split('?', 2) as [string, string?]
      const found = find(routes, request.method, path)
      const { resource, key } = found.route
      const isGone = () => reply.raw.destroyed
      // A wait holds what it was sent until it is over, also when its client has left.
      hold.set(perCall + (sent?.length ?? 0))
      const answer = await host.turns.take(share, () =>
        resource.handlers[key]!({ ...context, isGone }, decodeParams(found, query, sent?.toString() ?? '')),
      )
      // A wait ends with its world; what it found is not to be trusted.
      if (plane.engine.failure) throw plane.engine.failure
      if (answer instanceof Streamed) return reply.type(answer.type).send(Readable.from(answer.pieces))
      // Whole logs take long to write.
      const text = await host.turns.take(share, () => JSON.stringify({ result: 'success', msg: '', ...answer }))
      return reply.type('application/json; charset=utf-8').send(text)
    } catch (error) {
      if (!(error instanceof Refusal)) throw error
      reply.code(error.status).headers(refusalHeaders(error))
      return { result: 'error', msg: error.message, code: error.code, ...error.fields }
    } finally {
      hold.end()
    }
  }
}

function admit({ headers }: FastifyRequest, { plane }: ControlContext): void {
  if (!hasControlToken(headers, plane.parts.keys))
    throw unauthenticated(
      'UNAUTHORIZED',
      'The control plane needs the header "Authorization: Bearer TOKEN", with the control_token of the ready file.',
    )
}

function find(routes: Routes<ControlResource>, method: string, path: string): Found<ControlResource> {
  const found = routes.find(method, path)
  if (found) return found
  const allowed = routes.allowed(path).filter(method => method !== 'HEAD')
  if (allowed.length === 0) throw missingPath(`${controlPrefix}${path}`)
  throw wrongMethod(method, allowed)
}

function decodeParams({ route, path }: Found<ControlResource>, query: string, body: string): never {
  const sent = { path, query: Object.fromEntries(new URLSearchParams(query)), body: bodyIn(body) }
  const decoded = decodeJson(route.endpoint, sent)
  if ('problem' in decoded) throw invalid(decoded.problem.parameter, decoded.problem.why)
  return decoded.params as never
}

function bodyIn(text: string): Readonly<Record<string, unknown>> {
  if (text === '') return {}
  try {
    const body = parseJson(text)
    if (typeof body === 'object' && body !== null && !Array.isArray(body)) return body
  } catch {
    // Refused below.
  }
  throw malformed('The body must be a JSON object.', { code: 'INVALID_JSON' })
}
