// Passes one request on to the server and its answer back, byte by byte, and keeps a bounded copy of both. Nothing is followed: a redirect is
// an answer like any other, so no key goes to another place.

import {
  Agent,
  type IncomingHttpHeaders,
  type IncomingMessage,
  request as requestHttp,
  type ServerResponse,
} from 'node:http'
import { request as requestHttps, Agent as SecureAgent } from 'node:https'
import { belowSite } from '../../../../daemon/api/address.ts'
import { GatheredBytes } from '../../../../daemon/local/gathered-bytes.ts'
import { refuseUpgrade } from '../../../../daemon/local/refuse-upgrade.ts'

/** One call with its answer, as far as it is kept. */
export interface Exchange {
  /** Counts calls as they arrive. */
  readonly number: number
  readonly time: number
  readonly milliseconds: number
  readonly method: string
  readonly url: string
  readonly headers: IncomingHttpHeaders
  /** undefined if it was too long to keep. */
  readonly body: Buffer | undefined
  /** null if no whole answer came. */
  readonly status: number | null
  readonly answerHeaders: IncomingHttpHeaders
  readonly answer: Buffer | undefined
}

/** Bytes of a body. */
const mostSent = 1024 * 1024
/** Bytes of an answer. */
const mostAnswered = 32 * 1024 * 1024
/** Milliseconds without a byte: longer than any poll. */
const longestSilence = 10 * 60_000

/** Headers of one connection, not of the call. */
const ofConnection = new Set([
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

export class Forwarder {
  readonly #site: string
  readonly #onCall: (exchange: Exchange) => void
  readonly #agent: Agent
  /** Ends a call that was not answered yet. */
  readonly #cuts = new Set<() => void>()
  #arrived = 0

  constructor(site: string, onCall: (exchange: Exchange) => void) {
    this.#site = site
    this.#onCall = onCall
    this.#agent = site.startsWith('https:') ? new SecureAgent({ keepAlive: true }) : new Agent({ keepAlive: true })
  }

  /** Ends calls that were not answered yet, and refuses new ones. */
  stop(): void {
    for (const cut of this.#cuts) cut()
    this.#agent.destroy()
  }

  forward(incoming: IncomingMessage, response: ServerResponse): void {
    const { method = 'GET', url = '/', headers } = incoming
    const number = ++this.#arrived
    const began = performance.now()
    const time = Date.now()
    const sent = new Kept(mostSent)
    const finish = (status: number | null, answerHeaders: IncomingHttpHeaders, answer: Kept | undefined) => {
      this.#cuts.delete(cut)
      const milliseconds = Math.round(performance.now() - began)
      this.#onCall({
        number,
        time,
        milliseconds,
        method,
        url,
        headers,
        body: sent.bytes,
        status,
        answerHeaders,
        answer: answer?.bytes,
      })
    }
    const target = belowSite(this.#site, url)
    if (!target) {
      incoming.resume()
      refuse(response, 400, 'The path cannot be passed on.')
      return
    }
    const open = target.protocol === 'https:' ? requestHttps : requestHttp
    const sentHeaders = passedOn(incoming.rawHeaders, target.host)
    // Without this header, the server would take the body of a GET or a DELETE for the next request.
    if (headers['transfer-encoding'] !== undefined) sentHeaders.push('Transfer-Encoding', 'chunked')
    const outgoing = open(target, { method, agent: this.#agent, headers: sentHeaders })
    let over = false
    const fail = (problem: string) => {
      if (over) return
      over = true
      finish(null, {}, undefined)
      outgoing.destroy()
      incoming.resume()
      // An incomplete answer must not look complete.
      if (response.headersSent) response.destroy()
      else refuse(response, 502, problem)
    }
    const cut = () => fail(`The proxy to ${this.#site} ended.`)
    this.#cuts.add(cut)
    outgoing.setTimeout(longestSilence, () => fail(`${this.#site} did not answer within 10 minutes.`))
    outgoing.on('error', (error: NodeJS.ErrnoException) =>
      fail(`${this.#site} cannot be reached or does not speak HTTP: ${error.code ?? error.message}.`),
    )
    refuseUpgrade(outgoing, () => fail(`${this.#site} changed to another protocol, which cannot be passed on.`))
    // The client closed its connection, so the server need not go on.
    response.on('close', () => {
      if (!response.writableFinished) fail('')
    })
    outgoing.on('response', answer => {
      const { statusCode: status = 0 } = answer
      // node:http does not write those below 100, and after 101 a client would wait.
      if (status < 200) return fail(`${this.#site} answered with a status that is no answer: ${status}.`)
      const kept = new Kept(mostAnswered)
      answer.on('data', (chunk: Buffer) => kept.add(chunk))
      answer.on('aborted', () => fail(''))
      answer.on('error', () => fail(''))
      answer.on('end', () => {
        if (over || !answer.complete) return
        over = true
        finish(status, answer.headers, kept)
      })
      // node:http reads control characters after the status, but does not write them.
      const reason = answer.statusMessage?.replace(/[^ -~]/g, '')
      response.writeHead(status, reason, passedOn(answer.rawHeaders))
      answer.pipe(response)
    })
    incoming.on('data', (chunk: Buffer) => sent.add(chunk))
    incoming.pipe(outgoing)
  }
}

/** The headers as they arrived, in their order, with the host of the server. */
function passedOn(raw: readonly string[], host?: string): string[] {
  const named = new Set([...ofConnection, ...connectionTokens(raw)])
  const passed = host === undefined ? [] : ['Host', host]
  for (let i = 0; i < raw.length; i += 2) {
    const name = raw[i]!.toLowerCase()
    if (!named.has(name) && !(host !== undefined && name === 'host')) passed.push(raw[i]!, raw[i + 1]!)
  }
  return passed
}

/** `Connection: x` makes x a header of the connection, but the length belongs to the body. */
function connectionTokens(raw: readonly string[]): string[] {
  const at = raw.findIndex((name, index) => index % 2 === 0 && name.toLowerCase() === 'connection')
  const tokens = at === -1 ? [] : raw[at + 1]!.split(',').map(token => token.trim().toLowerCase())
  return tokens.filter(token => token !== 'content-length')
}

function refuse(response: ServerResponse, status: number, msg: string): void {
  const body = JSON.stringify({ result: 'error', msg, code: 'BAD_REQUEST' })
  response.writeHead(status, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(body) })
  response.end(body)
}

/** Keeps what arrives, up to a bound; nothing if there is more. */
class Kept {
  readonly #most: number
  #kept: GatheredBytes | undefined = new GatheredBytes()

  constructor(most: number) {
    this.#most = most
  }

  add(chunk: Buffer): void {
    if (this.#kept && this.#kept.size + chunk.length <= this.#most) this.#kept.add(chunk)
    else this.#kept = undefined
  }

  get bytes(): Buffer | undefined {
    return this.#kept?.buffer()
  }
}
