// The model of docs/scale.md, held against measurements between the points that its figures come from.

import { memoryKib, tellingMs } from '../../../docs/generate/scale.ts'
import type { Effort, Row, Sample } from '../row.ts'
import { filled } from '../store.ts'
import { fanOut, told } from './events.ts'
import { large, small } from './messages.ts'

const queues = 3000
const messages = 30_000

export const scale: readonly Row[] = [
  {
    name: `one message to ${queues} parked queues, and the model`,
    reference: 'the model of docs/scale.md, from 1000 queues',
    goal: { atMost: 1.25 },
    unit: 'ms',
    fullOnly: 'it takes long',
    measure: telling,
  },
  {
    name: `memory with ${messages} messages, and the model`,
    reference: 'the model of docs/scale.md, from 1,000 and 1,000,000 messages',
    goal: { atMost: 1.15 },
    unit: 'KiB',
    fullOnly: 'the model begins at 1,000,000 messages',
    measure: remembering,
  },
]

async function telling(effort: Effort): Promise<Sample[]> {
  const known = await told(1000)(effort)
  const found = await fanOut(queues, { ...effort, rounds: (_full, quick) => quick })
  return found.map(({ ours }, at) => ({
    ours: tellingMs({ events: ours.perSecond }, queues),
    reference: tellingMs({ events: known[at]!.ours.perSecond }, queues),
  }))
}

async function remembering(effort: Effort): Promise<Sample[]> {
  const [few, many] = [await small(effort), await large(effort)]
  const [processKib, full] = [await few.server.residentSize(), await many.server.residentSize()]
  const messageBytes = ((full - processKib) * 1024) / (many.messages - few.messages)
  const { server } = await filled(effort, { subscribers: 10, messages, topics: 100 })
  const ours = await server.residentSize()
  await server.stop()
  return [{ ours, reference: memoryKib({ processKib, queueKib: 0, messageBytes }, messages, 0) }]
}
