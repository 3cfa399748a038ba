// One world as the HTTP server sees it: its API, its files, its control plane, and whether it answers yet.

import type { IncomingMessage, ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { User } from '../domain/model/state.ts'
import { pictureFile } from '../domain/organization/pictures.ts'
import { type Offer, readOffer } from '../domain/people/invitations/offer.ts'
import { avatarFor } from '../domain/people/users/avatar-for.ts'
import { Refusal } from '../domain/refusal.ts'
import { administer, callEndpoint, check } from '../domain/rules/index.ts'
import { createAnswering, refuse, send } from './answer.ts'
import { ArrivingFiles } from './arriving-files.ts'
import type { Intake } from './body.ts'
import { Edge } from './edge.ts'
import type { EdgeParts, ProcessLog } from './edge-parts.ts'
import type { Answering, RepeatedCall, RequestHead, Response } from './exchange.ts'
import type { HeldBytes } from './held-bytes.ts'
import { controlPrefix, findAddress, hasControlToken, isForEdge } from './incoming.ts'
import { budgets } from './rate-limit.ts'
import { locatePicture } from './redirects.ts'
import { type StoredFile, type UploadAnswer, uploadFor } from './uploads.ts'

export interface SiteParts extends Omit<EdgeParts, HostPart | 'arriving'> {
  /** Files beside the store. */
  readonly findFile: (name: string) => Promise<StoredFile | undefined>
  /** Replaces the real time in the header Date; undefined: the real time. */
  readonly date: (() => string | undefined) | undefined
  /** Answers /control/v1; undefined where the control plane is closed. */
  readonly control: ControlHandler | undefined
  /** Reading one takes seconds, in which no other space is answered. A space takes those of 1 MiB. */
  readonly takesLargeSnapshots: boolean
  /** What /metrics shows; undefined where it is closed. */
  readonly metrics?: MetricsPage | undefined
  /** Who may use /mcp: programs on this machine, any with a key, or none. */
  readonly mcp: 'local' | 'on' | 'off'
  /** In a cluster: whether this daemon has caught up, and what /readyz says besides. */
  readonly clusterStatus?: (() => { readonly caughtUp: boolean; readonly details: object }) | undefined
}

export type ControlHandler = (request: FastifyRequest, reply: FastifyReply) => Promise<object>

/** The account that a request to /mcp acts as. */
export interface McpAccount {
  /** Of a bot, the account of its owner; otherwise the account itself. */
  readonly ownerId: number
  readonly email: string
  readonly apiKey: string
  readonly ip: string
}

interface MetricsPage {
  readonly contentType: string
  text(): Promise<string>
}

/** What the edge gets from the process. */
type HostPart = 'intake' | 'countCall' | 'turns' | 'shares'

/** What a site needs of the server that it is mounted on. */
export interface SiteHost extends Pick<EdgeParts, HostPart> {
  readonly log: ProcessLog
  readonly newId: () => string
  /** Answers requests outside of the API: other pages of the site, or 404. */
  readonly page: (site: Site, request: IncomingMessage, response: ServerResponse) => void
}

export class Site {
  readonly #parts: SiteParts
  readonly #host: SiteHost
  readonly #edge: Edge
  /** Grows with every request. */
  requests = 0
  #phase: 'starting' | 'open' | 'closing' | 'closed' = 'starting'
  #closedBecause = 'The daemon is stopping.'
  /** Since a defect ended its world. */
  #ended: Refusal | undefined
  #begin = () => {}
  readonly #started = new Promise<void>(resolve => {
    this.#begin = resolve
  })

  constructor(parts: SiteParts, host: SiteHost) {
    this.#parts = parts
    this.#host = host
    const { intake, countCall, turns, shares } = host
    const arriving = new ArrivingFiles(parts, intake)
    this.#edge = new Edge({ ...parts, arriving, intake, countCall, turns, shares }, host.newId, host.log)
  }

  get newId(): () => string {
    return this.#host.newId
  }

  get intake(): Intake {
    return this.#host.intake
  }

  get isReady(): boolean {
    return this.#phase === 'open' && this.#parts.clusterStatus?.().caughtUp !== false
  }

  /** What /readyz answers. */
  get readiness(): object {
    const cluster = this.#parts.clusterStatus?.().details
    return { ready: this.isReady, ...(cluster && { cluster }) }
  }

  /** Answers requests from now on, and those that wait. */
  open(): void {
    this.#phase = 'open'
    this.#begin()
  }

  /** /readyz answers 503 from now on. Requests are still answered, unless it was never open. */
  beginClosing(): void {
    this.#phase = this.#phase === 'open' ? 'closing' : 'closed'
    this.#begin()
  }

  close(why = this.#closedBecause): void {
    this.#phase = 'closed'
    this.#closedBecause = why
  }

  /** A defect ended its world: every request gets the refusal from now on. */
  end(refusal: Refusal): void {
    this.#ended = refusal
    this.#phase = 'closed'
    this.#begin()
  }

  /** Resolves when everything decided so far is on disk, here or at the leader of the cluster. */
  async settled(): Promise<void> {
    await Promise.all([this.#parts.engine.settled(), this.#parts.forwarding?.settled()])
  }

  /** Answers a request that node:http has read as far as its body. */
  serve(request: IncomingMessage, response: ServerResponse): void {
    this.requests++
    this.#attempt(request, response, () => {
      if (isProbe(request)) this.#answerProbe(request, response)
      else this.#whenOpen(request, response, () => this.#take(request, response))
    })
  }

  /** Answers a request to the API that arrived whole, or that this process makes itself. */
  serveWhole(head: RequestHead, body: Buffer | undefined, response: Response): void {
    this.requests++
    response.date = this.#parts.date
    this.#attempt(head, response, () => {
      if (this.#phase === 'open') this.#edge.serve(head, body, response)
      else this.#whenOpen(head, response, () => this.#edge.serve(head, body, response))
    })
  }

  /** Answers a request to the API that another daemon of the cluster has sent on. */
  serveForwarded(request: IncomingMessage, response: ServerResponse): void {
    this.requests++
    this.#attempt(request, response, () => {
      this.#whenOpen(request, response, () => {
        if (this.#parts.forwarding!.admit(request, response)) this.#edge.take(request, response, true)
      })
    })
  }

  // --- pages ----------------------------------------------------------------------------------------------------

  /** The feature level. */
  get level(): number {
    return this.#parts.server.level.number
  }

  get control(): SiteParts['control'] {
    return this.#parts.control
  }

  /** What the calls of an account and its bots hold; 0: those of callers without an account. */
  heldBy(ownerId: number): HeldBytes {
    return this.#host.shares.get(ownerId).held
  }

  /** Bytes of the body of a page. */
  bodyLimit({ url = '', headers }: IncomingMessage): number {
    const { intake } = this.#host
    const takesSnapshot = this.#parts.takesLargeSnapshots && url.startsWith(controlPrefix)
    return takesSnapshot && hasControlToken(headers, this.#parts.keys) ? intake.uploadBytes : intake.bodyBytes
  }

  /** Makes a call of another daemon again, for its signals. */
  repeat(call: RepeatedCall): void {
    this.#edge.repeat(call)
  }

  get findFile(): SiteParts['findFile'] {
    return this.#parts.findFile
  }

  /** The name of the picture at this path. */
  pictureFile(path: string): string | undefined {
    return pictureFile(this.#parts.engine.state, path)
  }

  /** The text of /metrics, for owners and administrators; undefined where it is closed. */
  metricsFor(request: FastifyRequest): MetricsPage | undefined {
    const { metrics, engine } = this.#parts
    if (metrics) check(administer, { state: engine.state, actor: this.#authenticate(request) })
    return metrics
  }

  get url(): string {
    return this.#parts.server.url
  }

  /** Throws unless the request has the API key of an account as its bearer token, and may come from where it does. */
  mcpAccount({ headers, socket }: FastifyRequest): McpAccount {
    const { mcp, trustProxy, keys } = this.#parts
    const ip = findAddress(headers, socket, trustProxy)
    if (mcp === 'off' || (mcp === 'local' && !isLoopback(ip))) throw refuseMcp()
    const key = /^bearer (\S+)$/i.exec(headers.authorization ?? '')?.[1]
    const user = this.#edge.authenticateKey(key, ip)
    this.#edge.limiter?.count(budgets.mcp, user.id, [])
    const ownerId = user.bot?.ownerId ?? user.id
    return { ownerId, email: user.email, apiKey: keys.deriveKey(user), ip }
  }

  /** The address of a user's avatar. */
  avatar(request: FastifyRequest, who: string, medium: boolean): string {
    const { engine, server } = this.#parts
    const address = avatarFor({ state: engine.state, actor: this.#authenticate(request) }, who, medium)
    return locatePicture(server.url, address, request.url.split('?', 2)[1])
  }

  /** The account that the link of an invitation offers. Refuses unknown and expired links. */
  offer(token: string): Offer {
    const { engine, now } = this.#parts
    return readOffer(engine.state, now(), token)
  }

  /** `given` is the path of the file, if it is not that of the request. */
  upload(request: FastifyRequest, given?: string): Promise<UploadAnswer> {
    const { authorization, range, 'if-range': condition } = request.headers
    const [path, query] = request.url.split('?', 2)
    const key = authorization === undefined ? new URLSearchParams(query).get('api_key') : null
    const ip = findAddress(request.headers, request.socket, this.#parts.trustProxy)
    return uploadFor(this.#parts, {
      path: given ?? path!,
      anonymous: authorization === undefined,
      authenticate: () =>
        key === null ? this.#authenticate(request) : this.#allowPages(this.#edge.authenticateKey(key, ip)),
      head: request.method === 'HEAD',
      // The file has no validator that a condition could name.
      range: condition === undefined ? range : undefined,
    })
  }

  // --- before and after -----------------------------------------------------------------------------------------

  #authenticate(request: FastifyRequest): User {
    const { headers, socket } = request
    return this.#allowPages(
      this.#edge.authenticate({ headers, ip: findAddress(headers, socket, this.#parts.trustProxy) }),
    )
  }

  /** The key of an incoming webhook bot is in addresses that other services have. */
  #allowPages(actor: User): User {
    check(callEndpoint, { state: this.#parts.engine.state, actor }, 'page')
    return actor
  }

  #take(request: IncomingMessage, response: ServerResponse): void {
    if (this.#parts.date) dateWhenWritten(response, this.#parts.date)
    if (isForEdge(request.url!)) this.#edge.take(request, response)
    else this.#host.page(this, request, response)
  }

  /** Answered in every phase, and without fastify: a probe is often the first request. */
  #answerProbe(request: IncomingMessage, response: ServerResponse): void {
    const isAlive = request.url!.startsWith('/livez')
    const status = isAlive || this.isReady ? 200 : 503
    send(this.#answering(request, response), status, JSON.stringify(isAlive ? { ok: true } : this.readiness))
  }

  #whenOpen(head: RequestHead, response: Response, serve: () => void): void {
    if (this.#phase === 'open' || this.#phase === 'closing') serve()
    else if (this.#ended) refuse(this.#answering(head, response), this.#ended)
    else if (this.#phase === 'closed') this.#refuse(head, response, this.#closedBecause)
    else
      this.#parts.engine.boundary.run(async () => {
        const open = await opensSoon(this.#started)
        this.#attempt(head, response, () => {
          if (open) this.#whenOpen(head, response, serve)
          else this.#refuse(head, response, 'The daemon is starting. Try again, or wait until /readyz answers 200.')
        })
      })
  }

  /** An error before the edge has the call, or while it is answered, fails this call only. */
  #attempt(head: RequestHead, response: Response, serve: () => void): void {
    try {
      serve()
    } catch (error) {
      this.#host.log.error({ err: error, path: head.url?.split('?', 1)[0] }, 'a call cannot be answered')
      response.destroy()
    }
  }

  #answering({ method }: RequestHead, response: Response): Answering {
    return createAnswering({ method: method!, id: this.#host.newId() }, response)
  }

  #refuse(head: RequestHead, response: Response, msg: string): void {
    refuse(this.#answering(head, response), new Refusal(msg, { code: 'SERVER_NOT_READY', status: 503, retryAfter: 1 }))
  }
}

/** The header Date shows the time of the answer, as on the direct path: the clock can be moved while a poll waits. */
function dateWhenWritten(response: ServerResponse, date: () => string | undefined): void {
  const { writeHead } = response
  response.writeHead = (...args: unknown[]) => {
    const now = date()
    if (now !== undefined) response.setHeader('Date', now)
    return Reflect.apply(writeHead, response, args)
  }
}

function isLoopback(ip: string): boolean {
  return /^(?:127\.|::1$|::ffff:127\.)/.test(ip)
}

function refuseMcp(): Refusal {
  const msg = 'You cannot use /mcp from another machine. Start natterd with --mcp on to allow it.'
  return new Refusal(msg, { kind: 'forbidden', status: 403 })
}

function isProbe({ method, url }: IncomingMessage): boolean {
  return (method === 'GET' || method === 'HEAD') && /^\/(live|ready)z(\?|$)/.test(url!)
}

/** Milliseconds that a request waits for a world that starts. Most are open by then, so a client may call as soon as the port is open. */
const startWait = 1000

async function opensSoon(started: Promise<void>): Promise<boolean> {
  const late = Symbol()
  return (await Promise.race([started, sleep(startWait, late, { ref: false })])) !== late
}
