// The server of an outgoing webhook bot: remembers what it was sent, and answers as it is told to.

import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

export interface Received {
  readonly headers: IncomingHttpHeaders
  readonly text: string
  /** The body, when it is JSON. */
  readonly body: any
}

export type Answer = (response: ServerResponse, received: Received) => void

export class BotServer {
  readonly received: Received[] = []
  answer: Answer = json({})
  readonly #server = createServer((request, response) => {
    let text = ''
    request.setEncoding('utf8').on('data', part => {
      text += part
    })
    request.on('end', () => {
      const isJson = request.headers['content-type'] === 'application/json'
      const received = { headers: request.headers, text, body: isJson ? JSON.parse(text) : undefined }
      this.received.push(received)
      this.answer(response, received)
    })
  })

  async listen(): Promise<void> {
    await new Promise<void>(resolve => this.#server.listen(0, '127.0.0.1', resolve))
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}/bot`
  }

  async close(): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise(resolve => this.#server.close(resolve))
  }
}

export function json(value: unknown, status = 200): Answer {
  return response => response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value))
}
