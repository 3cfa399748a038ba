// Calls that the leader of a cluster decides: a follower routes them, knows their caller and has all of their body before it
// uses a connection to the leader. The path that it sends is composed from the route and its parameters, never copied from the client.

import type { IncomingMessage } from 'node:http'
import type { Endpoint } from '../api/define.ts'
import type { User } from '../domain/model/state.ts'
import { Refusal } from '../domain/refusal.ts'
import type { ArrivingFiles, FilesOfRequest } from './arriving-files.ts'
import { type Intake, readBody, readPieces } from './body.ts'
import type { Answering, Forwarding, WholeBody } from './exchange.ts'
import { type HeldBytes, Hold } from './held-bytes.ts'
import { headerName } from './idempotency.ts'
import { type Incoming, prefix } from './incoming.ts'
import type { FieldMap } from './parameters.ts'
import { eventHeaders, keyIn } from './posted.ts'
import { budgetOf, type RateLimiter } from './rate-limit.ts'
import { buildPath, type Found } from './routes.ts'

export interface ToLeaderParts {
  readonly forwarding: Forwarding
  readonly intake: Intake
  readonly arriving: Pick<ArrivingFiles, 'begin'>
  /** Throws a refusal for a caller that this daemon does not know. `posted` are the fields of an incoming webhook. */
  readonly known: (request: Incoming, answering: Answering, posted: FieldMap | undefined) => User
  /** Counts a call of a caller without an account. Throws when there were too many. */
  readonly countUnknown: (request: Incoming, answering: Answering) => void
  readonly limiter: RateLimiter | undefined
}

/** The headers that the API reads. A follower sends no others on. */
export const apiHeaders = ['authorization', 'content-type', 'user-agent', headerName, ...eventHeaders]

type Body = Buffer | IncomingMessage | undefined

export class ToLeader {
  readonly #parts: ToLeaderParts

  constructor(parts: ToLeaderParts) {
    this.#parts = parts
  }

  mustForward(request: Incoming, { route }: Found): boolean {
    return !request.forwarded && this.#parts.forwarding.mustForward(route.endpoint.method)
  }

  async send(found: Found, request: Incoming, body: Body, answering: Answering, posted?: FieldMap): Promise<void> {
    const { forwarding, intake, arriving, limiter } = this.#parts
    const { endpoint } = found.route
    const receiving = new ReceivedBody(arriving, intake.held)
    try {
      const actor = await this.#identify(endpoint, request, answering, posted)
      if (answering.observed) answering.observed.account = actor?.id
      // Before the body is read, which the leader cannot do. Apart from the calls that are answered here: the leader does not count those.
      if (actor) limiter?.count(budgetOf(endpoint), `sent on:${actor.id}`, answering.headers)
      const limit = actor && takesFile(endpoint) ? intake.uploadBytes : intake.bodyBytes
      const whole = body && !Buffer.isBuffer(body) ? await receiving.read(body, limit, actor) : bufferBody(body)
      const query = request.query === '' ? '' : `?${request.query.replace(/[^!-~]|#/g, encodeByte)}`
      const call = {
        method: endpoint.method,
        path: `${prefix}${buildPath(found)}${query}`,
        headers: request.headers,
        ip: request.ip,
        account: actor?.bot?.ownerId ?? actor?.id,
        body: whole,
      }
      await forwarding.forward(call, answering)
    } catch (error) {
      if (body && !Buffer.isBuffer(body)) body.resume()
      throw error
    } finally {
      await receiving.end()
    }
  }

  /**
   * Undefined where anyone may call. Each call whose caller is not known counts here, although the leader counts as well: all of
   * them share a few connections to it. Catches up with the log before it refuses a caller: the account may be newer than the
   * state of this daemon.
   */
  async #identify(
    { access }: Endpoint,
    request: Incoming,
    answering: Answering,
    posted: FieldMap | undefined,
  ): Promise<User | undefined> {
    const { known, countUnknown, forwarding } = this.#parts
    if (access === 'anyone') return void countUnknown(request, answering)
    try {
      return known(request, answering, posted)
    } catch (error) {
      countUnknown(request, answering)
      const credentials = posted ? keyIn(posted) : request.headers.authorization
      if (credentials === undefined) throw error
      if (!(await forwarding.catchUp())) throw notCaughtUp('account')
      return known(request, answering, posted)
    }
  }
}

export function takesFile({ params }: Endpoint): boolean {
  return Object.values(params).some(({ shape }) => shape.format === 'binary')
}

/** A multipart body on its way to the disk; that of a caller without an account stays in memory. */
class ReceivedBody {
  readonly #arriving: Pick<ArrivingFiles, 'begin'>
  readonly #held: HeldBytes
  readonly #hold: Hold
  #files: FilesOfRequest | undefined

  constructor(arriving: Pick<ArrivingFiles, 'begin'>, held: HeldBytes) {
    this.#arriving = arriving
    this.#held = held
    this.#hold = new Hold(held)
  }

  async read(body: IncomingMessage, limit: number, actor: User | undefined): Promise<WholeBody> {
    if (!actor) {
      const bytes = await readBody(body, limit, this.#held)
      this.#hold.set(bytes.length)
      return bufferBody(bytes)!
    }
    const files = this.#arriving.begin(actor)
    this.#files = files
    const received = files.receive()
    for await (const piece of readPieces(body, limit)) await files.write(received, piece)
    return { size: received.size, held: 0, open: () => received.stream() }
  }

  async end(): Promise<void> {
    this.#hold.end()
    await this.#files?.end()
  }
}

function bufferBody(bytes: Buffer | undefined): WholeBody | undefined {
  return bytes && { size: bytes.length, held: bytes.length, open: () => bytes }
}

function encodeByte(char: string): string {
  return `%${char.charCodeAt(0).toString(16).padStart(2, '0').toUpperCase()}`
}

/** The daemon may know it when it has what the others have. */
export function notCaughtUp(unknown: 'account' | 'event queue'): Refusal {
  const msg = `This daemon does not know your ${unknown}, and it cannot ask the others at the moment. Try again in a few seconds.`
  return new Refusal(msg, { code: 'SERVER_NOT_READY', status: 503, retryAfter: 1 })
}
