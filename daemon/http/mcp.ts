// The route /mcp: tools for agents over the Model Context Protocol, as the account whose API key is the bearer token. The protocol is loaded with the
// first such request.

import type { FastifyReply, FastifyRequest } from 'fastify'
import { malformed } from '../domain/refusal.ts'
import { tooDeep } from '../local/nesting.ts'
import type { McpEndpoint } from '../mcp/http.ts'
import type { Toolset } from '../mcp/tool.ts'
import { Hold, perCall } from './held-bytes.ts'
import { innerFetch } from './inner-fetch.ts'
import type { McpAccount, Site } from './site.ts'

/** One for each world: sessions belong to it. */
const endpoints = new WeakMap<Site, Promise<McpEndpoint>>()

export async function serveMcp(site: Site, request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
  const account = site.mcpAccount(request)
  const left = new AbortController()
  const hold = new Hold(site.heldBy(account.ownerId))
  whenGone(request, reply, () => {
    hold.end()
    left.abort()
  })
  hold.set(perCall + ((request.body as Buffer | undefined)?.length ?? 0))
  const text = Buffer.isBuffer(request.body) ? request.body.toString() : ''
  if (tooDeep(text)) throw malformed('The body is nested too deeply.', { code: 'INVALID_JSON' })
  // The calls of a batch would all be made in one turn. Since 2025-06-18 the protocol has no batches.
  if (/^\s*\[/.test(text)) throw malformed('The body is a batch. Send each message in a request of its own.')
  const toolsets = toolsetsIn((request.query as { toolsets?: string | string[] }).toolsets)
  const endpoint = await loadEndpoint(site)
  const { chatOver } = await import('../mcp/index.ts')
  const response = await endpoint.answer(webRequest(site, request, left.signal), {
    credentials: `${account.email}:${account.apiKey}`,
    ownerId: account.ownerId,
    chat: chatOver(buildOptions(site, account)),
    toolsets,
  })
  return reply.send(response)
}

/** The answer has been sent, or the client has left. node:http does not say so of a response that waits for another one of its connection. */
function whenGone({ raw: { socket } }: FastifyRequest, { raw }: FastifyReply, end: () => void): void {
  socket.once('close', end)
  raw.once('close', () => {
    socket.off('close', end)
    end()
  })
}

function loadEndpoint(site: Site): Promise<McpEndpoint> {
  let endpoint = endpoints.get(site)
  if (!endpoint) {
    endpoint = import('../mcp/index.ts').then(({ McpEndpoint }) => new McpEndpoint())
    endpoints.set(site, endpoint)
  }
  return endpoint
}

function buildOptions(site: Site, { email, apiKey, ip }: McpAccount) {
  return { site: site.url, email, apiKey, client: 'natter-mcp', fetch: innerFetch(site, ip) }
}

function toolsetsIn(given: string | string[] = 'read'): Toolset[] {
  const offered: readonly string[] = ['read', 'write', 'api']
  const names = [given].flat().flatMap(text => text.split(','))
  const unknown = names.find(name => !offered.includes(name))
  if (unknown !== undefined)
    throw malformed(`The query parameter toolsets takes ${offered.join(', ')}; separate several with commas.`)
  return names as Toolset[]
}

function webRequest(site: Site, { method, headers, body, url }: FastifyRequest, signal: AbortSignal): Request {
  const texts = Object.entries(headers).flatMap(([name, value]) =>
    value === undefined ? [] : [[name, String(value)] as [string, string]],
  )
  const sent = Buffer.isBuffer(body) ? { body: new Uint8Array(body) } : {}
  return new Request(new URL(url, site.url), { method, headers: texts, signal, ...sent })
}
