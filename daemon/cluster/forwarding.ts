// Writes that reach a follower: sent on to the leader, and answered when the follower itself has come that far, so that
// everybody reads their own writes.

import type { IncomingMessage } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { request } from 'undici'
import { Refusal } from '../domain/refusal.ts'
import { answeringOf, refuse } from '../http/answer.ts'
import type { Forwarding, RequestHead, Response } from '../http/exchange.ts'
import { addressOf } from '../http/incoming.ts'
import { type Peers, sameToken, tokenHeader } from './peers.ts'

export interface ForwardingParts {
  readonly peers: Peers
  readonly trustProxy: boolean
  readonly newId: () => string
  leads(): boolean
  /** Where the leader is; waits a few seconds for one. */
  leader(): Promise<string | undefined>
  /** Where the leader is now, if it is known. */
  leaderNow(): string | undefined
  /** Position of the newest entry that is committed and applied here. */
  committed(): number
  /** Waits until this daemon is at the position. */
  reach(position: number): Promise<boolean>
}

/** The newest committed position, in the answer to a forwarded request. */
const positionHeader = 'natter-position'
/** Set when the daemon that was asked does not lead, and so has done nothing. */
const notLeadingHeader = 'natter-not-leading'

/** Milliseconds that a request waits for a leader that can be reached. */
const patience = 10_000
/** Milliseconds that the leader has for an answer. */
const answerTime = 60_000

type Body = Buffer | IncomingMessage | undefined

export class LeaderForwarding implements Forwarding {
  readonly #parts: ForwardingParts

  constructor(parts: ForwardingParts) {
    this.#parts = parts
  }

  isForwarded({ headers }: RequestHead): boolean {
    return headers[tokenHeader] !== undefined && sameToken(headers[tokenHeader], this.#parts.peers.token)
  }

  /** Reads, polls included, are answered here. */
  takes(head: RequestHead): boolean {
    const reads = head.method === 'GET' || head.method === 'HEAD' || head.method === 'OPTIONS'
    return !reads && !this.#parts.leads() && !this.isForwarded(head)
  }

  admit(head: RequestHead, response: Response): boolean {
    if (!this.isForwarded(head)) return true
    if (!this.#parts.leads()) {
      this.#refuse(head, response, 'This daemon does not lead its cluster.', [notLeadingHeader, '1', ...tryAgain])
      return false
    }
    const writeHead = response.writeHead.bind(response)
    response.writeHead = (status, headers) =>
      writeHead(status, [...headers, positionHeader, String(this.#parts.committed())])
    return true
  }

  forward(head: RequestHead, body: Body, response: Response): void {
    this.#forward(head, body, response).catch(error =>
      this.#refuse(head, response, `The leader of the cluster could not be asked: ${error.message}`),
    )
  }

  async #forward(head: RequestHead, body: Body, response: Response): Promise<void> {
    const end = performance.now() + patience
    // A body that is still arriving can be sent once only.
    const repeatable = body === undefined || Buffer.isBuffer(body)
    for (;;) {
      const url = await this.#parts.leader()
      if (url === undefined) return this.#refuse(head, response, noLeader)
      const answer = await this.#ask(url, head, body).catch((error: Error & { code?: string }) => error)
      const nothingDone = answer instanceof Error ? neverSent.has(codeOf(answer)) : answer.notLeading
      if (nothingDone && repeatable && performance.now() < end) await sleep(100)
      else if (nothingDone) return this.#refuse(head, response, noLeader)
      else if (answer instanceof Error) return this.#refuse(head, response, noAnswer, [])
      else return this.#pass(head, response, answer)
    }
  }

  async #ask(url: string, head: RequestHead, body: Body): Promise<Answer> {
    // A leader that was paused keeps its connections; another one leads meanwhile.
    const deposed = new AbortController()
    const look = setInterval(() => {
      const now = this.#parts.leaderNow()
      if (now !== undefined && now !== url) deposed.abort(new Error('another daemon leads the cluster'))
    }, 250)
    try {
      return await this.#request(url, head, body, deposed.signal)
    } finally {
      clearInterval(look)
    }
  }

  async #request(url: string, head: RequestHead, body: Body, signal: AbortSignal): Promise<Answer> {
    const { method, url: path, headers, socket } = head
    const { peers, trustProxy } = this.#parts
    const response = await request(`${url}${path}`, {
      signal,
      method: method as 'POST',
      headers: {
        ...endToEnd(headers),
        [tokenHeader]: peers.token,
        'x-forwarded-for': addressOf(headers, socket, trustProxy),
      },
      ...(body !== undefined && { body }),
      dispatcher: peers.agent,
      headersTimeout: answerTime,
      bodyTimeout: answerTime,
    })
    return {
      status: response.statusCode,
      headers: response.headers,
      notLeading: response.headers[notLeadingHeader] !== undefined,
      body: Buffer.from(await response.body.arrayBuffer()),
    }
  }

  async #pass(head: RequestHead, response: Response, { status, headers, body }: Answer): Promise<void> {
    const position = Number(headers[positionHeader] ?? 0)
    const isThere = await this.#parts.reach(position)
    if (!isThere && status < 400) return this.#refuse(head, response, fallenBehind, [])
    if (response.headersSent || response.destroyed) return
    const flat: string[] = []
    for (const [name, value] of Object.entries(endToEnd(headers)))
      if (name !== positionHeader && name !== 'date') flat.push(name, String(value))
    response.writeHead(status, flat)
    response.end(body)
  }

  #refuse({ method }: RequestHead, response: Response, msg: string, headers: readonly string[] = tryAgain): void {
    const to = answeringOf({ method: method!, id: this.#parts.newId() }, response)
    to.headers.push(...headers)
    refuse(to, new Refusal(msg, { code: 'SERVER_NOT_READY', status: 503 }))
  }
}

interface Answer {
  readonly status: number
  readonly headers: Record<string, string | string[] | undefined>
  readonly notLeading: boolean
  readonly body: Buffer
}

/** Left out where a change may have been saved: to repeat it could make it twice. */
const tryAgain = ['Retry-After', '1']

const noLeader = 'No daemon leads this cluster at the moment. Try again in a few seconds.'
const noAnswer =
  'The leader of the cluster stopped before it answered, so your change may or may not have been saved. Check before you repeat it.'
const fallenBehind =
  'Your change was saved, but this daemon has not received it yet. Do not repeat it. To see it, wait a few seconds or ask another daemon of the cluster.'

/** The connection was never made. */
export const neverSent = new Set([
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ENOTFOUND',
  'EAI_AGAIN',
  'UND_ERR_CONNECT_TIMEOUT',
])

export function codeOf(error: Error & { code?: string }): string {
  const first: { code?: string } = error instanceof AggregateError ? error.errors[0] : error
  return first.code ?? ''
}

const ofConnection = new Set([
  'connection',
  'keep-alive',
  'transfer-encoding',
  'upgrade',
  'host',
  'expect',
  'te',
  'trailer',
])

/** Without the headers that belong to one connection. */
function endToEnd(headers: Readonly<Record<string, string | readonly string[] | undefined>>): Record<string, string> {
  const kept: Record<string, string> = {}
  for (const [name, value] of Object.entries(headers))
    if (value !== undefined && !ofConnection.has(name)) kept[name] = String(value)
  return kept
}
