// A port for a server that has to be told its number.

import { createServer } from 'node:net'

/** Below those that systems give out by themselves, so that no other process is given it in the meantime. */
const [lowest, highest] = [12_000, 32_000]

/**
 * Test processes run side by side and must not choose a port whose server is down for a moment: each has a range of its own, by the
 * number of its bundle.
 */
const ranges = 128
const size = Math.floor((highest - lowest) / ranges)
const [, bundle] = /(\d+)-\w+\.mjs$/.exec(process.argv[1] ?? '') ?? []
const first = lowest + (Number(bundle ?? process.pid) % ranges) * size

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
