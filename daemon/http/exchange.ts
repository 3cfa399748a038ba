// A request and its answer, as far as the API's edge is concerned: what node:http gives, and what the short way in does.

import type { IncomingHttpHeaders } from 'node:http'
import type { Socket } from 'node:net'

export interface RequestHead {
  readonly method?: string | undefined
  readonly url?: string | undefined
  readonly headers: Readonly<IncomingHttpHeaders>
  readonly socket: { readonly remoteAddress?: string | undefined }
}

export interface Response {
  readonly statusCode: number
  readonly headersSent: boolean
  readonly destroyed: boolean
  readonly socket: Socket | null
  /** Headers are flat: name, value, name, value. */
  writeHead(status: number, headers: string[]): unknown
  write(chunk: Uint8Array, sent: () => void): unknown
  end(body?: string | Uint8Array): unknown
  once(event: 'close', listener: () => void): unknown
  destroy(): unknown
}
