// The HTTP server of a process: one port for any number of worlds. Requests to the API go straight to the edge of their
// world; fastify answers the rest.

import type { IncomingMessage, ServerResponse } from 'node:http'
import Fastify, { type FastifyInstance, type FastifyReply, type FastifyRequest, LogController } from 'fastify'
import { malformed, Refusal } from '../domain/refusal.ts'
import { admitDefect, answeringOf, missingPath, missingSpace, refuse, sendToFolder } from './answer.ts'
import { HeldBytes, tooLarge } from './body.ts'
import { type Bounds, usualBounds } from './bounds.ts'
import type { Certificate } from './certificate.ts'
import type { Log } from './edge.ts'
import type { RequestHead } from './exchange.ts'
import { createListener, type Listener } from './listener.ts'
import { addPages } from './pages.ts'
import type { Site, SiteHost } from './site.ts'
import { anyHost, type TrustedHosts } from './trusted-hosts.ts'
import { RangeRefused } from './uploads.ts'

export interface ServerParts {
  /** Bytes of the largest body of all. */
  readonly bodyLimit: number
  readonly bounds?: Bounds
  /** Whether node:http reads every request; else the short way takes what it can. */
  readonly plainHttp?: boolean
  /** Any host, unless it is given. */
  readonly hosts?: TrustedHosts
  /** For HTTPS. */
  readonly certificate?: Certificate | undefined
  readonly logger: { level: string; stream?: LogStream }
  /** Hears of every call that was answered. */
  readonly countCall?: SiteHost['countCall']
}

/** Where the log goes: one call for each line. */
export interface LogStream {
  write(line: string): void
}

export interface HttpServer extends SiteHost {
  /**
   * Requests to paths below the prefix (`/spaces/NAME`) go to this site, without the prefix; '' is for all the others.
   * A site that was there before is replaced: its requests in progress are still answered by it.
   */
  mount(prefix: string, site: Site): void
  unmount(prefix: string): void
  /** What a site below a prefix needs: its requests are counted by themselves, and take up a part of the room only. */
  hostOf(name: string): SiteHost
  /** From now on. */
  setLogLevel(level: string): void
  /** For connections from now on. */
  replaceCertificate(certificate: Certificate): void
  /** Connections that are open. */
  connections(): Promise<number>
  /** From here on, neither the port nor a connection keeps the process alive. */
  unref(): void
  /** Resolves to the address. */
  listen(where: { host: string; port: number }): Promise<string>
  close(): Promise<void>
}

export function buildServer({
  bodyLimit,
  bounds = usualBounds,
  plainHttp = false,
  hosts = anyHost,
  certificate,
  logger,
  countCall,
}: ServerParts): HttpServer {
  // One count for all ways in: what a client reports must be found in the log once.
  let requests = 0
  const newId = () => `req-${(++requests).toString(36)}`
  const sites = new Sites()
  const pageOf = new WeakMap<IncomingMessage, Site>()
  let handlePage!: (request: IncomingMessage, response: ServerResponse) => void
  let listener!: Listener
  const app = Fastify({
    logger,
    // One line per request, written by the edge, which knows what must not be printed.
    logController: new LogController({ disableRequestLogging: true }),
    genReqId: raw => (pageOf.get(raw as IncomingMessage)?.newId ?? newId)(),
    bodyLimit: bounds.bodyBytes,
    // The catalogue checks parameters itself; fastify's two schema compilers would be a third of the start.
    schemaController: { compilersFactory: { buildValidator: noSchemas, buildSerializer: noSchemas } },
    serverFactory: handler => {
      handlePage = handler
      listener = createListener({
        bounds,
        bodyLimit,
        plain: plainHttp,
        certificate,
        newId,
        take: (request, response) => {
          const refusal = hosts.refusalOf(request.headers)
          if (refusal) refuse(answeringOf({ method: request.method!, id: newId() }, response), refusal)
          else if (sites.isFolder(request)) sendToFolder(request.url!, response)
          else sites.find(request).serve(request, response)
        },
        serve: (head, body, response) => {
          const refusal = hosts.refusalOf(head.headers)
          if (refusal) refuse(answeringOf({ method: head.method!, id: newId() }, response), refusal)
          else sites.find(head).serveWhole(head, body, response)
        },
      })
      return listener.server
    },
    // Requests in progress when the daemon stops are answered; `close` does the rest.
    forceCloseConnections: 'idle',
    return503OnClosing: false,
    // The listener answers what is not HTTP.
    clientErrorHandler: () => {},
    frameworkErrors: (error, request, reply) => fail(error, request, reply),
  })
  app.removeAllContentTypeParsers()
  // Bodies reach their routes as bytes; each route reads its own format.
  app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
  addPages(app, ({ raw }) => pageOf.get(raw)!)
  app.setNotFoundHandler((request, reply) => {
    const path = request.url.split('?', 1)[0]!
    refuse(answer(request, reply), missingSpace(path) ?? missingPath(path))
  })
  app.setErrorHandler((error, request, reply) => fail(error, request, reply))
  const host: SiteHost = {
    log: app.log as typeof app.log & Log,
    newId,
    countCall,
    intake: {
      uploadBytes: bodyLimit,
      bodyBytes: bounds.bodyBytes,
      held: new HeldBytes(bounds.bufferedBytes),
      heldFiles: new HeldBytes(bounds.bufferedFileBytes),
    },
    page(site, request, response) {
      pageOf.set(request, site)
      handlePage(request, response)
    },
  }
  return {
    ...host,
    hostOf: name => partOf(host, name, bounds),
    mount: (prefix, site) => sites.mount(prefix, site),
    unmount: prefix => sites.unmount(prefix),
    setLogLevel(level) {
      app.log.level = level
    },
    replaceCertificate: newer => listener.replaceCertificate(newer),
    connections: () =>
      new Promise((resolve, reject) =>
        listener.server.getConnections((error, count) => (error ? reject(error) : resolve(count))),
      ),
    unref() {
      app.server.unref()
      app.server.on('connection', socket => socket.unref())
    },
    listen: where => app.listen(where),
    close: () => close(app, listener, () => sites.settled()),
  }
}

/** A flood of bodies in one world must leave room for those of the others. */
const share = 1 / 4

function partOf(whole: SiteHost, name: string, { bufferedBytes, bufferedFileBytes }: Bounds): SiteHost {
  const { held, heldFiles } = whole.intake
  // In the log of the daemon the name tells them from those of other worlds.
  let requests = 0
  return {
    ...whole,
    newId: () => `req-${name}-${(++requests).toString(36)}`,
    intake: {
      ...whole.intake,
      held: new HeldBytes(bufferedBytes * share, held),
      heldFiles: new HeldBytes(bufferedFileBytes * share, heldFiles),
    },
  }
}

/** Which world a request is for. */
class Sites {
  readonly #below = new Map<string, Site>()
  #main: Site | undefined

  mount(prefix: string, site: Site): void {
    if (prefix === '') this.#main = site
    else this.#below.set(prefix, site)
  }

  unmount(prefix: string): void {
    if (prefix === '') this.#main = undefined
    else this.#below.delete(prefix)
  }

  /** Whether the request names a site below a prefix and nothing in it, without the slash that its page needs. */
  isFolder({ url }: RequestHead): boolean {
    if (this.#below.size === 0) return false
    const prefix = twoSegments.exec(url!)?.[0]
    return prefix !== undefined && url![prefix.length] !== '/' && this.#below.has(prefix)
  }

  /** The site of the request, whose URL loses the prefix. */
  find(request: RequestHead): Site {
    const prefix = this.#below.size === 0 ? undefined : twoSegments.exec(request.url!)?.[0]
    const site = prefix === undefined ? undefined : this.#below.get(prefix)
    if (!site) return this.#main!
    ;(request as { url?: string }).url = request.url!.slice(prefix!.length)
    return site
  }

  async settled(): Promise<void> {
    const all = this.#main ? [this.#main, ...this.#below.values()] : [...this.#below.values()]
    await Promise.allSettled(all.map(site => site.settled()))
  }
}

/** What a prefix looks like: `/spaces/NAME`. */
const twoSegments = /^\/[^/?]+\/[^/?]+/

/** Milliseconds that requests in progress have to end by themselves. */
const patience = 700

/** Stops listening, lets requests in progress end, and closes each connection when its client has the answer. */
async function close(app: FastifyInstance, listener: Listener, settled: () => Promise<void>): Promise<void> {
  listener.closeIdle()
  const sweep = setInterval(() => listener.closeIdle(), 10)
  const force = setTimeout(async () => {
    // However slow the disk is: what is being written is answered first, or it would seem lost.
    await settled().catch(() => {})
    setImmediate(() => listener.closeAll())
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

/** Errors outside the API: a body too large, a malformed URL, a broken request. */
function fail(error: unknown, request: FastifyRequest, reply: FastifyReply): void {
  const { statusCode = 500, message } = error as { statusCode?: number; message?: string }
  if (error instanceof Refusal) {
    const to = answer(request, reply)
    if (error instanceof RangeRefused) to.headers.push('Content-Range', `bytes */${error.size}`)
    refuse(to, error)
  } else if (statusCode === 413) {
    const to = answer(request, reply)
    to.headers.push('Connection', 'close')
    refuse(to, tooLarge(usualBounds.bodyBytes))
  } else if (statusCode < 500) refuse(answer(request, reply), malformed(message ?? 'The request is malformed.'))
  else {
    request.log.error({ reqId: request.id, err: error }, 'unexpected failure')
    admitDefect(answer(request, reply), request.id)
  }
}
