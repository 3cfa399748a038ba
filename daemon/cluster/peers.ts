// Calls to the other daemons of the cluster, at addresses that etcd names. Two tokens follow from the secret: one for the
// daemons' own calls, and one for calls of clients that a daemon sends on. Neither is accepted in place of the other.

import { createHmac } from 'node:crypto'
import type { IncomingMessage } from 'node:http'
import type { Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import type { ForwardedCall } from '../http/exchange.ts'
import { apiHeaders } from '../http/to-leader.ts'
import { sameSecret } from '../io/keys.ts'
import { Connections } from './connections.ts'

export const peersPrefix = '/cluster/v1'
/** With a call of one daemon to another. */
export const tokenHeader = 'natter-cluster'
/** With a call of a client that one daemon sends on to another. */
export const forwardedHeader = 'natter-forwarded'

export function clusterToken(secret: string): string {
  return createHmac('sha256', secret).update('natter-cluster').digest('hex')
}

export function forwardedToken(secret: string): string {
  return createHmac('sha256', secret).update('natter-forwarded').digest('hex')
}

export function sameToken(given: unknown, wanted: string): boolean {
  return typeof given === 'string' && sameSecret(given, wanted)
}

/** Another daemon answered with an error. */
export class PeerRefused extends Error {
  readonly status: number

  constructor(url: string, status: number, body = '') {
    super(`${url} answered with status ${status}${body && `: ${body}`}`)
    this.name = 'PeerRefused'
    this.status = status
  }
}

/** Milliseconds. */
const usualDeadline = 5000

const connectMs = 1500

export class Peers {
  readonly token: string
  readonly forwardedToken: string
  readonly #own = new Connections({ most: 64, connectMs })
  /** Calls of clients, and files that they read, have connections of their own, so that they cannot hold up those of the daemons. */
  readonly #forwarding = new Connections({ most: 256, connectMs })
  readonly #downloads = new Connections({ most: 64, connectMs })

  constructor(secret: string) {
    this.token = clusterToken(secret)
    this.forwardedToken = forwardedToken(secret)
  }

  /** Throws when the daemon does not answer in time; PeerRefused when it answers with another status than 200. */
  async post(
    url: string,
    path: string,
    body: object,
    deadlineMs = usualDeadline,
    ended: AbortSignal[] = [],
  ): Promise<any> {
    const response = await this.#own.send(new URL(url), {
      method: 'POST',
      path: `${peersPrefix}${path}`,
      headers: { [tokenHeader]: this.token, 'content-type': 'application/json' },
      body: JSON.stringify(body),
      signal: AbortSignal.any([AbortSignal.timeout(deadlineMs), ...ended]),
    })
    const answer = await text(response)
    if (response.statusCode !== 200) throw new PeerRefused(url, response.statusCode!, answer)
    return JSON.parse(answer)
  }

  /** The body as it arrives; it must be read to its end. Undefined when that daemon does not have it. */
  async download(url: string, path: string): Promise<Readable | undefined> {
    const response = await this.#downloads.send(new URL(url), {
      method: 'GET',
      path: `${peersPrefix}${path}`,
      headers: { [tokenHeader]: this.token },
      silenceMs: usualDeadline,
    })
    if (response.statusCode === 200) return response
    response.resume()
    if (response.statusCode === 404) return undefined
    throw new PeerRefused(url, response.statusCode!)
  }

  /** Sends a call of a client on. The signal is its only deadline, from the request to the last byte of the answer. */
  forward(
    url: string,
    { method, path, headers, ip, body }: ForwardedCall,
    signal: AbortSignal,
  ): Promise<IncomingMessage> {
    const passed: Record<string, string> = { [forwardedHeader]: this.forwardedToken, 'x-forwarded-for': ip }
    for (const name of apiHeaders) {
      const value = headers[name]
      if (value !== undefined) passed[name] = String(value)
    }
    if (body) passed['content-length'] = String(body.size)
    return this.#forwarding.send(new URL(url), { method, path, headers: passed, body: body?.open(), signal })
  }

  close(): void {
    for (const connections of [this.#own, this.#forwarding, this.#downloads]) connections.close()
  }
}
