// Calls to the other daemons of the cluster, at addresses that etcd names. Two tokens follow from the secret: one for the
// daemons' own calls, and one for calls of clients that a daemon sends on. Neither is accepted in place of the other.

import { createHmac } from 'node:crypto'
import type { Readable } from 'node:stream'
import { Agent, type Dispatcher } from 'undici'
import type { ForwardedCall } from '../http/exchange.ts'
import { sameSecret } from '../io/keys.ts'

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

/** The headers of a client that the API reads. No others are sent on. */
const passedOn = ['authorization', 'content-type', 'user-agent', 'idempotency-key'] as const

const connect = { timeout: 1500 }

export class Peers {
  readonly token: string
  readonly forwardedToken: string
  readonly #agent = new Agent({ connections: 64, connect, keepAliveTimeout: 30_000 })
  /** Calls of clients have connections of their own, so that they cannot hold up those of the daemons. */
  readonly #forwarding = new Agent({ connections: 256, connect, keepAliveTimeout: 30_000 })

  constructor(secret: string) {
    this.token = clusterToken(secret)
    this.forwardedToken = forwardedToken(secret)
  }

  /** Throws when the daemon does not answer in time; PeerRefused when it answers with another status than 200. */
  async post(url: string, path: string, body: object, deadlineMs = usualDeadline): Promise<any> {
    const response = await this.#request('POST', url, path, JSON.stringify(body), deadlineMs)
    return JSON.parse(await readText(response.body, deadlineMs))
  }

  /** The body as it arrives; it must be read to its end. Undefined when that daemon does not have it. */
  async download(url: string, path: string): Promise<Readable | undefined> {
    const response = await this.#agent.request({
      ...this.#target(url, path),
      method: 'GET',
      headersTimeout: usualDeadline,
      bodyTimeout: usualDeadline,
    })
    if (response.statusCode === 200) return response.body
    await response.body.dump()
    if (response.statusCode === 404) return undefined
    throw new PeerRefused(url, response.statusCode)
  }

  /** Sends a call of a client on. The signal is its only deadline, from the request to the last byte of the answer. */
  forward(
    url: string,
    { method, path, headers, ip, body }: ForwardedCall,
    signal: AbortSignal,
  ): Promise<Dispatcher.ResponseData> {
    const passed: Record<string, string> = { [forwardedHeader]: this.forwardedToken, 'x-forwarded-for': ip }
    for (const name of passedOn) {
      const value = headers[name]
      if (value !== undefined) passed[name] = String(value)
    }
    if (body) passed['content-length'] = String(body.size)
    return this.#forwarding.request({
      origin: new URL(url).origin,
      path,
      method: method as 'POST',
      headers: passed,
      ...(body && { body: body.open() }),
      signal,
      headersTimeout: 0,
      bodyTimeout: 0,
    })
  }

  async close(): Promise<void> {
    await Promise.all([this.#agent.destroy(), this.#forwarding.destroy()])
  }

  async #request(method: 'GET' | 'POST', url: string, path: string, body: string | undefined, deadlineMs: number) {
    const target = this.#target(url, path)
    const response = await this.#agent.request({
      ...target,
      method,
      headers: { ...target.headers, ...(body !== undefined && { 'content-type': 'application/json' }) },
      ...(body !== undefined && { body }),
      headersTimeout: deadlineMs,
      bodyTimeout: deadlineMs,
    })
    if (response.statusCode === 200) return response
    throw new PeerRefused(url, response.statusCode, await response.body.text())
  }

  /** Origin and path apart, so that no part of the path can be read as another address. */
  #target(url: string, path: string) {
    return { origin: new URL(url).origin, path: `${peersPrefix}${path}`, headers: { [tokenHeader]: this.token } }
  }
}

async function readText(body: { text(): Promise<string> }, deadlineMs: number): Promise<string> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error('no answer in time')), deadlineMs)
  })
  try {
    return await Promise.race([body.text(), late])
  } finally {
    clearTimeout(timer)
  }
}
