// The impact of an endpoint: whether a call changes nothing, something, or something that cannot be brought back.

import type { Endpoint } from './define.ts'

export type Impact = 'read' | 'write' | 'destroy'

export function impactOf({ method, cli, served, reads }: Endpoint): Impact {
  if (method === 'GET' || served === 'queues' || reads) return 'read'
  return method === 'DELETE' || cli.destroys !== undefined ? 'destroy' : 'write'
}
