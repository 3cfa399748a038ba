// A port for a server that has to be told its number.

import { createServer } from 'node:net'

/** Below those that systems give out by themselves, so that no other process is given it in the meantime. */
const [lowest, highest] = [12_000, 32_000]

/** Test processes run side by side and must not choose the same port before one of them uses it: each has a range of its own. */
const ranges = 64
const size = Math.floor((highest - lowest) / ranges)
const first = lowest + (process.pid % ranges) * size

/** One after the other, so that a server that is down for a moment comes back to its port. */
let chosen = 0

export async function freePort(): Promise<number> {
  for (;;) {
    const port = first + (chosen++ % size)
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
