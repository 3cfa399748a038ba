// The HTTP server: fastify for everything but the API itself, which goes straight to its edge.

import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest, LogController } from 'fastify'
import { avatarFor } from '../domain/people/users/avatar-for.ts'
import { badRequest, Refusal } from '../domain/refusal.ts'
import { type Answering, admitDefect, answeringOf, noSuchPath, refuse, refuseTooLarge } from './answer.ts'
import { type Serve, ShortWay } from './direct.ts'
import { Edge, type EdgeParts } from './edge.ts'
import type { RequestHead, Response } from './exchange.ts'
import { serveImage, unknownUser } from './images.ts'
import { isForEdge, prefix } from './incoming.ts'
import { uploadFor } from './uploads.ts'

export interface ServerParts extends EdgeParts {
  /** Files beside the store. */
  readonly readFile: (name: string) => Promise<Uint8Array | undefined>
  readonly logger: { level: string; stream?: NodeJS.WritableStream }
  /** In the place of the real time in the header Date; undefined: the real time. */
  readonly date?: (() => string | undefined) | undefined
  readonly phase: () => 'starting' | 'ready' | 'stopping'
  /** Resolves when it is no longer starting; until then nothing but the probes is answered. */
  readonly started: Promise<void>
  /** Adds routes that are none of the API's. */
  readonly addRoutes?: ((app: FastifyInstance) => void) | undefined
}

export interface HttpServer {
  /** Resolves to the address. */
  listen(where: { host: string; port: number }): Promise<string>
  close(): Promise<void>
}

export function buildServer(parts: ServerParts): HttpServer {
  // One count for all ways in: what a client reports must be found in the log once.
  let requests = 0
  const newId = () => `req-${(++requests).toString(36)}`
  const edge = new Edge(parts, newId)
  let shortWay!: ShortWay
  const app = Fastify({
    logger: parts.logger,
    // One line per request, written by the edge, which knows what must not be printed.
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: newId,
    bodyLimit: parts.bodyLimit,
    // The catalogue checks parameters itself; fastify's two schema compilers would be a third of the start.
    schemaController: { compilersFactory: { buildValidator: noSchemas, buildSerializer: noSchemas } },
    serverFactory: handler => {
      const take = (request: IncomingMessage, response: ServerResponse) => {
        const date = parts.date?.()
        if (date !== undefined) response.setHeader('Date', date)
        if (isForEdge(request.url!)) edge.take(request, response)
        else handler(request, response)
      }
      // Without a Host header node:http would refuse in words of its own; nothing here depends on one.
      const options = { keepAliveTimeout: 120_000, requestTimeout: 0, requireHostHeader: false }
      const early = async (request: RequestHead, response: Response, take: () => void) => {
        if (await standsSoon(parts.started)) take()
        else refuseEarly(answeringOf({ method: request.method!, id: newId() }, response))
      }
      const server = createServer(options, (request, response) => {
        if (parts.phase() !== 'starting' || isProbe(request.url!)) take(request, response)
        else void early(request, response, () => take(request, response))
      })
      const serve: Serve = (head, body, response) => {
        if (parts.phase() !== 'starting') edge.serve(head, body, response)
        else void early(head, response, () => edge.serve(head, body, response))
      }
      shortWay = new ShortWay(server, serve, parts.date)
      return server.on('clientError', refuseNoise)
    },
    // Whoever is still being answered when the daemon stops gets the answer: `stop` sees to the rest.
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    frameworkErrors: (error, request, reply) => fail(error, request, reply),
  })
  edge.logTo(app.log)
  app.removeAllContentTypeParsers()
  // Bodies reach their routes as bytes; what is in them is for each to say.
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
  app.get('/livez', async () => ({ ok: true }))
  app.get('/readyz', (_request, reply) => {
    const ready = parts.phase() === 'ready'
    return reply.code(ready ? 200 : 503).send({ ready })
  })
  app.get('/static/icon.svg', (_request, reply) => reply.type('image/svg+xml').send(icon))
  app.get('/static/unknown-user.svg', (_request, reply) => reply.type('image/svg+xml').send(unknownUser))
  app.get('/user_avatars/*', (request, reply) => serveImage(parts.readFile, request.url, reply))
  for (const path of ['/avatar', `${prefix}/avatar`])
    for (const size of ['', '/medium'])
      app.get<{ Params: { who: string } }>(`${path}/:who${size}`, (request, reply) => {
        const asker = { state: parts.engine.state, actor: edge.authenticate(request) }
        return reply.redirect(avatarFor(asker, request.params.who, size !== ''))
      })
  app.get('/user_uploads/*', async (request, reply) => {
    const anonymous = request.headers.authorization === undefined
    const path = request.url.split('?', 1)[0]!
    const { headers, bytes } = await uploadFor(parts, path, anonymous, () => edge.authenticate(request))
    return reply.headers(headers).send(bytes)
  })
  parts.addRoutes?.(app)
  app.setNotFoundHandler((request, reply) => {
    refuse(answer(request, reply), noSuchPath(request.url.split('?', 1)[0]!))
  })
  app.setErrorHandler((error, request, reply) => fail(error, request, reply))
  return { listen: where => app.listen(where), close: () => close(app, shortWay, () => parts.engine.settled()) }
}

/** Milliseconds that requests in progress have to end by themselves. */
const patience = 700

/** Stops listening, lets what is in progress end, and hangs up on everybody as soon as they have their answer. */
async function close(app: FastifyInstance, shortWay: ShortWay, settled: () => Promise<void>): Promise<void> {
  const hangUp = () => {
    app.server.closeIdleConnections()
    shortWay.closeIdle()
  }
  hangUp()
  const sweep = setInterval(hangUp, 10)
  const force = setTimeout(async () => {
    // However slow the disk is: what is being written is answered first, or it would seem not to be there.
    await settled().catch(() => {})
    setImmediate(() => {
      app.server.closeAllConnections()
      shortWay.closeAll()
    })
  }, patience)
  try {
    await app.close()
  } finally {
    clearInterval(sweep)
    clearTimeout(force)
  }
}

function noSchemas(): never {
  throw new Error('routes of natter have no fastify schemas')
}

function answer(request: FastifyRequest, reply: FastifyReply) {
  reply.hijack()
  return answeringOf(request, reply.raw)
}

function isProbe(url: string): boolean {
  return /^\/(live|ready)z(\?|$)/.test(url)
}

/** Milliseconds. Most worlds stand by then: who has waited for the port to open finds everything there. */
const earlyPatience = 1000

async function standsSoon(started: Promise<void>): Promise<boolean> {
  const late = Symbol()
  return (await Promise.race([started, sleep(earlyPatience, late, { ref: false })])) !== late
}

function refuseEarly(to: Answering): void {
  to.headers.push('Retry-After', '1')
  const msg = 'The daemon is starting and its world does not stand yet; try again, or wait for /readyz'
  refuse(to, new Refusal('SERVER_NOT_READY', msg, {}, 503))
}

/** Errors outside the API: a body too large, a malformed URL, a broken request. */
function fail(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  const { statusCode = 500, message } = error as { statusCode?: number; message?: string }
  if (error instanceof Refusal) refuse(answer(request, reply), error)
  else if (statusCode === 413) refuseTooLarge(answer(request, reply))
  else if (statusCode < 500) refuse(answer(request, reply), badRequest(message ?? 'Malformed request'))
  else {
    request.log.error({ reqId: request.id, err: error }, 'unexpected failure')
    admitDefect(answer(request, reply), request.id)
  }
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

const icon =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64"><path d="M8 8h48v36H28L16 56V44H8z" fill="#4f8de4"/></svg>'
