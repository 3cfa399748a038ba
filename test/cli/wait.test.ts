// Waiting until a program listens: a waiting poll counts as a call, and `wait --listening` finds it.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { events } from '../../daemon/api/events.ts'
import { newShell } from '../support/cli.ts'
import { inProcess } from '../support/cli-in-process.ts'
import { startDaemon } from '../support/daemon.ts'

describe('natter wait --listening', () => {
  test('ends with 0 when the account has a waiting poll, and with 8 when it has none', async t => {
    const daemon = await startDaemon(t, { flags: ['--memory'] })
    const { home } = newShell(t)
    const { owner, ready } = daemon
    const env = { HOME: home, NATTER_SITE: daemon.url, NATTER_CONTROL_TOKEN: ready.control_token! }
    const natter = (...args: string[]) => inProcess(args, { env })
    const early = await natter('wait', '--listening', 'owner', '--within', '10ms')
    assert.equal(early.code, 8)
    assert.match(early.stderr, /^natter: the account did not poll for events within 10ms/)
    for (const flag of ['--json', '--quiet']) {
      const { stderr } = await natter('wait', '--listening', 'owner', '--within', '10ms', flag)
      assert.match(stderr, /did not poll for events within 10ms/)
      if (flag === '--json') assert.equal(JSON.parse(stderr).error.exit, 8)
    }

    const narrow = [['is', 'dm']] as [string, string][]
    const { queue_id } = await owner.call(events.register, { event_types: ['message'], fetch_event_types: [], narrow })
    const listening = natter('wait', '--listening', 'owner', '--within', '60s', '--json')
    const poll = owner.call(events.get, { queue_id, last_event_id: -1 })
    const { code, stdout, stderr } = await listening
    assert.equal(code, 0, stderr)
    assert.equal(JSON.parse(stdout).queue.queue_id, queue_id)
    // It counts even though it has no answer yet.
    const seen = await natter('requests', 'wait', '--endpoint', 'get-events', '--within', '60s', '--json')
    assert.equal(seen.code, 0, seen.stderr)
    const { call } = JSON.parse(seen.stdout)
    assert.deepEqual([call.parked, call.status, call.user], [true, null, ready.owner.email])
    const { queues } = JSON.parse((await natter('queues', 'list', '--json')).stdout)
    assert.deepEqual(queues[0].narrow, narrow)
    assert.equal(queues[0].waiting, true)
    assert.match((await natter('queues', 'list')).stdout, /^user +client +pending +waiting +last_seen +narrow/)

    await owner.raw('DELETE', `/api/v1/events?queue_id=${queue_id}`)
    await poll.catch(() => {})
    assert.equal((await natter('queues', 'wait', 'owner', '--within', '10ms')).code, 8)
    assert.equal((await natter('wait', '--listening', 'owner', '--dm')).code, 2)
    assert.equal((await natter('wait', '--listening', 'nobody')).code, 3)
  })
})
