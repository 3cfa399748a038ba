// The bundle of this room that the command line loads.

import { serveStdio } from '@modelcontextprotocol/server/stdio'
import { createServer, type McpOptions } from './server.ts'

export { McpEndpoint } from './http.ts'
export { chatOver } from './sender-chat.ts'
export { loadTools } from './server.ts'

/** Serves one client on stdin and stdout until it closes them. */
export function serveOnStdio(options: McpOptions, onError: (error: Error) => void): { close(): Promise<void> } {
  return serveStdio(() => createServer(options), { onerror: onError })
}
