// SIGSTOP under load and SIGCONT half a minute later, as a laptop that sleeps or a paused container does it: nothing is lost,
// polls that waited are answered, and no queue ends because its client could not poll meanwhile.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { events } from '../../daemon/api/events.ts'
import { savedSnippets } from '../../daemon/api/messages/saved-snippets.ts'
import { launch, type TestDaemon } from '../support/daemon.ts'
import { until } from '../support/until.ts'
import { type Campaign, Failure } from './campaign.ts'

const stopped = 30_000
/** Less than that: its time runs out while no client can poll. */
const lifespan = 5
const writers = 8

export const campaign: Campaign = {
  about: 'stopped for 30 seconds under load and continued: nothing is lost, and every queue goes on',
  unit: 'stops',
  long: 5,
  short: 0,
  async run({ count, seed, deadline = Number.POSITIVE_INFINITY, note = () => {}, progress = () => {} }) {
    const data = mkdtempSync(join(tmpdir(), 'natter-prove-'))
    const daemon = await launch(data, { flags: ['--heartbeat', '2'] })
    let written = 0
    let done = 0
    try {
      for (; done < count && performance.now() < deadline; done++) {
        written += await stopOnce(daemon, seed)
        progress(done + 1)
        note(`${done + 1} stops, ${written} writes`)
      }
      await daemon.stop()
    } finally {
      daemon.process.kill('SIGKILL')
      rmSync(data, { recursive: true, force: true })
    }
    return { done, summary: `${written} writes, each answered and there` }
  },
}

/** The number of writes that were answered. */
async function stopOnce({ owner, process }: TestDaemon, seed: number): Promise<number> {
  const idle = await owner.call(events.register, { queue_lifespan_secs: lifespan, event_types: ['saved_snippets'] })
  const waiting = await owner.call(events.register, { event_types: [] })
  const poll = owner.call(events.get, { queue_id: waiting.queue_id!, last_event_id: -1 })
  const answered: number[] = []
  let isOver = false
  const writing = Array.from({ length: writers }, async (_, writer) => {
    for (let n = 0; !isOver; n++) {
      const made = await owner.call(savedSnippets.create, { title: `${writer}-${n}`, content: 'x' })
      answered.push(made.saved_snippet_id)
    }
  })
  await until(() => answered.length > 100)
  process.kill('SIGSTOP')
  await sleep(stopped)
  process.kill('SIGCONT')
  if ((await poll).events[0]?.type !== 'heartbeat') throw new Failure(seed, 'the poll that waited got no heartbeat')
  const before = answered.length
  await until(() => answered.length > before + 100)
  isOver = true
  await Promise.all(writing)
  const { events: heard } = await owner.call(events.get, { queue_id: idle.queue_id!, dont_block: true })
  const told = new Set(heard.flatMap(event => ('saved_snippet' in event ? [Object(event.saved_snippet).id] : [])))
  const kept = new Set((await owner.call(savedSnippets.list, {})).saved_snippets.map(({ id }) => id))
  const lost = answered.filter(id => !kept.has(id) || !told.has(id))
  if (lost.length > 0) throw new Failure(seed, `answered and then missing: ${lost.join(', ')}`)
  for (const id of kept) await owner.call(savedSnippets.delete, { saved_snippet_id: id })
  for (const { queue_id } of [idle, waiting]) await owner.call(events.delete, { queue_id: queue_id! })
  return answered.length
}
