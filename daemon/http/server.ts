// The HTTP edge: one request from socket to answer. The only place, with the engine, that catches.

import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest, LogController } from 'fastify'
import { decode } from '../api/wire.ts'
import { limits } from '../domain/limits.ts'
import { badRequest, Refusal } from '../domain/refusal.ts'
import type { AnyResource, ServerFacts, Surroundings, Tools } from '../domain/resource.ts'
import type { User } from '../domain/state.ts'
import type { Engine } from '../engine.ts'
import { type Answering, refuse, send, success } from './answer.ts'
import { Authenticator } from './authenticate.ts'
import { LongPoll } from './long-poll.ts'
import { type FieldMap, readFields } from './parameters.ts'
import { type Budget, budgets, RateLimiter } from './rate-limit.ts'
import { type Found, Routes } from './routes.ts'

export interface EdgeParts {
  readonly engine: Engine
  readonly resources: readonly AnyResource[]
  readonly now: () => number
  readonly random: () => string
  readonly keyOf: (user: User) => string
  readonly sameSecret: (given: string, wanted: string) => boolean
  readonly tools: Tools
  /** Filled in once the port is known. */
  readonly server: ServerFacts
  readonly rateLimit: boolean
  readonly maxQueuesPerUser: number
  readonly bodyLimit: number
  readonly logger: { level: string; stream?: NodeJS.WritableStream }
  readonly ready: () => boolean
}

const prefix = '/api/v1'

export function buildServer(parts: EdgeParts): FastifyInstance {
  const app = Fastify({
    logger: { ...parts.logger, redact: ['req.headers.authorization'] },
    // One line per request, written by the edge, which knows what must not be printed.
    logController: new LogController({ disableRequestLogging: true }),
    bodyLimit: parts.bodyLimit,
    // A parked poll is not a slow request.
    requestTimeout: 0,
    keepAliveTimeout: 120_000,
    forceCloseConnections: true,
    frameworkErrors: (error, request, reply) => fail(error, request, reply),
  })
  for (const method of ['GET', 'HEAD']) app.addHttpMethod(method, { hasBody: true, overrideExisting: true })
  app.removeAllContentTypeParsers()
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))

  const edge = new Edge(parts)
  app.get('/livez', async () => ({ ok: true }))
  app.get('/readyz', (_request, reply) => reply.code(parts.ready() ? 200 : 503).send({ ready: parts.ready() }))
  app.get('/static/icon.svg', (_request, reply) => reply.type('image/svg+xml').send(icon))
  app.all(`${prefix}/*`, (request, reply) => edge.handle(request, reply))
  app.setNotFoundHandler((request, reply) => {
    refuse(answeringOf(request, reply), noSuchPath(request.raw.url ?? ''))
  })
  app.setErrorHandler((error, request, reply) => fail(error, request, reply))
  return app
}

class Edge {
  readonly #parts: EdgeParts
  readonly #routes: Routes
  readonly #authenticator: Authenticator
  readonly #longPoll: LongPoll
  readonly #limiter: RateLimiter | undefined

  constructor(parts: EdgeParts) {
    this.#parts = parts
    this.#routes = new Routes(parts.resources)
    this.#authenticator = new Authenticator(parts.keyOf, parts.sameSecret)
    this.#longPoll = new LongPoll(parts.engine, parts.resources, parts.maxQueuesPerUser)
    this.#limiter = parts.rateLimit ? new RateLimiter(parts.now) : undefined
  }

  async handle(request: FastifyRequest, reply: FastifyReply): Promise<void> {
    const answering = answeringOf(request, reply)
    try {
      await this.#serve(request, answering)
    } catch (error) {
      if (error instanceof Refusal) refuse(answering, error)
      else crash(error, request, answering)
    }
    if (request.log.level !== 'silent')
      request.log.info(
        { method: request.method, path: pathOf(request.raw.url!), status: answering.raw.statusCode },
        'request',
      )
  }

  async #serve(request: FastifyRequest, answering: Answering): Promise<void> {
    const [path, query] = split(request.raw.url!)
    const found = this.#routes.find(answering.head ? 'GET' : request.method, path.slice(prefix.length))
    if (!found) return this.#unknown(request.method, path, answering)
    const { endpoint } = found.route
    const actor = this.#identify(request, found, answering)
    const fields = await readFields(query, request.headers, request.body as Buffer | undefined)
    const decoded = decode(endpoint, found.path, fields)
    if ('rejected' in decoded) {
      const { code, msg, fields } = decoded.rejected
      throw new Refusal(code, msg, fields)
    }
    const surroundings = this.#surroundings(request, fields)
    if (endpoint.served === 'queues') {
      const poll = { ctx: { ...surroundings, actor: actor! }, answering, ignored: decoded.ignored }
      await this.#longPoll[found.route.key as 'register' | 'get' | 'delete'](poll, decoded.params as never)
      return
    }
    success(answering, await this.#run(found, surroundings, actor, decoded.params, answering), decoded.ignored)
  }

  #identify(request: FastifyRequest, found: Found, answering: Answering): User | undefined {
    const { endpoint } = found.route
    if (endpoint.access === 'anyone') {
      this.#limiter?.count(budgets.address, request.ip, answering.headers)
      return undefined
    }
    const actor = this.#authenticator.authenticate(this.#parts.engine.state, request.headers.authorization)
    const budget: Budget = endpoint.path === '/events' ? budgets.events : budgets.user
    this.#limiter?.count(budget, actor.id, answering.headers)
    return actor
  }

  async #run(
    found: Found,
    surroundings: Surroundings,
    actor: User | undefined,
    params: Record<string, unknown>,
    answering: Answering,
  ) {
    const { endpoint, resource, key } = found.route
    const login = endpoint.id === 'fetch-api-key' ? String(params.username).toLowerCase() : undefined
    if (login !== undefined) this.#limiter?.check(budgets.password, login, answering.headers)
    const prepared = await resource.prepare?.[key]?.(this.#parts.tools, params, this.#parts.engine.state, actor)
    try {
      return await this.#parts.engine.run(endpoint.id, actor?.id ?? null, () =>
        resource.commands[key]!(actor ? { ...surroundings, actor } : surroundings, params, prepared),
      )
    } catch (error) {
      if (login !== undefined && error instanceof Refusal) this.#limiter?.note(budgets.password, login)
      throw error
    }
  }

  #surroundings(request: FastifyRequest, fields: FieldMap): Surroundings {
    const { engine, now, random, keyOf, server } = this.#parts
    const named = fields.get('client')
    const agent = typeof named === 'string' ? named : (request.headers['user-agent'] ?? '').split('/', 1)[0]!
    return {
      state: engine.state,
      now: now(),
      client: (agent || 'Unspecified').slice(0, limits.clientName),
      random,
      keyOf,
      server,
    }
  }

  #unknown(method: string, path: string, answering: Answering): void {
    const allowed = this.#routes.allowed(path.slice(prefix.length))
    if (allowed.length === 0) throw noSuchPath(path)
    answering.headers.push('Allow', allowed.join(', '))
    if (method === 'OPTIONS') answering.raw.writeHead(204, answering.headers).end()
    else throw new Refusal('BAD_REQUEST', `Method ${method} is not allowed here`, { allowed_methods: allowed }, 405)
  }
}

function answeringOf(request: FastifyRequest, reply: FastifyReply): Answering {
  reply.hijack()
  return { raw: reply.raw, head: request.method === 'HEAD', headers: ['X-Request-Id', request.id] }
}

/** Errors from before the handler: a body too large, a malformed URL, a broken request. */
function fail(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  const answering = answeringOf(request, reply)
  const { statusCode = 500, message } = error as { statusCode?: number; message?: string }
  if (statusCode === 413) refuse(answering, new Refusal('BAD_REQUEST', 'The body is too large', {}, 413))
  else if (statusCode < 500) refuse(answering, badRequest(message ?? 'Malformed request'))
  else crash(error, request, answering)
}

/** Anything but a refusal is a defect: logged in full, told without detail. */
function crash(error: unknown, request: FastifyRequest, answering: Answering): void {
  request.log.error({ err: error, path: pathOf(request.raw.url ?? '') }, 'unexpected failure')
  const body = { result: 'error', msg: `Internal error (request ${request.id})`, code: 'INTERNAL_ERROR' }
  send(answering, 500, JSON.stringify(body))
}

function noSuchPath(url: string): Refusal {
  return new Refusal('BAD_REQUEST', `No such path: ${pathOf(url)}`, {}, 404)
}

function pathOf(url: string): string {
  return split(url)[0]
}

function split(url: string): [path: string, query: string] {
  const mark = url.indexOf('?')
  return mark === -1 ? [url, ''] : [url.slice(0, mark), url.slice(mark + 1)]
}

const icon =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64"><path d="M8 8h48v36H28L16 56V44H8z" fill="#4f8de4"/></svg>'
