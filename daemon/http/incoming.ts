// A request to the API as it comes in: endpoint, fields and caller.

import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { isIP } from 'node:net'
import type { Keys } from '../domain/resource.ts'
import type { RequestHead } from './exchange.ts'

export const prefix = '/api/v1'
export const controlPrefix = '/control/v1'

/** Paths under the prefix that the edge answers. Pictures are not among them: they are answered by a redirect, not by JSON. */
export function isForEdge(url: string): boolean {
  return edgePath.test(url)
}

export const edgePath = new RegExp(`^${prefix}/(?!avatar/)`)

export class Incoming {
  readonly id: string
  readonly method: string
  readonly path: string
  readonly query: string
  readonly headers: Readonly<IncomingHttpHeaders>
  /** Whether another daemon of the cluster has sent it on. That daemon says where it came from. */
  readonly forwarded: boolean
  readonly socket: RequestHead['socket']
  readonly #trustProxy: boolean

  constructor({ method, url = '', headers, socket }: RequestHead, id: string, trustProxy: boolean, forwarded = false) {
    this.id = id
    this.method = method!
    this.headers = headers
    this.socket = socket
    this.#trustProxy = trustProxy || forwarded
    this.forwarded = forwarded
    const mark = url.indexOf('?')
    this.path = mark === -1 ? url : url.slice(0, mark)
    this.query = mark === -1 ? '' : url.slice(mark + 1)
  }

  get ip(): string {
    return findAddress(this.headers, this.socket, this.#trustProxy)
  }
}

/** The client's. Of X-Forwarded-For only the last entry is the proxy's own; the client can send the others. */
export function findAddress(
  { 'x-forwarded-for': forwarded }: Readonly<IncomingHttpHeaders>,
  { remoteAddress = '' }: RequestHead['socket'],
  trustProxy: boolean,
): string {
  if (!trustProxy || forwarded === undefined) return remoteAddress
  const last = String(forwarded).split(',').at(-1)!.trim()
  return isIP(last) ? last : remoteAddress
}

/** Whether the caller may use the control plane. */
export function hasControlToken({ authorization = '' }: IncomingHttpHeaders, keys: Keys): boolean {
  const [scheme, token = ''] = authorization.split(' ', 2)
  return scheme?.toLowerCase() === 'bearer' && keys.sameSecret(token, keys.controlToken)
}

export function hasBody({ headers }: IncomingMessage): boolean {
  const { 'content-length': length, 'transfer-encoding': encoding } = headers
  return encoding !== undefined || (length !== undefined && length !== '0')
}

const multipart = /^\s*multipart\/form-data\s*(?:;|$)/i

export function isMultipart({ 'content-type': type }: Readonly<IncomingHttpHeaders>): boolean {
  return type !== undefined && type !== 'application/x-www-form-urlencoded' && multipart.test(type)
}
