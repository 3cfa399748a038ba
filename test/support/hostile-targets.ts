// Request targets that ask for more than a client may have, and a way to send them as they are: client libraries would mend them.

import { connect } from 'node:net'

/** They lead from the API to the addresses of the daemons, for a reader that normalizes or decodes what another one took as text. */
const escapes = [
  '/api/v1/../../cluster/v1/record',
  '/api/v1/./../../cluster/v1/record',
  '/api/v1/%2e%2e/%2e%2e/cluster/v1/record',
  '/api/v1/.%2E/%2E./cluster/v1/record',
  '/api/v1/..\\..\\cluster\\v1\\record',
  '/api/v1/..%5c..%5Ccluster%5cv1%5crecord',
  '/api/v1/%2e%2e%2f%2e%2e%2fcluster/v1/record',
  '/api/v1/..%2f..%2fcluster%2fv1%2frecord',
  '/api/v1/users/x%2f..%2f..%2f..%2f..%2fcluster%2fv1%2frecord',
  '/api/v1/..;/..;x=1/cluster/v1/record',
  '/api/v1/messages/../../../cluster/v1/record?x=1',
  '/api/v1/navigation_views/a/../../../../cluster/v1/record',
  '/api/v1/messages#/../../cluster/v1/record',
  '/api/v1/users/x%00/../../../cluster/v1/record',
  '/api/v1/users/x%0d%0aHost:%20x',
  '/api/v1/users/x%09y',
  '/user_uploads/../cluster/v1/record',
  '/user_uploads/%2e%2e%2fcluster/v1/record',
  '/static/..%2f..%2fcluster/v1/record',
  '/control/v1/..%2f..%2fcluster%2fv1%2frecord',
  '/spaces/x/../../cluster/v1/record',
  '//x/cluster/v1/record',
  '//cluster/v1/record',
  'http://127.0.0.1/cluster/v1/record',
  'http://x/cluster/v1/record',
]

/** Plain enough to be read in one way; they lead nowhere. */
const dead = [
  '/cluster/v1/record',
  '/cluster/v1/record/',
  '/cluster/v1/keep',
  '/cluster/v1/state',
  '/api/v1//cluster/v1/record',
  '/api/v1/%252e%252e/%252e%252e/cluster/v1/record',
  '/api/v1/cluster/v1/record;x',
]

export const hostileTargets = { refused: escapes, missing: dead } as const

export interface RawRequest {
  readonly target: string
  readonly method?: string
  readonly headers?: readonly string[]
  readonly body?: string
  /** The direct server takes a small request that arrives whole; node:http takes one that asks to close. */
  readonly way: 'short' | 'node:http'
}

/** The answer, its head included; empty if the server hung up. */
export function sendRaw(
  url: string,
  { target, method = 'POST', headers = [], body = '', way }: RawRequest,
): Promise<string> {
  const { hostname, port, host } = new URL(url)
  const more = [...headers, ...(way === 'short' ? [] : ['Connection: close'])].map(line => `${line}\r\n`).join('')
  const socket = connect(Number(port), hostname)
  return new Promise(resolve => {
    let text = ''
    socket.setTimeout(60_000, () => socket.destroy())
    socket.on('error', () => {})
    socket.on('close', () => resolve(text))
    socket.on('data', chunk => {
      text += chunk.toString('latin1')
      const end = text.indexOf('\r\n\r\n')
      const length = /^content-length: (\d+)\r$/im.exec(text)?.[1]
      if (end !== -1 && text.length >= end + 4 + Number(length ?? 0)) socket.destroy()
    })
    const length = `Content-Length: ${Buffer.byteLength(body)}\r\n`
    socket.write(Buffer.from(`${method} ${target} HTTP/1.1\r\nHost: ${host}\r\n${length}${more}\r\n${body}`, 'latin1'))
  })
}

/** Of an answer. */
export function statusOf(answer: string): number {
  return Number(/^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1] ?? 0)
}
