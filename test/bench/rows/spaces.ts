// Spaces: how long one takes to make, whether the thousandth takes longer, and what each weighs.

import { type Server, startDaemon } from '../processes.ts'
import { alternate, type Effort, once, type Row, type Sample } from '../row.ts'
import { spawned } from './fixture.ts'

const flags = ['--no-profile', '--memory', '--preset', 'dev', '--max-spaces', '2000']

/** How many are made to see what the last one costs. */
const many = 1000

interface Run {
  /** Median milliseconds of those at the beginning, and of those at the end. */
  readonly first: number
  readonly last: number
  readonly kibEach: number
}

const thousand = once(async (effort: Effort): Promise<Run[]> => {
  const runs: Run[] = []
  for (let round = 0; round < effort.rounds(3, 1); round++) runs.push(await makeMany())
  return runs
})

export const spaces: readonly Row[] = [
  {
    name: 'a space from the dev preset',
    reference: 'natterd start, --memory --preset dev',
    goal: { atMost: 0.03 },
    unit: 'ms',
    async measure(effort): Promise<Sample[]> {
      const server = await startDaemon(flags)
      // Code is compiled and the preset founded by the first ones.
      for (let i = 0; i < 20; i++) await create(server)
      const samples = await alternate(effort.rounds(15, 5), () => create(server), spawned)
      await server.stop()
      return samples
    },
  },
  {
    name: 'the 1,000th space',
    reference: 'the first spaces',
    goal: { atMost: 1.2 },
    unit: 'ms',
    measure: async effort => (await thousand(effort)).map(({ first, last }) => ({ ours: last, reference: first })),
  },
  {
    name: 'memory of a space from the dev preset',
    reference: '400 KiB',
    goal: { atMost: 0.5 },
    unit: 'KiB',
    measure: async effort => (await thousand(effort)).map(({ kibEach }) => ({ ours: kibEach, reference: 400 })),
  },
]

async function makeMany(): Promise<Run> {
  const server = await startDaemon(flags)
  // A daemon that has compiled what it needs, and has not yet collected its garbage, is not where growth begins.
  for (let i = 0; i < 50; i++) await create(server)
  const before = await server.residentSize()
  const times: number[] = []
  for (let i = 0; i < many; i++) times.push(await create(server))
  const after = await server.residentSize()
  await server.stop()
  return { first: median(times.slice(0, 100)), last: median(times.slice(-100)), kibEach: (after - before) / many }
}

/** From the request to its answer, by which the space can be called. */
async function create({ ready }: Server): Promise<number> {
  const began = performance.now()
  const answer = await fetch(`${ready.url}/control/v1/spaces`, {
    method: 'POST',
    headers: { Authorization: `Bearer ${ready.control_token}` },
  })
  const { url, owner } = (await answer.json()) as { url: string; owner: { email: string; api_key: string } }
  const credentials = Buffer.from(`${owner.email}:${owner.api_key}`).toString('base64')
  const { ok } = await fetch(`${url}/api/v1/users/me`, { headers: { Authorization: `Basic ${credentials}` } })
  if (!ok) throw new Error('the space does not answer')
  return performance.now() - began
}

function median(values: readonly number[]): number {
  return [...values].sort((a, b) => a - b)[Math.floor(values.length / 2)]!
}
