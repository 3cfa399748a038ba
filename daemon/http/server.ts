// The HTTP edge: one request from socket to answer. The only place, with the engine, that catches.

import type { Socket } from 'node:net'
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest, LogController } from 'fastify'
import { decode } from '../api/wire.ts'
import { limits } from '../domain/limits.ts'
import { callEndpoint, check } from '../domain/permissions.ts'
import { badRequest, Refusal } from '../domain/refusal.ts'
import type { AnyResource, Context, ServerFacts, Tools } from '../domain/resource.ts'
import type { User } from '../domain/state.ts'
import type { Engine } from '../engine.ts'
import { type Answering, refuse, send, success } from './answer.ts'
import { Authenticator } from './authenticate.ts'
import { speak, understand } from './dialect.ts'
import { serveImage, unknownUser } from './images.ts'
import { LongPoll } from './long-poll.ts'
import { type FieldMap, notAForm, readFields } from './parameters.ts'
import { type Budget, budgets, RateLimiter } from './rate-limit.ts'
import { type Found, Routes } from './routes.ts'

export interface EdgeParts {
  readonly engine: Engine
  readonly resources: readonly AnyResource[]
  readonly now: () => number
  readonly random: () => string
  readonly keyOf: (user: User) => string
  readonly tokenOf: (user: User) => string
  readonly sameSecret: (given: string, wanted: string) => boolean
  readonly tools: Tools
  /** Files beside the store. */
  readonly readFile: (name: string) => Promise<Uint8Array | undefined>
  /** Filled in once the port is known. */
  readonly server: ServerFacts
  readonly dialect: 'natter' | 'zulip'
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
    // The catalogue checks parameters itself; fastify's two schema compilers would be a third of the start.
    schemaController: { compilersFactory: { buildValidator: noSchemas, buildSerializer: noSchemas } },
    // A parked poll is not a slow request.
    requestTimeout: 0,
    keepAliveTimeout: 120_000,
    // Whoever is still being answered when the daemon stops gets the answer: `stop` sees to the rest.
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    clientErrorHandler: refuseNoise,
    frameworkErrors: (error, request, reply) => fail(error, request, reply),
  })
  for (const method of ['GET', 'HEAD']) app.addHttpMethod(method, { hasBody: true, overrideExisting: true })
  app.removeAllContentTypeParsers()
  // The form by its own name too: fastify looks a known type up and takes an unknown one apart.
  app.addContentTypeParser(['application/x-www-form-urlencoded', '*'], { parseAs: 'buffer' }, (_request, body, done) =>
    done(null, body),
  )

  // Made for every request, a logger of its own is more work than most requests; lines name their request instead.
  app.setChildLoggerFactory(logger => logger)

  const edge = new Edge(parts)
  app.get('/livez', async () => ({ ok: true }))
  app.get('/readyz', (_request, reply) => reply.code(parts.ready() ? 200 : 503).send({ ready: parts.ready() }))
  app.get('/static/icon.svg', (_request, reply) => reply.type('image/svg+xml').send(icon))
  app.get('/static/unknown-user.svg', (_request, reply) => reply.type('image/svg+xml').send(unknownUser))
  app.get('/user_avatars/*', (request, reply) => serveImage(parts.readFile, request.url, reply))
  app.all(`${prefix}/*`, (request, reply) => edge.handle(request, reply))
  // Methods that fastify has no route for come here too, and some paths of the API know better than 404.
  app.setNotFoundHandler((request, reply) => {
    if (request.raw.url?.startsWith(`${prefix}/`)) return edge.handle(request, reply)
    refuse(answeringOf(request, reply), noSuchPath(request.raw.url ?? ''))
  })
  app.setErrorHandler((error, request, reply) => fail(error, request, reply))
  return app
}

function noSchemas(): never {
  throw new Error('routes of natter have no fastify schemas')
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
    const answering = answeringOf(request, reply, this.#parts.dialect === 'zulip')
    try {
      await this.#serve(request, answering)
    } catch (error) {
      if (error instanceof Refusal) refuse(answering, error)
      else crash(error, request, answering)
    }
    if (request.log.level !== 'silent')
      request.log.info(
        {
          reqId: request.id,
          method: request.method,
          path: pathOf(request.raw.url!),
          status: answering.raw.statusCode,
        },
        'request',
      )
  }

  async #serve(request: FastifyRequest, answering: Answering): Promise<void> {
    const [path, query] = split(request.raw.url!)
    const found = this.#routes.find(answering.head ? 'GET' : request.method, path.slice(prefix.length))
    if (!found) return this.#unknown(request.method, path, answering)
    const { endpoint } = found.route
    const actor = this.#identify(request, found, answering)
    const sent = await readFields(query, request.headers, request.body as Buffer | undefined)
    const fields = answering.speak ? understand(sent) : sent
    const decoded = decode(endpoint, found.path, fields)
    if ('rejected' in decoded) {
      const { code, msg, fields } = decoded.rejected
      throw new Refusal(code, msg, fields)
    }
    const ctx = this.#context(request, fields, actor)
    if (endpoint.served === 'queues') {
      const poll = { ctx, answering, ignored: decoded.ignored }
      await this.#longPoll[found.route.key as 'register' | 'get' | 'delete'](poll, decoded.params as never)
      return
    }
    success(answering, await this.#run(found, ctx, decoded.params, answering), decoded.ignored)
  }

  #identify(request: FastifyRequest, found: Found, answering: Answering): User | undefined {
    const { endpoint } = found.route
    if (endpoint.access === 'anyone') {
      this.#limiter?.count(budgets.address, request.ip, answering.headers)
      return undefined
    }
    const actor = this.#authenticate(request, answering)
    const budget: Budget = endpoint.path === '/events' ? budgets.events : budgets.user
    this.#limiter?.count(budget, actor.id, answering.headers)
    check(callEndpoint, { state: this.#parts.engine.state, actor }, endpoint.id)
    return actor
  }

  /** Whoever cannot say who they are is a stranger, and counted as one. */
  #authenticate(request: FastifyRequest, answering: Answering): User {
    try {
      return this.#authenticator.authenticate(this.#parts.engine.state, request.headers.authorization)
    } catch (error) {
      this.#limiter?.count(budgets.address, request.ip, answering.headers)
      throw error
    }
  }

  async #run(found: Found, ctx: Context, params: Record<string, unknown>, answering: Answering) {
    const { endpoint, resource, key } = found.route
    const login = endpoint.id === 'fetch-api-key' ? String(params.username).trim().toLowerCase() : undefined
    const succeed = login === undefined ? undefined : this.#limiter?.attempt(budgets.password, login, answering.headers)
    const prepare = resource.prepare?.[key]
    const prepared = prepare && (await prepare(this.#parts.tools, params, this.#parts.engine.state, ctx.actor))
    const reply = await this.#parts.engine.run(endpoint.id, ctx.actor?.id ?? null, state => {
      // The account as it is now: it may have changed while the body was read or a password hashed.
      const actor = ctx.actor && state.users.get(ctx.actor.id)
      return resource.commands[key]!(actor === ctx.actor ? ctx : { ...ctx, actor }, params, prepared)
    })
    succeed?.()
    return reply
  }

  /** Without an actor only for endpoints that anyone may call; their commands do not know of one. */
  #context(request: FastifyRequest, fields: FieldMap, actor: User | undefined): Context {
    const { engine, now, random, keyOf, tokenOf, server } = this.#parts
    const named = fields.get('client')
    const agent = typeof named === 'string' ? named : (request.headers['user-agent'] ?? '').split('/', 1)[0]!
    return {
      actor: actor!,
      state: engine.state,
      now: now(),
      client: (agent || 'Unspecified').slice(0, limits.clientName),
      random,
      keyOf,
      tokenOf,
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

function answeringOf(request: FastifyRequest, reply: FastifyReply, publicDialect = false): Answering {
  reply.hijack()
  const answering = { raw: reply.raw, head: request.method === 'HEAD', headers: ['X-Request-Id', request.id] }
  return publicDialect ? { ...answering, speak } : answering
}

/** Errors from before the handler: a body too large, a malformed URL, a broken request. */
function fail(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  const answering = answeringOf(request, reply)
  const { statusCode = 500, message } = error as { statusCode?: number; message?: string }
  if (statusCode === 413) refuse(answering, new Refusal('BAD_REQUEST', 'The body is too large', {}, 413))
  else if (statusCode === 415) refuse(answering, notAForm(request.headers['content-type'] ?? ''))
  else if (statusCode < 500) refuse(answering, badRequest(message ?? 'Malformed request'))
  else crash(error, request, answering)
}

/** What cannot be read as HTTP has no request to answer: straight to the socket. */
function refuseNoise(error: Error & { code?: string }, socket: Socket): void {
  if (!socket.writable) return
  const tooLarge = error.code === 'HPE_HEADER_OVERFLOW'
  const status = tooLarge ? '431 Request Header Fields Too Large' : '400 Bad Request'
  const msg = tooLarge
    ? 'Path, query and headers are too large; send parameters in the body'
    : 'The request is not HTTP'
  const body = JSON.stringify({ result: 'error', msg, code: 'BAD_REQUEST' })
  socket.end(
    `HTTP/1.1 ${status}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\nConnection: close\r\n\r\n${body}`,
  )
}

/** Anything but a refusal is a defect: logged in full, told without detail. */
function crash(error: unknown, request: FastifyRequest, answering: Answering): void {
  request.log.error({ reqId: request.id, err: error, path: pathOf(request.raw.url ?? '') }, 'unexpected failure')
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
