// GET /metrics: who may read it, and that its figures are those of the daemon.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { events } from '../../daemon/api/events.ts'
import { messages } from '../../daemon/api/messages/messages.ts'
import { Metrics } from '../../daemon/metrics/prometheus.ts'
import { type Caller, sharedDaemon, startDaemon } from '../support/daemon.ts'
import { until } from '../support/until.ts'
import { person } from '../support/world.ts'

async function scrape(caller: Caller): Promise<string> {
  const answer = await fetch(`${caller.url}/metrics`, { headers: { Authorization: `Basic ${btoa(caller.auth!)}` } })
  assert.equal(answer.status, 200)
  assert.match(answer.headers.get('content-type')!, /^text\/plain; version=0\.0\.4/)
  return answer.text()
}

/** The value of a line such as `natter_calls_total{operation="x",status="200"} 3`. */
function figure(text: string, series: string): number {
  const line = text.split('\n').find(candidate => candidate.startsWith(`${series} `))
  assert.ok(line, `${series} is missing in\n${text}`)
  return Number(line.slice(series.length + 1))
}

describe('GET /metrics', () => {
  const daemon = sharedDaemon({ flags: ['--metrics'] })
  const say = (content: string) =>
    daemon().owner.call(messages.send, { type: 'direct', to: [daemon().ready.owner.user_id], content })

  test('counts calls by operation and status, and how long they took', async () => {
    const { owner } = daemon()
    await say('one')
    await say('two')
    await owner.refused(messages.send, { type: 'direct', to: [99_999], content: 'x' }, 'BAD_REQUEST')
    await owner.raw('GET', '/api/v1/nowhere')
    const text = await scrape(owner)
    assert.equal(figure(text, 'natter_calls_total{operation="send-message",status="200"}'), 2)
    assert.equal(figure(text, 'natter_calls_total{operation="send-message",status="400"}'), 1)
    assert.equal(figure(text, 'natter_calls_total{operation="unknown",status="404"}'), 1)
    assert.equal(figure(text, 'natter_call_duration_seconds_count{operation="send-message"}'), 3)
  })

  test('counts flushes of the journal, and shows its position and size', async () => {
    const before = await scrape(daemon().owner)
    await say('three')
    const after = await scrape(daemon().owner)
    for (const series of ['natter_journal_flush_duration_seconds_count', 'natter_journal_position'])
      assert.equal(figure(after, series), figure(before, series) + 1)
    const written = 'natter_journal_written_bytes_total'
    assert.ok(figure(after, written) > figure(before, written))
    assert.ok(figure(after, 'natter_journal_bytes') > 0)
    assert.ok(figure(after, 'process_resident_memory_bytes') > 0)
  })

  test('shows queues, pending events and waiting polls; a poll that waited has no latency', async () => {
    const { owner } = daemon()
    const { queue_id } = await owner.call(events.register, { event_types: ['message'] })
    const polling = owner.call(events.get, { queue_id, last_event_id: -1 })
    await until(async () => figure(await scrape(owner), 'natter_waiting_polls') === 1)
    await say('to the queue')
    await polling
    const text = await scrape(owner)
    assert.equal(figure(text, 'natter_queues'), 1)
    assert.equal(figure(text, 'natter_pending_events'), 1)
    assert.ok(figure(text, 'natter_pending_events_characters') > 0)
    assert.equal(figure(text, 'natter_calls_total{operation="get-events",status="200"}'), 1)
    assert.doesNotMatch(text, /natter_call_duration_seconds_count\{operation="get-events"\}/)
  })

  test('shows the age of the snapshot once there is one', async () => {
    const { owner } = daemon()
    assert.doesNotMatch(await scrape(owner), /^natter_snapshot_age_seconds \d/m)
    await daemon().compact()
    const text = await scrape(owner)
    assert.ok(figure(text, 'natter_snapshot_age_seconds') >= 0)
    assert.equal(figure(text, 'natter_snapshot_position'), figure(text, 'natter_journal_position'))
  })

  test('is for owners and administrators', async () => {
    const amy = await person(daemon(), 'amy')
    const refused = await amy.raw('GET', '/metrics')
    assert.equal(refused.status, 400)
    assert.equal(refused.body.result, 'error')
    assert.equal((await daemon().anonymous.raw('GET', '/metrics')).status, 401)
  })

  test('has every series that the dashboard asks for', async () => {
    const { owner } = daemon()
    const { queue_id } = await owner.call(events.register, {})
    await owner.call(events.delete, { queue_id })
    const text = await scrape(owner)
    const dashboard = readFileSync(join(import.meta.dirname, '../../docs/grafana-dashboard.json'), 'utf8')
    const asked = new Set([...dashboard.matchAll(/\b(natter|process|nodejs)_[a-z0-9_]+/g)].map(([name]) => name))
    assert.ok(asked.size > 12, `${asked.size} series`)
    for (const name of asked)
      assert.match(text, new RegExp(`^# TYPE ${name.replace(/_(bucket|sum|count)$/, '')} `, 'm'))
  })
})

describe('the metrics of a cluster', () => {
  test('say who leads, and how far a daemon is behind', async () => {
    const metrics = new Metrics()
    const none = { users: 0, messages: 0, queues: 0, waitingPolls: 0, pendingEvents: 0, pendingSize: 0, position: 0 }
    const figures = () => ({ ...none, journalBytes: undefined, snapshot: undefined, waitingWebhooks: 0 })
    metrics.show({ figures, connections: async () => 0, cluster: () => ({ role: 'follower', lag: 7 }) })
    assert.equal(figure(await metrics.text(), 'natter_cluster_leader'), 0)
    assert.equal(figure(await metrics.text(), 'natter_cluster_lag_entries'), 7)
    metrics.show({ figures, connections: async () => 0 })
    assert.doesNotMatch(await metrics.text(), /^natter_cluster_leader \d/m)
  })
})

describe('a daemon without --metrics', () => {
  test('has no /metrics', async t => {
    const { owner } = await startDaemon(t, { flags: ['--memory'] })
    assert.equal((await owner.raw('GET', '/metrics')).status, 404)
  })
})
