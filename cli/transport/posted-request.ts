// The request to an incoming webhook as another service makes it: the payload is the body, everything else is in the address.

import type { Upload } from '../../daemon/api/define.ts'
import type { Request } from './client.ts'

export function postedRequest(path: string, fields: ReadonlyMap<string, string | Upload>): Request {
  const query = new URLSearchParams()
  for (const [name, value] of fields) if (name !== 'payload') query.set(name, String(value))
  const payload = String(fields.get('payload') ?? '')
  const type = /^\s*[{[]/.test(payload) ? 'application/json' : 'text/plain'
  return {
    method: 'POST',
    path: `${path}?${query}`,
    fields: new Map(),
    ...(payload !== '' && { body: { type, bytes: Buffer.from(payload) } }),
  }
}
