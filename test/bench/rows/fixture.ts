// The fixture: a daemon with a world in it, started, started in process, and reset.

import { createRequire } from 'node:module'
import { join } from 'node:path'
import type { startNatter } from '../../../daemon/testing/index.ts'
import { authorization, referencePath, request, root, type Server, startDaemon, startServer } from '../processes.ts'
import { alternate, type Row, type Sample } from '../row.ts'

const flags = ['--no-profile', '--memory', '--preset', 'dev']

export const fixture: readonly Row[] = [
  {
    name: 'natterd start, --memory --preset dev',
    reference: 'bare node:http server',
    goal: { atMost: 1.75 },
    unit: 'ms',
    measure: effort =>
      alternate(effort.rounds(15, 5), spawned, () =>
        timed(
          () => startServer([referencePath('bare-http')]),
          ({ ready }) => request(ready.url),
        ),
      ),
  },
  {
    name: 'natter/testing start in process, preset dev',
    reference: 'natterd start, --memory --preset dev',
    goal: { atMost: 0.3 },
    unit: 'ms',
    measure: async effort => {
      // The library is loaded once for all the tests of a process.
      await inProcess()
      return alternate(effort.rounds(15, 5), inProcess, spawned)
    },
  },
  {
    name: 'reset, preset dev',
    reference: 'natterd start, --memory --preset dev',
    goal: { atMost: 0.05 },
    unit: 'ms',
    async measure(effort): Promise<Sample[]> {
      const server = await startDaemon(flags)
      const samples = await alternate(effort.rounds(15, 5), () => reset(server), spawned)
      await server.stop()
      return samples
    },
  },
]

/** From spawn to the first answered request. */
export function spawned(): Promise<number> {
  return timed(
    () => startDaemon(flags),
    ({ ready }) => request(`${ready.url}/api/v1/users/me`, { Authorization: authorization(ready) }),
  )
}

export async function timed(spawn: () => Promise<Server>, ask: (server: Server) => Promise<void>): Promise<number> {
  const began = performance.now()
  const server = await spawn()
  await ask(server)
  const ms = performance.now() - began
  await server.stop()
  return ms
}

async function inProcess(): Promise<number> {
  const library = createRequire(import.meta.url)(join(root, 'dist/testing.cjs')) as { startNatter: typeof startNatter }
  const began = performance.now()
  const natter = await library.startNatter()
  const { email, apiKey } = natter.account('owner')
  const credentials = Buffer.from(`${email}:${apiKey}`).toString('base64')
  await request(`${natter.url}/api/v1/users/me`, { Authorization: `Basic ${credentials}` })
  const ms = performance.now() - began
  await natter.stop()
  return ms
}

async function reset({ ready }: Server): Promise<number> {
  const began = performance.now()
  const headers = { Authorization: `Bearer ${ready.control_token}` }
  const { ok } = await fetch(`${ready.url}/control/v1/reset`, { method: 'POST', headers })
  if (!ok) throw new Error('reset was refused')
  return performance.now() - began
}
