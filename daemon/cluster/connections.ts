// Calls by node:http and node:https to etcd and to other daemons, over connections that are kept. (undici does the same, and takes a
// sixth of a second of processor time to load.)

import { Agent as HttpAgent, request as httpRequest, type IncomingMessage, type OutgoingHttpHeaders } from 'node:http'
import { Agent as HttpsAgent, request as httpsRequest } from 'node:https'
import { pipeline, type Readable } from 'node:stream'
import { refuseUpgrade } from '../local/refuse-upgrade.ts'

export interface ConnectionOptions {
  /** Connections to one address at a time. */
  readonly most: number
  /** Milliseconds to connect. */
  readonly connectMs: number
  /** PEM. */
  readonly ca?: Buffer
  readonly cert?: Buffer
  readonly key?: Buffer
}

export interface Call {
  readonly method: string
  /** In place of that of the URL. Sent as it is, so that no part of it can be read as something else. */
  readonly path?: string
  readonly headers: OutgoingHttpHeaders
  readonly body?: string | Buffer | Readable | undefined
  /** Ends the call at any time, also in the middle of the answer, with its reason. */
  readonly signal?: AbortSignal
  /** Milliseconds after which a connection that brings nothing is closed; without it, never. */
  readonly silenceMs?: number
}

/** The code of the error when no connection was made in time: nothing was sent. */
export const connectTimeout = 'ERR_CONNECT_TIMEOUT'

/** Milliseconds that a connection is kept without a call. */
const keptMs = 30_000
const keepAliveMs = 60_000
const closedMessage = 'the connections are closed'

export class Connections {
  readonly #connectMs: number
  readonly #http: HttpAgent
  readonly #https: HttpsAgent
  /** How to end each call that is under way. */
  readonly #calls = new Set<(error: Error) => void>()
  #closed = false

  constructor({ most, connectMs, ...certificates }: ConnectionOptions) {
    this.#connectMs = connectMs
    const options = { keepAlive: true, maxSockets: most, timeout: keptMs }
    this.#http = new HttpAgent(options)
    this.#https = new HttpsAgent({ ...options, ...certificates })
  }

  /** The head of the answer; its body must be read to the end, or be destroyed. */
  send(url: URL, { body, signal, silenceMs, ...head }: Call): Promise<IncomingMessage> {
    const isTls = url.protocol === 'https:'
    const [request, agent] = isTls ? [httpsRequest, this.#https] : [httpRequest, this.#http]
    return new Promise((resolve, reject) => {
      if (this.#closed) return reject(new Error(closedMessage))
      if (signal?.aborted) return reject(signal.reason)
      let answer: IncomingMessage | undefined
      const outgoing = request(url, { ...head, agent, ...(silenceMs && { timeout: silenceMs }) }, response => {
        answer = response
        resolve(response)
      })
      const end = (error: Error) => (answer ?? outgoing).destroy(error)
      const stop = () => end(signal!.reason)
      this.#calls.add(end)
      signal?.addEventListener('abort', stop)
      outgoing.once('close', () => {
        this.#calls.delete(end)
        signal?.removeEventListener('abort', stop)
      })
      outgoing.on('error', reject)
      refuseUpgrade(outgoing, reject)
      if (silenceMs) outgoing.once('timeout', () => end(new Error('no answer in time')))
      outgoing.once('socket', socket => {
        if (!socket.connecting) return
        socket.setKeepAlive(true, keepAliveMs)
        const late = Object.assign(new Error('no connection in time'), { code: connectTimeout })
        const timer = setTimeout(() => end(late), this.#connectMs)
        for (const event of [isTls ? 'secureConnect' : 'connect', 'close'])
          socket.once(event, () => clearTimeout(timer))
      })
      if (typeof body === 'object' && !Buffer.isBuffer(body)) pipeline(body, outgoing, () => {})
      else outgoing.end(body)
    })
  }

  /** Ends all calls. */
  close(): void {
    this.#closed = true
    for (const end of this.#calls) end(new Error(closedMessage))
    this.#http.destroy()
    this.#https.destroy()
  }
}
