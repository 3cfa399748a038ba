// The HTTP server of a process: one port for any number of worlds. Requests to the API go straight to the edge of their
// world; fastify answers the rest, and is loaded with the first of them (`pages.ts`).

import type { IncomingMessage, Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Refusal } from '../domain/refusal.ts'
import { createAnswering, refuse, sendToFolder } from './answer.ts'
import { type Bounds, usualBounds } from './bounds.ts'
import type { Certificate } from './certificate.ts'
import type { RequestHead, Response } from './exchange.ts'
import { HeldBytes } from './held-bytes.ts'
import { createListener, type Listener } from './listener.ts'
import { ServerLog } from './log.ts'
import { PageTurns } from './page-turns.ts'
import type { Pages } from './pages.ts'
import type { Site, SiteHost } from './site.ts'
import { hostRefusal, targetRefusal } from './target.ts'
import { anyHost, type TrustedHosts } from './trusted-hosts.ts'
import { Shares, Turns } from './turns.ts'

interface ServerParts {
  /** Bytes of the largest body of all. */
  readonly bodyLimit: number
  readonly bounds?: Bounds
  /** Whether node:http reads every request; else the direct server reads those it can. */
  readonly plainHttp?: boolean
  /** Any host, unless it is given. */
  readonly hosts?: TrustedHosts
  /** For HTTPS. */
  readonly certificate?: Certificate | undefined
  readonly logLevel: string
  /** Called for every call that was answered. */
  readonly countCall?: SiteHost['countCall']
}

export interface HttpServer extends SiteHost {
  /**
   * Requests to paths below the prefix (`/spaces/NAME`) go to this site, without the prefix; '' is for all the others.
   * Replaces a site that was there before, which still answers its requests in progress.
   */
  mount(prefix: string, site: Site): void
  unmount(prefix: string): void
  /** What a site below a prefix needs: request IDs of its own, and a share of the memory for bodies. */
  createHost(name: string): SiteHost
  setLogLevel(level: string): void
  /** For connections from now on. */
  replaceCertificate(certificate: Certificate): void
  /** How many connections are open. */
  connections(): Promise<number>
  /** From here on, neither the port nor a connection keeps the process alive. */
  unref(): void
  /** Resolves with the address it listens at, such as `http://127.0.0.1:9991`. */
  listen(where: { host: string; port: number }): Promise<string>
  close(): Promise<void>
  /** Stops listening and cuts all connections, at once: for a process that cannot go on. */
  disconnect(): void
}

export function buildServer({
  bodyLimit,
  bounds = usualBounds,
  plainHttp = false,
  hosts = anyHost,
  certificate,
  logLevel,
  countCall,
}: ServerParts): HttpServer {
  // One counter for all ways in: a request ID that a client reports must be in the log only once.
  let requests = 0
  const newId = () => `req-${(++requests).toString(36)}`
  const sites = new Sites()
  const pageOf = new WeakMap<IncomingMessage, Site>()
  const log = new ServerLog(logLevel)
  const findRefusal = ({ url, headers }: RequestHead) => targetRefusal(url!) ?? hosts.refuseHeaders(headers)
  // The site counts its own requests: the IDs of one space must not show how many requests another had.
  const refuseAt = (site: Site, { method }: RequestHead, response: Response, refusal: Refusal) =>
    refuse(createAnswering({ method: method!, id: site.newId() }, response), refusal)
  const listener = createListener({
    bounds,
    bodyLimit,
    certificate,
    newId,
    take: (request, response) => {
      const refusal = hostRefusal(request.rawHeaders) ?? findRefusal(request)
      if (refusal) refuseAt(sites.find(request), request, response, refusal)
      else if (sites.isFolder(request)) sendToFolder(request.url!, response)
      else sites.find(request).serve(request, response)
    },
    serve: plainHttp
      ? undefined
      : (head, body, response) => {
          const refusal = findRefusal(head)
          if (refusal) refuseAt(sites.find(head), head, response, refusal)
          else sites.find(head).serveWhole(head, body, response)
        },
  })
  const { server } = listener
  let pages: Promise<Pages> | undefined
  let opened: Pages | undefined
  const pageTurns = new PageTurns()
  const openPages = () => {
    pages ??= import('./pages.ts')
      .then(({ buildPages }) => buildPages({ log: log.logger, server, siteOf: request => pageOf.get(request)! }))
      .then(built => {
        opened = built
        return built
      })
      .catch(error => {
        // No file descriptor was free, for instance. The next request tries again.
        pages = undefined
        throw error
      })
    return pages
  }
  const host: SiteHost = {
    log,
    newId,
    countCall,
    turns: new Turns(),
    shares: new Shares(),
    intake: {
      uploadBytes: bodyLimit,
      bodyBytes: bounds.bodyBytes,
      held: new HeldBytes(bounds.bufferedBytes),
      heldFiles: new HeldBytes(bounds.bufferedFileBytes),
      storedFiles: new HeldBytes(bounds.arrivingFileBytes),
      leastOfFile: bounds.arrivingFileBytes / bounds.arrivingFiles,
    },
    page(site, request, response) {
      pageOf.set(request, site)
      const begin = () => {
        // Once the pages are loaded, in the same turn as the edge does it, so that bytes after the request that are not HTTP are refused after the answer.
        if (opened) return opened.serve(request, response)
        openPages().then(
          ({ serve }) => serve(request, response),
          error => {
            const id = newId()
            log.error({ reqId: id, err: error }, 'the pages cannot be loaded')
            refuse(createAnswering({ method: request.method!, id }, response), pagesUnavailable)
          },
        )
      }
      pageTurns.take(request, response, begin)
    },
  }
  // All spaces together have as much as the main organization, so that they do not keep its calls out.
  const spaces = { shares: new Shares(), held: new HeldBytes(bounds.bufferedBytes) }
  return {
    ...host,
    createHost: name => createPart(host, name, spaces, bounds),
    mount: (prefix, site) => sites.mount(prefix, site),
    unmount: prefix => sites.unmount(prefix),
    setLogLevel(level) {
      log.level = level
      pages?.then(
        opened => opened.setLogLevel(level),
        () => {},
      )
    },
    replaceCertificate: newer => listener.replaceCertificate(newer),
    connections: () =>
      new Promise((resolve, reject) =>
        server.getConnections((error, count) => (error ? reject(error) : resolve(count))),
      ),
    unref() {
      server.unref()
      server.on('connection', socket => socket.unref())
    },
    listen: where => listen(server, where, certificate ? 'https' : 'http', log),
    close: async () => {
      await (await pages?.catch(() => undefined))?.beginClosing()
      await close(listener, () => sites.settled())
    },
    disconnect() {
      server.close()
      listener.closeAll()
    },
  }
}

interface OfSpaces {
  readonly shares: Shares
  readonly held: HeldBytes
}

/** The part of the memory for bodies that one space may use, so that the others have some left. */
const partOfMemory = 1 / 4

function createPart(whole: SiteHost, name: string, spaces: OfSpaces, bounds: Bounds): SiteHost {
  // The name tells them from the IDs of other worlds in the log of the daemon.
  let requests = 0
  const share = spaces.shares.create()
  return {
    ...whole,
    // However many accounts it has.
    shares: { get: () => share },
    newId: () => `req-${name}-${(++requests).toString(36)}`,
    intake: {
      ...whole.intake,
      held: new HeldBytes(bounds.bufferedBytes * partOfMemory, spaces.held),
      heldFiles: new HeldBytes(bounds.bufferedFileBytes * partOfMemory, whole.intake.heldFiles),
    },
  }
}

/** The sites by their prefixes. */
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

  /** Whether the path is that of a site below a prefix without the slash at its end, which relative links of its page need. */
  isFolder({ url }: RequestHead): boolean {
    if (this.#below.size === 0) return false
    const prefix = twoSegments.exec(url!)?.[0]
    return prefix !== undefined && url![prefix.length] !== '/' && this.#below.has(prefix)
  }

  /** The site of the request. Removes the prefix from the URL of the request. */
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
const drainTimeout = 700

const pagesUnavailable = new Refusal('The daemon cannot load what answers this path; see its log. Try again later.', {
  code: 'SERVER_NOT_READY',
  status: 503,
})

/** Stops listening, lets requests in progress end, and closes each connection when its client has the answer. */
async function close(listener: Listener, settled: () => Promise<void>): Promise<void> {
  listener.closeIdle()
  const sweep = setInterval(() => listener.closeIdle(), 10)
  const force = setTimeout(async () => {
    // Waits for the disk without a deadline: a client whose write is not answered would take it for lost.
    await settled().catch(() => {})
    setImmediate(() => listener.closeAll())
  }, drainTimeout)
  try {
    await new Promise(resolve => listener.server.close(resolve))
  } finally {
    clearInterval(sweep)
    clearTimeout(force)
  }
}

async function listen(
  server: Server,
  { host, port }: { host: string; port: number },
  scheme: 'http' | 'https',
  log: ServerLog,
): Promise<string> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen({ host, port }, () => {
      server.removeListener('error', reject)
      resolve()
    })
  })
  const bound = server.address() as AddressInfo
  const address = `${scheme}://${bound.address.includes(':') ? `[${bound.address}]` : bound.address}:${bound.port}`
  log.info({}, `Server listening at ${address}`)
  return address
}
