// Calls to the other daemons of the cluster, and the token that they know each other by: it follows from the secret.

import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Readable } from 'node:stream'
import { Agent, request } from 'undici'

export const tokenHeader = 'natter-cluster'

export function clusterToken(secret: string): string {
  return createHmac('sha256', secret).update('natter-cluster').digest('hex')
}

export function sameToken(given: unknown, wanted: string): boolean {
  if (typeof given !== 'string' || given.length !== wanted.length) return false
  return timingSafeEqual(Buffer.from(given), Buffer.from(wanted))
}

/** Milliseconds. */
const usualDeadline = 5000

export class Peers {
  readonly agent = new Agent({ connections: 64, connect: { timeout: 1500 }, keepAliveTimeout: 30_000 })
  readonly token: string

  constructor(token: string) {
    this.token = token
  }

  /** Throws when the daemon does not answer in time, or not with 200. */
  async post(url: string, path: string, body: object, deadlineMs = usualDeadline): Promise<any> {
    const response = await this.#request('POST', url, path, JSON.stringify(body), deadlineMs)
    return JSON.parse(await readText(response.body, deadlineMs))
  }

  async get(url: string, path: string, deadlineMs = usualDeadline): Promise<any> {
    const response = await this.#request('GET', url, path, undefined, deadlineMs)
    return JSON.parse(await readText(response.body, deadlineMs))
  }

  /** The body as it arrives; it must be read to its end. Undefined when that daemon does not have it. */
  async download(url: string, path: string): Promise<Readable | undefined> {
    const response = await request(`${url}/cluster/v1${path}`, {
      headers: { [tokenHeader]: this.token },
      dispatcher: this.agent,
      headersTimeout: usualDeadline,
      bodyTimeout: usualDeadline,
    })
    if (response.statusCode === 200) return response.body
    await response.body.dump()
    if (response.statusCode === 404) return undefined
    throw new Error(`${url} answered with status ${response.statusCode}`)
  }

  close(): Promise<void> {
    return this.agent.destroy()
  }

  async #request(method: 'GET' | 'POST', url: string, path: string, body: string | undefined, deadlineMs: number) {
    const response = await request(`${url}/cluster/v1${path}`, {
      method,
      headers: { [tokenHeader]: this.token, ...(body !== undefined && { 'content-type': 'application/json' }) },
      ...(body !== undefined && { body }),
      dispatcher: this.agent,
      headersTimeout: deadlineMs,
      bodyTimeout: deadlineMs,
    })
    if (response.statusCode === 200) return response
    throw new Error(`${url} answered with status ${response.statusCode}: ${await response.body.text()}`)
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
