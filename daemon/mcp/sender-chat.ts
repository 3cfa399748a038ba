// A server of the family over HTTP, as tools call it.

import { resolveAddress } from '../api/address.ts'
import { Calls } from '../client/calls.ts'
import { type ClientOptions, encodeFields, NatterError, type Reply, readText } from '../client/sender.ts'
import type { Chat, Request } from './chat.ts'

interface ChatOptions extends ClientOptions {
  readonly controlToken?: string
}

export function chatOver(options: ChatOptions): Chat {
  // A tool says that the server is busy; the model decides whether to wait.
  const calls = new Calls({ retries: 0, ...options })
  const { site, controlToken } = options
  return {
    site: site.split(',', 1)[0]!,
    call: ({ method, path, params = {}, signal }) => calls.send(method, path, encodeFields(params), { signal }),
    ...(controlToken !== undefined && {
      control: (request: Request) => callControl(options, controlToken, request),
    }),
  }
}

async function callControl(options: ChatOptions, token: string, request: Request): Promise<Reply> {
  const { site, fetch: chosen = fetch } = options
  const { method, path, params, signal } = request
  const response = await chosen(resolveAddress(site.split(',', 1)[0]!, `/control/v1${path}`), {
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
