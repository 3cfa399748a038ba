// A port for a server that has to be told its number.

import { randomInt } from 'node:crypto'
import { createServer } from 'node:net'

/** Below those that systems give out by themselves, so that nobody else is given it in the meantime. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(12_000, 32_000)
    if (await isFree(port)) return port
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise(resolve => {
    const server = createServer()
    server.once('error', () => resolve(false))
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
  })
}
