// The stop of a daemon that is asked to.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect } from 'node:net'
import { describe, type TestContext, test } from 'node:test'
import { events } from '../../daemon/api/events.ts'
import { savedSnippets } from '../../daemon/api/messages/saved-snippets.ts'
import { Control } from '../support/control.ts'
import { startDaemon, type TestDaemon } from '../support/daemon.ts'
import { until } from '../support/until.ts'

describe('SIGTERM', () => {
  /** Ends it as an administrator would, and tells how long that took. */
  async function terminate(daemon: TestDaemon): Promise<number> {
    const begun = performance.now()
    daemon.process.kill('SIGTERM')
    assert.equal(await daemon.closed, 0, daemon.stderr)
    return performance.now() - begun
  }

  /** A daemon that waits for something is slow every time; a busy machine is not. */
  async function quickly(attempt: () => Promise<number>): Promise<void> {
    const took = [await attempt()]
    while (took.at(-1)! >= 2000) {
      assert.ok(took.length < 5, `${took.join(', ')} ms`)
      took.push(await attempt())
    }
  }

  test('waiting polls are answered, open connections closed, and the daemon ends within a second or so', t =>
    quickly(() => endWhilePolled(t)))

  async function endWhilePolled(t: TestContext): Promise<number> {
    const daemon = await startDaemon(t, { alone: true, flags: ['--control'] })
    const { owner } = daemon
    const queues = await Promise.all(Array.from({ length: 20 }, () => owner.call(events.register, {})))
    const polls = queues.map(({ queue_id }) => owner.call(events.get, { queue_id, last_event_id: -1 }))
    const idle = connect(Number(new URL(daemon.url).port), '127.0.0.1')
    await once(idle, 'connect')
    const hungUp = once(idle, 'close')
    idle.on('error', () => {})
    await new Control(daemon).waiting(...queues.map(({ queue_id }) => queue_id))
    const took = await terminate(daemon)
    for (const { events: heard } of await Promise.all(polls)) assert.deepEqual(heard, [])
    await hungUp
    return took
  }

  test('what is being written when it comes is written, and answered', t => quickly(() => endWhileWriting(t)))

  async function endWhileWriting(t: TestContext): Promise<number> {
    const daemon = await startDaemon(t, { alone: true })
    const answered: number[] = []
    let stopped = false
    const writers = Array.from({ length: 8 }, async (_, writer) => {
      for (let n = 0; !stopped; n++)
        try {
          const { saved_snippet_id } = await daemon.owner.call(savedSnippets.create, {
            title: `${writer}`,
            content: `${n}`,
          })
          answered.push(saved_snippet_id)
        } catch (error) {
          // Refused at the door is fine; cut off in the middle of an answer is not.
          if (!/ECONNREFUSED|ECONNRESET|EPIPE|socket hang up|SERVER_NOT_READY/.test(String(error))) throw error
          return
        }
    })
    await until(() => answered.length > 50)
    const took = await terminate(daemon)
    stopped = true
    await Promise.all(writers)
    const again = await startDaemon(t, { alone: true, data: daemon.data })
    const { saved_snippets: kept } = await again.owner.call(savedSnippets.list, {})
    const ids = new Set(kept.map(({ id }) => id))
    for (const id of answered) assert.ok(ids.has(id), `snippet ${id} was answered and is gone`)
    assert.ok(ids.size - answered.length <= 0, `${ids.size - answered.length} writes were kept and not answered`)
    return took
  }
})
