// A server of the family over HTTP, as tools call it.

import { addressOf } from '../api/address.ts'
import { type ClientOptions, fieldsOf, NatterError, type Reply, readText, Sender } from '../client/sender.ts'
import type { Chat, Request } from './chat.ts'

export interface ChatOptions extends ClientOptions {
  readonly controlToken?: string
  /** Throws if a limit of the profile forbids the call. */
  readonly check?: (request: Request) => Promise<void>
}

export function chatOver(options: ChatOptions): Chat {
  // A tool says that the server is busy; the model decides whether to wait.
  const sender = new Sender({ retries: 0, ...options })
  const { site, controlToken, check } = options
  return {
    site: site.split(',', 1)[0]!,
    async call(request) {
      await check?.(request)
      const { method, path, params = {}, signal } = request
      return reaching(site, signal, () => sender.send(method, path, fieldsOf(params), signal))
    },
    ...(controlToken !== undefined && {
      control: (request: Request) => reaching(site, request.signal, () => callControl(options, controlToken, request)),
    }),
  }
}

/** What fetch throws does not say where the call went. */
async function reaching(site: string, signal: AbortSignal | undefined, call: () => Promise<Reply>): Promise<Reply> {
  try {
    return await call()
  } catch (error) {
    if (error instanceof NatterError || signal?.aborted) throw error
    const { message, cause } = error as Error & { cause?: { code?: string } }
    throw new NatterError(0, { msg: `${site}: ${cause?.code ?? message}`, code: 'UNREACHABLE' }, 'unavailable')
  }
}

async function callControl(options: ChatOptions, token: string, request: Request): Promise<Reply> {
  const { site, fetch: chosen = fetch } = options
  const { method, path, params, signal } = request
  const response = await chosen(addressOf(site.split(',', 1)[0]!, `/control/v1${path}`), {
    method,
    headers: { Authorization: `Bearer ${token}`, ...(params && { 'Content-Type': 'application/json' }) },
    redirect: 'manual',
    ...(params && { body: JSON.stringify(params) }),
    ...(signal && { signal }),
  })
  const reply = JSON.parse(await readText(response)) as Reply
  if (!response.ok) throw new NatterError(response.status, reply)
  return reply
}
