// The cost of one call for two daemons that differ in one thing.

import { busyMilliseconds } from '../support/busy-time.ts'
import { run } from './load.ts'
import { authorization, freshFolder, type Server } from './processes.ts'
import { alternate, type Effort, type Sample } from './row.ts'

/** Flags of a daemon with a store of its own. */
export function freshStore(): string[] {
  return ['--data', freshFolder(), '--no-profile']
}

/** Several daemons of each kind: two processes of the same code differ by more than the goals, by how V8 happened to compile it. */
export async function compareCalls(
  effort: Effort,
  startOurs: () => Promise<Server>,
  startReference: () => Promise<Server>,
  what: keyof Cost,
): Promise<Sample[]> {
  const cost = async (server: Server) => (await costOf(server))[what]
  const samples: Sample[] = []
  for (let pair = 0; pair < effort.rounds(5, 2); pair++) {
    const [ours, reference] = [await startOurs(), await startReference()]
    for (const server of [ours, reference]) server.pause()
    // The first round only warms up.
    await cost(reference)
    await cost(ours)
    samples.push(
      ...(await alternate(
        effort.rounds(4, 2),
        () => cost(ours),
        () => cost(reference),
      )),
    )
    for (const server of [ours, reference]) await server.stop()
  }
  return samples
}

/** Of one call, in milliseconds. */
interface Cost {
  readonly time: number
  /** Of the main thread. Other programs change it less than they change the time. */
  readonly processorTime: number
}

/** While nothing but this server runs. */
async function costOf(server: Server): Promise<Cost> {
  server.resume()
  try {
    const { url, pid } = server.ready
    const headers = { Authorization: authorization(server.ready) }
    const load = { method: 'GET', headers, body: '', connections: 64, seconds: 1, url: `${url}/api/v1/users/me` }
    const before = busyMilliseconds(pid)
    const { answers, perSecond } = await run(load)
    return { time: 1000 / perSecond, processorTime: (busyMilliseconds(pid) - before) / answers }
  } finally {
    server.pause()
  }
}
