// Plain HTTP for tests, by node:http: no client library that would hide what is on the wire.

import { Agent, request } from 'node:http'
import { connect } from 'node:net'
import type { Upload } from '../../daemon/api/define.ts'

export interface HttpReply {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly text: string
  /** Parsed JSON; an empty object when the body is not JSON. */
  readonly body: Readonly<Record<string, any>>
}

export interface HttpOptions {
  readonly method?: string
  readonly auth?: string | undefined
  readonly headers?: Readonly<Record<string, string>>
  readonly query?: string
  readonly body?: string | Buffer
  readonly signal?: AbortSignal
  /** Holds the connections; by default one for all calls of the process. */
  readonly agent?: Agent
}

const sharedAgent = new Agent({ keepAlive: true, maxSockets: 256 })

export function send(url: string, options: HttpOptions = {}): Promise<HttpReply> {
  const { method = 'GET', auth, headers = {}, query, body, signal, agent = sharedAgent } = options
  return new Promise((resolve, reject) => {
    const outgoing = request(
      query ? `${url}?${query}` : url,
      {
        method,
        agent,
        ...(auth !== undefined && { auth }),
        ...(signal && { signal }),
        headers: { ...headers, ...(body !== undefined && { 'Content-Length': Buffer.byteLength(body) }) },
      },
      answer => {
        const chunks: Buffer[] = []
        answer.on('data', chunk => chunks.push(chunk))
        answer.on('error', reject)
        answer.on('end', () => {
          const text = Buffer.concat(chunks).toString()
          resolve({ status: answer.statusCode!, headers: answer.headers, text, body: parsed(text) })
        })
      },
    )
    outgoing.on('error', reject)
    outgoing.end(body)
  })
}

/** How a well-behaved client sends these fields: GET in the query, a file makes it multipart, else urlencoded. */
export function formOf(method: string, fields: ReadonlyMap<string, string | Upload>): HttpOptions {
  const texts = [...fields].filter((field): field is [string, string] => typeof field[1] === 'string')
  if (texts.length < fields.size) return multipart(fields)
  const form = new URLSearchParams(texts).toString()
  if (method === 'GET') return { query: form }
  return { headers: { 'Content-Type': 'application/x-www-form-urlencoded' }, body: form }
}

export function multipart(fields: ReadonlyMap<string, string | Upload>): HttpOptions {
  const boundary = '----natter-test-boundary'
  const parts: Buffer[] = []
  for (const [name, value] of fields) {
    const file = typeof value === 'string' ? '' : `; filename="${value.filename}"\r\nContent-Type: ${value.contentType}`
    parts.push(Buffer.from(`--${boundary}\r\nContent-Disposition: form-data; name="${name}"${file}\r\n\r\n`))
    parts.push(Buffer.from(typeof value === 'string' ? value : value.bytes), Buffer.from('\r\n'))
  }
  parts.push(Buffer.from(`--${boundary}--\r\n`))
  return { headers: { 'Content-Type': `multipart/form-data; boundary=${boundary}` }, body: Buffer.concat(parts) }
}

function parsed(text: string): Record<string, unknown> {
  try {
    return JSON.parse(text)
  } catch {
    return {}
  }
}

/** Bytes to the socket as they are, and what comes back until the server hangs up or falls silent, or until we hang up. */
export function sendBytes(url: string, bytes: string | Buffer, timeout: number | 'hang up' = 60_000): Promise<string> {
  const { hostname, port } = new URL(url)
  return new Promise(resolve => {
    const socket = connect(Number(port), hostname)
    let text = ''
    if (timeout !== 'hang up') socket.setTimeout(timeout, () => socket.destroy())
    socket.on('data', chunk => {
      text += chunk
    })
    // A server that hangs up early is what some tests want to see.
    socket.on('error', () => {})
    socket.on('close', () => resolve(text))
    if (timeout === 'hang up') socket.end(bytes, () => socket.destroy())
    else socket.write(bytes)
  })
}

/** For requests that the end of the daemon cut off; anything else is a failure of the test. */
export function cutOff(error: unknown): undefined {
  const { code, message } = error as NodeJS.ErrnoException
  if (
    ['ECONNREFUSED', 'ECONNRESET', 'EPIPE'].includes(code ?? '') ||
    message === 'socket hang up' ||
    message === 'aborted'
  )
    return undefined
  throw error
}
