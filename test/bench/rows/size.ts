// Large stores, which must not bring long starts and long waits.

import { closeSync, openSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { run } from '../load.ts'
import { messageOf } from '../messages-plan.ts'
import { freshFolder, referencePath, startDaemon, timeCommand } from '../processes.ts'
import { alternate, type Effort, type Row, type Sample } from '../row.ts'
import { filled, type Store } from '../store.ts'
import { alone, large, load, many, small } from './messages.ts'

export const size: readonly Row[] = [
  {
    name: 'boot with 1,000,000 messages',
    reference: 'JSON.parse of the same lines in chunks',
    goal: { atMost: 0.55 },
    unit: 'ms',
    fullOnly: 'with fewer messages it is the start of a process',
    measure: booting,
  },
  {
    name: 'longest wait of a small request under steady load, at 1,000,000 messages',
    reference: 'at 1,000',
    goal: { atMost: 3 },
    unit: 'ms',
    measure: waiting,
  },
]

/** Both from the start of the process: to the first line that says it is ready, to the end. */
async function booting(effort: Effort): Promise<Sample[]> {
  const topics = 1000
  const { folder, server, messages } = await filled(effort, { subscribers: 10, messages: many, topics })
  await server.stop()
  const file = linesOf(messages, topics)
  const boot = async () => {
    const began = performance.now()
    const booted = await startDaemon(['--data', folder, '--no-profile'])
    const took = performance.now() - began
    await booted.stop()
    return took
  }
  await boot()
  return alternate(7, boot, () => timeCommand([referencePath('parse-lines'), file]))
}

/** A file with a line for each message, as the journal has it but for position, time and sum. */
function linesOf(messages: number, topics: number): string {
  const file = join(freshFolder(), 'lines.ndjson')
  const fd = openSync(file, 'w')
  for (let n = 0; n < messages; n += 1000) {
    let text = ''
    for (let i = n; i < Math.min(n + 1000, messages); i++) {
      const message = messageOf(i, { id: i + 1, senderId: 10, channelId: 1, time: 1_794_710_681 }, topics)
      text += `${JSON.stringify({ type: 'message.sent', message })}\n`
    }
    writeSync(fd, text)
  }
  closeSync(fd)
  return file
}

/** Seen from outside: whatever keeps the daemon from answering counts, a snapshot that is written meanwhile too. */
async function waiting(effort: Effort): Promise<Sample[]> {
  const [big, little] = [await large(effort), await small(effort)]
  const seconds = effort.rounds(6, 3)
  const longest = (store: Store) => () =>
    alone(store.server, async () => {
      const sent = { ...load(store, effort), connections: 4, seconds, rest: 1 }
      const asked = {
        ...sent,
        url: `${store.server.ready.url}/api/v1/users/me`,
        method: 'GET',
        body: '',
        connections: 1,
      }
      const compacting = sleep(1000).then(() => store.server.compact())
      const [, answers] = await Promise.all([run(sent), run({ ...asked, rest: 2 }), compacting])
      return answers.longest
    })
  await longest(big)()
  await longest(little)()
  return alternate(effort.rounds(4, 2), longest(big), longest(little))
}
