// A gate in a network: carries connections through until it is closed. Then nothing passes and no end is told, as when a
// cable is cut; what was open is dropped when it opens again.

import { connect, createServer, type Server, type Socket } from 'node:net'
import { freePort } from '../../support/free-port.ts'

export class Gate {
  readonly url: string
  readonly #server: Server
  readonly #pairs = new Set<readonly [Socket, Socket]>()
  #closed = false

  private constructor(port: number, server: Server) {
    this.url = `http://127.0.0.1:${port}`
    this.#server = server
  }

  static async to(target: string): Promise<Gate> {
    const { hostname, port } = new URL(target)
    const own = await freePort()
    const server = createServer({ allowHalfOpen: false })
    const gate = new Gate(own, server)
    server.on('connection', inner => {
      const outer = connect(Number(port), hostname)
      const pair = [inner, outer] as const
      gate.#pairs.add(pair)
      for (const [from, to] of [pair, [outer, inner] as const]) {
        from.on('data', data => {
          if (!gate.#closed) to.write(data)
        })
        from.on('error', () => {})
        from.on('close', () => {
          gate.#pairs.delete(pair)
          if (!gate.#closed) to.destroy()
        })
      }
    })
    await new Promise<void>(resolve => server.listen(own, '127.0.0.1', resolve))
    return gate
  }

  close(): void {
    this.#closed = true
  }

  open(): void {
    this.#closed = false
    for (const pair of this.#pairs) for (const socket of pair) socket.destroy()
    this.#pairs.clear()
  }

  end(): void {
    this.open()
    this.#server.close()
  }
}
