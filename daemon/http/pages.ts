// The pages of a world beside the API: the inspector, metrics, pictures, uploads, the control plane. One set of fastify routes for all worlds;
// each request knows which world it is for. Loaded with the first such request.

import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'
import type { FastifyBaseLogger, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { levelForms, readLevel } from '../api/levels/releases.ts'
import { emojiData } from '../domain/markdown/emoji-data.ts'
import { invalid, malformed, Refusal } from '../domain/refusal.ts'
import { admitDefect, createAnswering, missingPath, missingSpace, refuse } from './answer.ts'
import { BodyRefused, readBody, readOn } from './body.ts'
import { serveBuiltFile } from './built-files.ts'
import { refuseOldApp } from './compatibility.ts'
import { serveImage, unknownUser } from './images.ts'
import { controlPrefix, prefix } from './incoming.ts'
import { serveInspector } from './inspector.ts'
import { serveJoin } from './join.ts'
import { serveMcp } from './mcp.ts'
import type { Site } from './site.ts'
import { FileMissing, RangeRefused, thumbnailPath } from './uploads.ts'

interface PagesParts {
  readonly log: FastifyBaseLogger
  /** The server that passes requests on to fastify. */
  readonly server: Server
  readonly siteOf: (request: IncomingMessage) => Site
}

export interface Pages {
  serve(request: IncomingMessage, response: ServerResponse): void
  /** From now on. */
  setLogLevel(level: string): void
  /** Answers from now on end their connections. */
  beginClosing(): Promise<void>
}

export async function buildPages({ log, server, siteOf }: PagesParts): Promise<Pages> {
  const { default: Fastify, LogController } = await import('fastify')
  const app = Fastify({
    loggerInstance: log,
    // One line per request, written by the edge, which knows what must not be printed.
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: raw => siteOf(raw as IncomingMessage).newId(),
    // The catalogue checks parameters itself; fastify's two schema compilers would be most of its start.
    schemaController: { compilersFactory: { buildValidator: noSchemas, buildSerializer: noSchemas } },
    serverFactory: () => server,
    return503OnClosing: false,
    // The listener answers what is not HTTP.
    clientErrorHandler: () => {},
    frameworkErrors: (error, request, reply) => fail(error, request, reply),
  })
  app.removeAllContentTypeParsers()
  // Bodies reach their routes as bytes; each route reads its own format. Those of all clients together are bounded, as at the edge.
  app.addContentTypeParser('*', ({ raw }: FastifyRequest) => {
    const site = siteOf(raw)
    return readBody(raw, site.bodyLimit(raw), site.intake.held)
  })
  // Answers have keys, tokens and private content. Those that a browser or proxy may cache set another header.
  app.addHook('onRequest', (_request, reply, done) => {
    reply.header('Cache-Control', 'no-store')
    done()
  })
  addRoutes(app, ({ raw }) => siteOf(raw))
  app.setNotFoundHandler((request, reply) => {
    const path = request.url.split('?', 1)[0]!
    refuse(answer(request, reply), missingSpace(path) ?? missingPath(path))
  })
  app.setErrorHandler((error, request, reply) => fail(error, request, reply))
  await app.ready()
  return {
    serve: app.routing,
    setLogLevel(level) {
      app.log.level = level
    },
    beginClosing: () => app.close(),
  }
}

function addRoutes(app: FastifyInstance, siteOf: (request: FastifyRequest) => Site): void {
  // The probe of public servers, and what their apps ask first.
  app.get('/health', (request, reply) => {
    if (!siteOf(request).isReady)
      throw new Refusal('The daemon is not ready.', { code: 'SERVER_NOT_READY', status: 503 })
    return reply.send({ result: 'success', msg: '' })
  })
  app.get('/compatibility', (request, reply) => {
    const refusal = refuseOldApp(request.headers['user-agent'])
    if (refusal) throw refusal
    return reply.send({ result: 'success', msg: '' })
  })
  app.get('/metrics', async (request, reply) => {
    const metrics = siteOf(request).metricsFor(request)
    return metrics ? reply.type(metrics.contentType).send(await metrics.text()) : reply.callNotFound()
  })
  app.get('/', (request, reply) => serveInspector(request, reply, 'index.html'))
  app.get<{ Params: { file: string } }>('/inspector/:file', (request, reply) =>
    serveInspector(request, reply, request.params.file),
  )
  // Pages refer to each other by relative paths, which need the slash.
  app.get('/docs', (_request, reply) => reply.redirect('docs/'))
  app.get<{ Params: { '*': string } }>('/docs/*', (request, reply) => {
    const name = request.params['*'].replace(/(^|\/)$/, '$1index.html')
    return serveBuiltFile(request, reply, 'site', /^[\w/-]+$/.test(name) ? `${name}.html` : name)
  })
  app.get<{ Params: { file: string } }>('/static/:file', async (request, reply) => {
    const { file } = request.params
    if (file === 'openapi.json') return sendDescription(siteOf(request).level, request, reply)
    if (file === 'emoji.json') {
      emojiText ??= JSON.stringify(emojiData())
      return reply.header('Cache-Control', 'max-age=86400').type(jsonType).send(emojiText)
    }
    const image = Object.hasOwn(images, file) ? images[file] : undefined
    if (image === undefined) return reply.callNotFound()
    return reply.header('Cache-Control', 'max-age=86400').type('image/svg+xml').send(image)
  })
  app.get('/user_avatars/*', (request, reply) => serveImage(siteOf(request), request.url, reply))
  for (const path of ['/avatar', `${prefix}/avatar`])
    for (const size of ['', '/medium'])
      app.get<{ Params: { who: string } }>(`${path}/:who${size}`, (request, reply) =>
        reply.redirect(siteOf(request).avatar(request, request.params.who, size !== '')),
      )
  app.get('/user_uploads/*', async (request, reply) => {
    const { status, headers, body } = await siteOf(request).upload(request)
    return reply.code(status).headers(headers).send(body)
  })
  app.get('/thumbnail', async (request, reply) => {
    const path = thumbnailPath(request.url.split('?', 2)[1] ?? '')
    if (path === undefined) return reply.code(403).send()
    const { status, headers, body } = await siteOf(request).upload(request, path)
    return reply.code(status).headers(headers).send(body)
  })
  app.route({
    method: ['GET', 'POST', 'DELETE'],
    url: '/mcp',
    // The answers of the protocol are streams, which have no size before they end.
    exposeHeadRoute: false,
    handler: (request, reply) => serveMcp(siteOf(request), request, reply),
  })
  for (const url of ['/join/:token', '/join/:token/'])
    app.route<{ Params: { token: string } }>({
      method: ['GET', 'POST'],
      url,
      handler: (request, reply) => serveJoin(siteOf(request), request, reply),
    })
  // One route for the whole control plane: registering one takes a fifth of a millisecond.
  app.route({
    method: ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'],
    url: `${controlPrefix}/*`,
    handler: (request, reply) => {
      const { control } = siteOf(request)
      return control ? control(request, reply) : reply.callNotFound()
    },
  })
}

const pack = promisify(gzip)
const unpack = promisify(gunzip)

const jsonType = 'application/json; charset=utf-8'

// Shared by all worlds: all have the same names. It takes milliseconds to write and needs no account.
let emojiText: string | undefined

// Shared by all worlds: the description of a level never changes. It takes 30 milliseconds to write and needs no account, so one is
// written at a time. Compressed, all of them take 10 MB, otherwise 120.
const descriptions = new Map<number, Promise<Buffer>>()
let lastWritten: Promise<unknown> = Promise.resolve()
// Shared by all worlds: the one that was sent last. Most clients ask for the same one.
let unpacked: { readonly level: number; readonly text: Buffer } | undefined

/** Sends the description of the API at the level of the world, or at the one that is asked for. */
async function sendDescription(level: number, { method, query, headers }: FastifyRequest, reply: FastifyReply) {
  const { level: given } = query as { level?: string }
  const wanted = given === undefined ? level : readLevel(String(given))
  if (wanted === undefined) throw invalid('level', `must be ${levelForms}`)
  let packed = descriptions.get(wanted)
  if (!packed) {
    packed = lastWritten.then(() => describeApi(wanted))
    lastWritten = packed.catch(() => descriptions.delete(wanted))
    descriptions.set(wanted, packed)
  }
  reply.type(jsonType).header('Vary', 'Accept-Encoding')
  if (/\bgzip\b/.test(String(headers['accept-encoding'] ?? '')))
    return reply.header('Content-Encoding', 'gzip').send(await packed)
  if (method === 'HEAD') return reply.send()
  if (unpacked?.level !== wanted) unpacked = { level: wanted, text: await unpack(await packed) }
  return reply.send(unpacked.text)
}

async function describeApi(level: number): Promise<Buffer> {
  const [{ catalogue }, { loadPages, openApi }] = await Promise.all([
    import('../api/index.ts'),
    import('../api/openapi.ts'),
  ])
  return pack(JSON.stringify(openApi(await loadPages(catalogue), level)))
}

function noSchemas(): never {
  throw new Error('routes of natter have no fastify schemas')
}

function answer(request: FastifyRequest, reply: FastifyReply) {
  reply.hijack()
  return createAnswering(request, reply.raw)
}

/** Errors outside the API: a body too large, a malformed URL, a broken request. */
function fail(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  const { statusCode = 500, message } = error as { statusCode?: number; message?: string }
  if (error instanceof FileMissing && !/\bjson\b/.test(request.headers.accept ?? '')) {
    // Browsers follow links to files.
    reply.code(404).header('Vary', 'Accept').type('text/html; charset=utf-8').send(`<p>${error.message}</p>`)
  } else if (error instanceof Refusal) {
    const to = answer(request, reply)
    if (error instanceof RangeRefused) to.headers.push('Content-Range', `bytes */${error.size}`)
    if (error instanceof BodyRefused) {
      to.headers.push('Connection', 'close')
      readOn(request.raw.socket)
    }
    refuse(to, error)
  } else if (statusCode < 500) refuse(answer(request, reply), malformed(message ?? 'The request is malformed.'))
  else {
    request.log.error({ reqId: request.id, err: error }, 'unexpected failure')
    admitDefect(answer(request, reply), request.id)
  }
}

const icon =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64"><path d="M8 8h48v36H28L16 56V44H8z" fill="#4f8de4"/></svg>'

const images: Readonly<Record<string, string>> = { 'icon.svg': icon, 'unknown-user.svg': unknownUser }
