// Time: what happens to timers when the clock of the machine is set, and what a steered clock shows.

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { events } from '../../daemon/api/events.ts'
import { messages } from '../../daemon/api/messages/messages.ts'
import { savedSnippets } from '../../daemon/api/messages/saved-snippets.ts'
import { scheduledMessages } from '../../daemon/api/messages/scheduled-messages.ts'
import { Boundary } from '../../daemon/boundary.ts'
import { Alarm, SteeredClock } from '../../daemon/clock.ts'
import { startDaemon } from '../support/daemon.ts'
import { root } from '../support/sources.ts'
import { until } from '../support/until.ts'

/** A machine whose clock can be set: timers run by elapsed time, as those of the system do. */
class SettableClock {
  readonly setting = { ahead: 0 }
  wall = 1_000_000
  time = 0
  readonly boundary = new Boundary()
  readonly due: { readonly at: number; readonly run: () => void }[] = []

  now = () => this.wall + this.time
  elapsed = () => this.time
  heading = () => this.time

  after(ms: number, run: () => void): () => void {
    const due = { at: this.time + Math.max(0, ms), run }
    this.due.push(due)
    return () => this.due.splice(this.due.indexOf(due), 1)
  }

  pass(ms: number): void {
    const end = this.time + ms
    for (;;) {
      const next = this.due.filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)[0]
      if (!next) break
      this.due.splice(this.due.indexOf(next), 1)
      this.time = Math.max(this.time, next.at)
      next.run()
    }
    this.time = end
  }
}

describe('timers of a world', () => {
  test('that are cancelled leave nothing behind, however long they would have run', () => {
    const script = `
      import { Boundary } from '${join(root, 'daemon/boundary.ts')}'
      const boundary = new Boundary()
      const bytesAfter = first => {
        for (let ms = first; ms < first + 20_000; ms++) boundary.after(ms, () => {})()
        gc()
        return process.memoryUsage().heapUsed
      }
      const before = bytesAfter(1_000_000)
      process.stdout.write(String(bytesAfter(2_000_000) - before))`
    const node = ['--expose-gc', '--import', 'tsx', '--input-type=module', '-e', script]
    const grown = Number(execFileSync(process.execPath, node, { cwd: root, encoding: 'utf8' }))
    assert.ok(grown < 1_000_000, `${grown} bytes`)
  })
})

describe('an alarm', () => {
  test('rings at its time, once, and not when it was set to another or to none', () => {
    const clock = new SettableClock()
    const rung: number[] = []
    const alarm = new Alarm(clock, () => rung.push(clock.now()))
    alarm.set(clock.now() + 5000)
    alarm.set(clock.now() + 3000)
    clock.pass(10_000)
    assert.deepEqual(rung, [1_003_000])
    alarm.set(clock.now() + 1000)
    alarm.set(undefined)
    clock.pass(10_000)
    assert.equal(rung.length, 1)
  })

  for (const [step, name] of [
    [600_000, 'forward past its time'],
    [-3_600_000, 'back'],
  ] as const)
    test(`notices within 30 seconds that the clock was set ${name}`, t => {
      t.mock.timers.enable({ apis: ['setInterval'] })
      const clock = new SettableClock()
      const rung: number[] = []
      const alarm = new Alarm(clock, () => rung.push(clock.now()))
      const at = clock.now() + 300_000
      alarm.set(at)
      clock.wall += step
      clock.pass(30_000)
      t.mock.timers.tick(30_000)
      clock.pass(1)
      if (step > 0) assert.equal(rung.length, 1)
      else {
        clock.pass(299_000)
        assert.deepEqual(rung, [], 'it rang too early by the clock')
        // And set right again.
        clock.wall -= step
        t.mock.timers.tick(30_000)
        clock.pass(1)
        assert.equal(rung.length, 1)
      }
      assert.ok(rung[0]! >= at)
    })
})

describe('a steered clock', () => {
  test('that is moved to the very time of an alarm lets it ring, whatever else fires on the way', async () => {
    const clock = new SteeredClock()
    let rung = 0
    const alarm = new Alarm(clock, () => rung++)
    const at = Date.now() + 90_000
    alarm.set(at)
    for (const fraction of [0.1, 0.3, 0.45, 0.6, 0.7]) clock.after(1000 + fraction, () => {})
    clock.freeze()
    await clock.moveTo(
      () => at,
      async () => {},
    )
    assert.deepEqual([rung, clock.now()], [1, at])
    clock.stop()
    alarm.stop()
  })

  test('that is frozen and moved to the very time of an alarm lets it ring, however its two times drifted apart', async t => {
    for (const drift of [-40, -1, 0, 1, 40]) {
      const clock = new SteeredClock()
      let rung = 0
      const alarm = new Alarm(clock, () => rung++)
      const at = Date.now() + 90_000
      alarm.set(at)
      const real = Date.now
      t.mock.method(Date, 'now', () => real() + drift)
      clock.freeze()
      await clock.moveTo(
        () => at - 1,
        async () => {},
      )
      assert.equal(rung, 0, `${drift} ms, before its time`)
      await clock.moveTo(
        () => at,
        async () => {},
      )
      assert.deepEqual([rung, clock.now()], [1, at], `${drift} ms`)
      t.mock.restoreAll()
      clock.stop()
      alarm.stop()
    }
  })

  test('fires what falls due in order, at its time, and shows whole milliseconds', async () => {
    const clock = new SteeredClock(5_000)
    const fired: [string, number][] = []
    clock.after(300, () => fired.push(['b', clock.now()]))
    clock.after(100, () => {
      fired.push(['a', clock.now()])
      clock.after(50, () => fired.push(['c', clock.now()]))
    })
    clock.after(10_000, () => fired.push(['never', 0]))
    await clock.moveTo(
      now => now + 1000,
      async () => {},
    )
    assert.deepEqual(fired, [
      ['a', 5100],
      ['c', 5150],
      ['b', 5300],
    ])
    assert.deepEqual([clock.now(), clock.elapsed()], [6000, 6000])
  })

  test('that jumps, is frozen or is resumed while it moves shows a time', async () => {
    const whileMoving = async (frozenAt: number | undefined, steer: (clock: SteeredClock) => void) => {
      const clock = new SteeredClock(frozenAt)
      clock.after(1000, () => {})
      clock.after(2000, () => {})
      let steered = false
      const isThere = await clock.moveTo(
        now => now + 5000,
        async () => {
          if (!steered) steer(clock)
          steered = true
        },
      )
      clock.stop()
      return { clock, isThere }
    }
    const back = await whileMoving(10_000, clock => clock.jump({ frozenAt: 3000 }))
    assert.deepEqual([back.isThere, back.clock.now(), back.clock.frozen], [false, 3000, true])
    const running = await whileMoving(undefined, clock => clock.jump({ ahead: 0 }))
    assert.deepEqual([running.isThere, running.clock.setting], [false, { ahead: 0 }])
    assert.ok(Number.isFinite(running.clock.now()))
    const resumed = await whileMoving(10_000, clock => clock.resume())
    assert.deepEqual([resumed.isThere, resumed.clock.frozen], [true, false])
    assert.ok(resumed.clock.now() >= 15_000)
    const frozen = await whileMoving(undefined, clock => clock.freeze())
    assert.deepEqual([frozen.isThere, frozen.clock.frozen], [true, true])
  })

  test('keeps its timers when it jumps: no time passes', async () => {
    const clock = new SteeredClock(5_000)
    let fired = 0
    clock.after(300, () => fired++)
    clock.jump({ frozenAt: 1_000 })
    assert.equal(clock.now(), 1_000)
    await clock.moveTo(
      now => now + 299,
      async () => {},
    )
    assert.equal(fired, 0)
    await clock.moveTo(
      now => now + 1,
      async () => {},
    )
    assert.deepEqual([fired, clock.now()], [1, 1300])
    clock.jump({ ahead: 3_600_000 })
    assert.ok(Math.abs(clock.now() - Date.now() - 3_600_000) < 60_000)
    assert.ok(!clock.frozen)
  })
})

describe('the clock of the machine is set while natterd runs', () => {
  /** Starts natterd with a clock whose offset in milliseconds is read from a file. */
  async function settable(t: Parameters<typeof startDaemon>[0], ...flags: string[]) {
    const folder = mkdtempSync(join(tmpdir(), 'natter-clock-'))
    const file = join(folder, 'offset')
    const set = (ms: number) => writeFileSync(file, String(ms))
    set(0)
    const preload = `
      import { readFileSync } from 'node:fs'
      const real = Date.now.bind(Date)
      Date.now = () => real() + Number(readFileSync(${JSON.stringify(file)}, 'utf8') || 0)`
    const env = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(preload)}` }
    const daemon = await startDaemon(t, { flags, env })
    // After the daemon has stopped, which asks for the time once more.
    t.after(() => rmSync(folder, { recursive: true, force: true }))
    return { set, daemon }
  }

  test('an hour back: heartbeats still come, and queues still expire', async t => {
    const { set, daemon } = await settable(t, '--heartbeat', '1')
    const { owner } = daemon
    const { queue_id: idle } = await owner.call(events.register, { queue_lifespan_secs: 1 } as never)
    const { queue_id } = await owner.call(events.register, {})
    set(-3_600_000)
    const { events: heard } = await owner.call(events.get, { queue_id, last_event_id: -1 })
    assert.equal(heard[0]?.type, 'heartbeat')
    const isGone = async () =>
      (await owner.try(events.get, { queue_id: idle, dont_block: true })).body.code === 'BAD_EVENT_QUEUE_ID'
    // Asking keeps it alive: ask less often than it lives.
    await until(async () => {
      await owner.call(events.get, { queue_id, last_event_id: heard.at(-1)!.id }).catch(() => {})
      return isGone()
    })
  })

  test('an hour forward: a scheduled message that fell due meanwhile is sent, not given up', async t => {
    const { set, daemon } = await settable(t)
    const { owner } = daemon
    const scheduled_delivery_timestamp = Math.ceil(Date.now() / 1000) + 300
    await owner.call(scheduledMessages.create, {
      type: 'direct',
      to: [owner.id],
      content: 'still wanted',
      scheduled_delivery_timestamp,
    } as never)
    set(3_600_000)
    // Any change makes the scheduler look at the clock; without one it looks every 30 seconds.
    await owner.call(savedSnippets.create, { title: 'x', content: 'x' })
    await until(async () => (await owner.call(scheduledMessages.list, {})).scheduled_messages.length === 0)
    const { messages: history } = await owner.call(messages.list, {
      anchor: 'newest',
      num_before: 1,
      apply_markdown: false,
    })
    assert.equal(history[0]?.content, 'still wanted')
  })
})
