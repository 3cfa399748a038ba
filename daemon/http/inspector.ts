// The inspector at /, which the build made of daemon/inspector.

import type { FastifyReply, FastifyRequest } from 'fastify'
import { serveBuiltFile } from './built-files.ts'

export function serveInspector(request: FastifyRequest, reply: FastifyReply, name: string): Promise<void> {
  return serveBuiltFile(request, reply, 'inspector', name)
}
