// The cost of listeners: subscribers of a channel, queues that wait for an event; and how long senders wait for their answers.

import { run } from '../load.ts'
import { gather, type Picture, pointOf, repeat } from '../picture.ts'
import { referencePath, startServer } from '../processes.ts'
import type { Effort } from '../row.ts'
import { fanOut } from '../rows/events.ts'
import { alone, load } from '../rows/messages.ts'
import { filled } from '../store.ts'

const quantiles = [0.5, 0.75, 0.9, 0.95, 0.99, 0.999]

/** Sends with 64 connections to a server that stores nothing. */
async function bareSends(effort: Effort, like: ReturnType<typeof load>) {
  const server = await startServer([referencePath('fastify-form')])
  const asked = { ...like, url: `${server.ready.url}/form`, body: `title=Greeting&${like.body}` }
  await run(asked)
  const results = []
  for (let round = 0; round < effort.rounds(3, 1); round++) results.push(await run(asked))
  await server.stop()
  return results
}

export const listeners: readonly Picture[] = [
  {
    name: 'subscribers',
    title: 'A send, by subscribers of the channel',
    about: 'Durable sends to a channel with 64 connections, and a bare fastify that stores nothing as the floor.',
    kind: 'lines',
    x: { title: 'subscribers', scale: 'log' },
    y: { title: 'milliseconds a send' },
    async measure(effort) {
      const sizes = [10, 100, 1000, 10_000].slice(0, effort.rounds(4, 2))
      const points = []
      for (const subscribers of sizes) {
        const store = await filled(effort, { subscribers, messages: 1000, topics: 10 })
        const sent = load(store, effort)
        const rounds = await alone(store.server, async () => {
          await run(sent)
          return repeat(effort.rounds(3, 1), async () => 1000 / (await run(sent)).perSecond)
        })
        points.push(pointOf('natterd', subscribers, rounds))
        const floor = await bareSends(effort, sent)
        points.push(
          pointOf(
            'fastify, nothing stored',
            subscribers,
            floor.map(({ perSecond }) => 1000 / perSecond),
          ),
        )
        await store.server.stop()
      }
      return { points, missing: [] }
    },
  },
  {
    name: 'queues',
    title: 'One message to everybody who waits',
    about:
      'From the send to the last poll that was answered, beside a bare node:http that answers parked requests with the same bytes.',
    kind: 'lines',
    x: { title: 'queues that wait', scale: 'log' },
    y: { title: 'milliseconds', scale: 'log' },
    async measure(effort) {
      // Two rounds each: parking 10,000 polls takes long.
      const short: Effort = { quick: effort.quick, rounds: (_full, quick) => quick }
      return gather(
        [100, 1000, 10_000].slice(0, effort.rounds(3, 1)).map(size => async () => {
          const rounds = await fanOut(size, short)
          const ms = (side: 'ours' | 'reference') => rounds.map(round => (size / round[side].perSecond) * 1000)
          return [pointOf('natterd', size, ms('ours')), pointOf('bare node:http', size, ms('reference'))]
        }),
      )
    },
  },
  {
    name: 'latency',
    title: 'How long senders wait, 64 at a time',
    about: 'Percentiles of durable sends, and of a form POST to a bare fastify that stores nothing.',
    kind: 'lines',
    x: { title: 'percentile', order: quantiles.map(percentile) },
    y: { title: 'milliseconds', scale: 'log' },
    async measure(effort) {
      const store = await filled(effort, { subscribers: 10, messages: 1000, topics: 10 })
      const sent = { ...load(store, effort), quantiles }
      const ours = await alone(store.server, async () => {
        await run(sent)
        const results = []
        for (let round = 0; round < effort.rounds(3, 1); round++) results.push(await run(sent))
        return results
      })
      await store.server.stop()
      const floor = await bareSends(effort, sent)
      const points = quantiles.flatMap((q, index) => [
        pointOf(
          'natterd',
          percentile(q),
          ours.map(result => result.quantiles[index]!),
        ),
        pointOf(
          'fastify, nothing stored',
          percentile(q),
          floor.map(result => result.quantiles[index]!),
        ),
      ])
      return { points, missing: [] }
    },
  },
]

function percentile(q: number): string {
  return `p${Number((q * 100).toFixed(1))}`
}
