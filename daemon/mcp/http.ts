// The Model Context Protocol over HTTP, for one world. Requests of 2026 carry all they need; clients of 2025 open a session, which belongs to the
// account that opened it, as long as that keeps its address and API key.

import {
  createMcpHandler,
  isInitializeRequest,
  isLegacyRequest,
  WebStandardStreamableHTTPServerTransport,
} from '@modelcontextprotocol/server'
import type { Chat } from './chat.ts'
import { createServer } from './server.ts'
import type { Toolset } from './tool.ts'

/** Who calls, and what they may use. */
interface McpCaller {
  /** Address and API key. */
  readonly credentials: string
  /** Of a bot, the account of its owner; otherwise the account itself. */
  readonly ownerId: number
  readonly chat: Chat
  readonly toolsets: readonly Toolset[]
}

interface Session {
  /** Those that opened it: its tools call with them. */
  readonly credentials: string
  readonly ownerId: number
  readonly transport: WebStandardStreamableHTTPServerTransport
  used: number
}

/** Sessions of one account with its bots, and of all: more would let accounts keep memory for as long as they like. */
const mostOfOwner = 20
const mostSessions = 1000
/** Milliseconds without a request. */
const longestIdle = 30 * 60_000
const gone =
  `There is no such session: it was unused for ${longestIdle / 60_000} minutes, your account and its bots have opened ${mostOfOwner} others since, ` +
  'your address or API key was changed, the daemon has been started again, or another daemon of its cluster has the session. ' +
  'Initialize a new one.'
/** Bytes of one request. */
const largestRequest = 1024 * 1024

export class McpEndpoint {
  readonly #sessions = new Map<string, Session>()

  async answer(request: Request, caller: McpCaller): Promise<Response> {
    // Tools answer in the response to a call, and there are no other notices: a stream for those would hold a connection for nothing.
    if (request.method === 'GET')
      return refusal(405, 'There is no stream of notices. Send each request by POST.', allow)
    if (await isLegacyRequest(request, undefined, { maxRequestBodySize: largestRequest }))
      return this.#answerSession(request, caller)
    const options = { legacy: 'reject', maxRequestBodySize: largestRequest } as const
    return createMcpHandler(() => createServer(caller), options).fetch(request)
  }

  async #answerSession(request: Request, caller: McpCaller): Promise<Response> {
    this.#endIdle()
    const id = request.headers.get('mcp-session-id')
    if (id !== null) {
      const session = this.#sessions.get(id)
      // Another account learns no more of a session than that it is not theirs.
      if (session?.credentials !== caller.credentials) return refusal(404, gone)
      session.used = Date.now()
      return session.transport.handleRequest(request)
    }
    if (request.method !== 'POST')
      return refusal(400, 'Send the header Mcp-Session-Id, or initialize a session by POST.')
    const body = await request
      .clone()
      .json()
      .catch(() => undefined)
    // A client without a session gets an answer all the same: nothing that tools do needs one.
    const transport = isInitializeRequest(body)
      ? this.#open(caller)
      : new WebStandardStreamableHTTPServerTransport({ enableJsonResponse: true })
    await (await createServer(caller)).connect(transport)
    return transport.handleRequest(request)
  }

  #open({ credentials, ownerId }: McpCaller): WebStandardStreamableHTTPServerTransport {
    const own = [...this.#sessions].filter(([, session]) => session.ownerId === ownerId)
    if (own.length >= mostOfOwner) this.#endOldest(own)
    else if (this.#sessions.size >= mostSessions) this.#endOldest([...this.#sessions])
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => crypto.randomUUID(),
      onsessioninitialized: id => {
        this.#sessions.set(id, { credentials, ownerId, transport, used: Date.now() })
      },
      onsessionclosed: id => {
        this.#sessions.delete(id)
      },
    })
    return transport
  }

  #endIdle(): void {
    const now = Date.now()
    for (const [id, { used }] of this.#sessions) if (now - used > longestIdle) this.#end(id)
  }

  #endOldest(among: [string, Session][]): void {
    const [oldest] = among.sort(([, a], [, b]) => a.used - b.used)
    if (oldest) this.#end(oldest[0])
  }

  #end(id: string): void {
    const session = this.#sessions.get(id)
    this.#sessions.delete(id)
    session?.transport.close().catch(() => {})
  }

  close(): void {
    for (const id of [...this.#sessions.keys()]) this.#end(id)
  }
}

const allow = { Allow: 'POST, DELETE' }

function refusal(status: number, message: string, headers: Readonly<Record<string, string>> = {}): Response {
  return Response.json({ jsonrpc: '2.0', error: { code: -32000, message }, id: null }, { status, headers })
}
