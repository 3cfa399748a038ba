// One call of an endpoint: parameters travel as the catalogue says, and a call without an answer fails like a refused one.

import type { Endpoint } from '../api/define.ts'
import { encode } from '../api/wire.ts'
import { type ClientOptions, NatterError, type Reply, Sender, type SendOptions } from './sender.ts'

export class Calls extends Sender {
  readonly #site: string

  constructor(options: ClientOptions, ending?: AbortSignal) {
    super(options, ending)
    this.#site = options.site
  }

  async endpoint(endpoint: Endpoint, params: Readonly<Record<string, unknown>>, options: SendOptions): Promise<Reply> {
    const { path, fields } = encode(endpoint, params)
    return this.send(endpoint.method, path, fields, options)
  }

  /** Names the call and the site in the error, which that of fetch does not. */
  override async send(...call: Parameters<Sender['send']>): Promise<Reply> {
    const [method, path, , { signal, caller } = {}] = call
    try {
      return await super.send(...call)
    } catch (error) {
      if (error instanceof NatterError || signal?.aborted) throw error
      const msg = `cannot reach ${this.#site}: ${reasonOf(error)}`
      throw new NatterError(0, { msg, code: 'UNREACHABLE' }, 'unavailable', `${method} ${path}`, caller)
    }
  }
}

/** `ECONNREFUSED` says more than "fetch failed"; undici's own code for a connection that the server closed says less. */
function reasonOf(error: unknown): string {
  const { message, cause } = error as Error & { cause?: { code?: string; message?: string } }
  if (cause?.code === 'UND_ERR_SOCKET') return 'the connection ended before the answer was complete'
  return cause?.code ?? cause?.message ?? message
}
