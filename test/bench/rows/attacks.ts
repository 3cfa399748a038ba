// The effect of an attack on other clients: the longest wait for a small answer while one request of the worst kind is under way.

import { attacks, longestWait } from '../../support/attacks.ts'
import { startDaemon } from '../processes.ts'
import { type Effort, quantile, type Row, type Sample } from '../row.ts'

/** Milliseconds. */
const goal = 100

export const attack: readonly Row[] = [
  {
    name: 'longest wait of others during any single request, p99 over the attacks',
    reference: `${goal} ms`,
    goal: { atMost: 1 },
    unit: 'ms',
    measure,
  },
]

async function measure(effort: Effort): Promise<Sample[]> {
  const samples: Sample[] = []
  for (let round = 0; round < effort.rounds(5, 1); round++) {
    const server = await startDaemon(['--memory'])
    const { url, owner } = server.ready
    const target = { url, auth: `${owner.email}:${owner.api_key}` }
    const waits: number[] = []
    for (const each of attacks) {
      const wait = await longestWait(target, each)
      waits.push(wait)
      if (wait > goal) process.stderr.write(`  ${Math.round(wait)} ms: ${each.name}\n`)
    }
    await server.stop()
    samples.push({ ours: quantile(waits, 0.99), reference: goal })
  }
  return samples
}
