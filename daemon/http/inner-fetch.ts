// Calls of a world's API from inside its process, in the form of fetch: checked, limited, watched and logged like any other call.

import type { Response as Answer } from './exchange.ts'
import type { Site } from './site.ts'

/** `remoteAddress` is that of the client on whose behalf the calls are made. */
export function innerFetch(site: Site, remoteAddress: string | undefined): typeof fetch {
  // A site reads paths without the one that it is mounted at, such as /spaces/NAME.
  const mounted = new URL(site.url).pathname.replace(/\/$/, '').length
  return async (input, init = {}) => {
    const { pathname, search } = new URL(String(input))
    const body = init.body === undefined || init.body === null ? undefined : Buffer.from(String(init.body))
    const headers: Record<string, string> = {}
    for (const [name, value] of new Headers(init.headers)) headers[name] = value
    if (body) headers['content-type'] ??= 'application/x-www-form-urlencoded'
    init.signal?.throwIfAborted()
    return new Promise((resolve, reject) => {
      const answer = new InnerAnswer(resolve, reject)
      init.signal?.addEventListener('abort', () => answer.abort(init.signal!.reason), { once: true })
      site.serveWhole(
        {
          method: init.method ?? 'GET',
          url: `${pathname.slice(mounted)}${search}`,
          headers,
          socket: { remoteAddress },
        },
        body,
        answer,
      )
    })
  }
}

/** Gathers the answer of such a call. */
class InnerAnswer implements Answer {
  readonly socket = null
  statusCode = 200
  headersSent = false
  destroyed = false
  readonly #resolve: (response: Response) => void
  readonly #reject: (reason: unknown) => void
  readonly #closing: (() => void)[] = []
  readonly #pieces: Buffer[] = []
  #headers: [string, string][] = []

  constructor(resolve: (response: Response) => void, reject: (reason: unknown) => void) {
    this.#resolve = resolve
    this.#reject = reject
  }

  writeHead(status: number, headers: string[]): void {
    this.statusCode = status
    this.headersSent = true
    for (let i = 0; i < headers.length; i += 2) this.#headers.push([headers[i]!, headers[i + 1]!])
  }

  write(chunk: Uint8Array, sent: () => void): void {
    this.#pieces.push(Buffer.from(chunk))
    sent()
  }

  end(body?: string | Uint8Array): void {
    if (body !== undefined) this.#pieces.push(Buffer.from(body as Uint8Array))
    this.#resolve(new Response(Buffer.concat(this.#pieces), { status: this.statusCode, headers: this.#headers }))
    this.#close()
  }

  once(_event: 'close', listener: () => void): void {
    this.#closing.push(listener)
  }

  destroy(): void {
    this.abort(new Error('the daemon closed the call without an answer'))
  }

  /** Ends the call without an answer. */
  abort(reason: unknown): void {
    this.#reject(reason)
    this.#close()
  }

  #close(): void {
    if (this.destroyed) return
    this.destroyed = true
    for (const listener of this.#closing) listener()
  }
}
