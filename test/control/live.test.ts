import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { messages } from '../../daemon/api/messages/messages.ts'
import { reminders } from '../../daemon/api/messages/reminders.ts'
import { scheduledMessages } from '../../daemon/api/messages/scheduled-messages.ts'
import { users } from '../../daemon/api/people/users.ts'
import { Control } from '../support/control.ts'
import { sharedDaemon, startDaemon } from '../support/daemon.ts'
import { person } from '../support/world.ts'

describe('GET /live', () => {
  const daemon = sharedDaemon({ flags: ['--memory', '--preset', 'dev'] })
  const control = () => new Control(daemon())

  async function cursors(): Promise<{ events: number; requests: number }> {
    const reply = await control().call('GET', '/live?within=0')
    return { events: reply.events_cursor, requests: reply.requests_cursor }
  }

  test('answers with events and calls that are new, and waits for the next ones', async () => {
    const { events, requests } = await cursors()
    const waiting = control().call('GET', `/live?events=${events}&requests=${requests}&within=60`)
    await daemon().owner.call(users.me, {})
    const reply = await waiting
    assert.deepEqual(reply.events, [])
    assert.equal(reply.requests[0].endpoint, 'get-own-user')
    assert.ok(reply.requests_cursor > requests)
  })

  test('tells of a call again when it is answered', async () => {
    const { events, requests } = await cursors()
    await daemon().owner.call(messages.send, { type: 'stream', to: 'general', topic: 'live', content: 'hello' })
    const reply = await control().call('GET', `/live?events=${events}&requests=${requests}&within=60`)
    const sent = reply.requests.find(({ endpoint }: any) => endpoint === 'send-message')
    assert.equal(sent.status, 200)
    const event = reply.events.find(({ event }: any) => event.type === 'message')
    assert.equal(event.event.message.content, 'hello')
    assert.ok(event.position > 0)
  })

  test('names the queues that an event was put into', async () => {
    const { owner } = daemon()
    const { queue_id } = (await owner.raw('POST', '/api/v1/register')).body
    const { events } = await cursors()
    await owner.call(messages.send, { type: 'stream', to: 'general', topic: 'live', content: 'to a queue' })
    const reply = await control().call('GET', `/live?events=${events}&within=60`)
    assert.deepEqual(reply.events.at(-1).queues, [queue_id])
  })

  test('starts again where the cursors are those of another run', async () => {
    const reply = await control().call('GET', '/live?events=999999&requests=999999&within=0')
    assert.ok(reply.events.length > 0 && reply.events_cursor < 999_999)
  })

  test('a call ends the wait, and a daemon that stops does not wait for it', async t => {
    const own = await startDaemon(t, { flags: ['--memory'] })
    const parked = new Control(own).call('GET', '/live?events=0&requests=0&within=60')
    await own.owner.call(users.me, {})
    await parked
    const again = new Control(own).call('GET', '/live?within=600&requests=100000').then(
      () => 'answered',
      error => (error as NodeJS.ErrnoException).code,
    )
    // Fails unless the daemon ends by itself with exit code 0.
    await own.stop()
    // The signal may arrive before the request does.
    assert.ok(['answered', 'ECONNRESET', 'ECONNREFUSED'].includes((await again)!))
  })
})

describe('GET /health', () => {
  test('counts queues, calls and events, and knows the size of a journal on disk only', async t => {
    const kept = await startDaemon(t, { flags: ['--control'] })
    const { health } = await new Control(kept).call('GET', '/health')
    assert.ok(health.journal_bytes > 0 && health.rss > health.heap_used && health.uptime_ms > 0)
    await kept.owner.raw('POST', '/api/v1/register')
    const later = (await new Control(kept).call('GET', '/health')).health
    assert.equal(later.queues, 1)
    assert.equal(later.calls, health.calls + 1)
  })
})

describe('GET /clock/due', () => {
  test('lists scheduled messages, reminders and the expiry of queues, soonest first', async t => {
    const daemon = await startDaemon(t, { flags: ['--memory', '--clock', 'frozen@2030-01-01T00:00:00Z'] })
    const amy = await person(daemon, 'amy')
    const start = Date.parse('2030-01-01T00:00:00Z') / 1000
    const scheduled_delivery_timestamp = start + 3600
    const { id } = await amy.call(messages.send, { type: 'direct', to: [amy.id!], content: 'note' })
    await amy.call(scheduledMessages.create, {
      type: 'direct',
      to: [amy.id!],
      content: 'later',
      scheduled_delivery_timestamp,
    })
    await amy.call(reminders.create, { message_id: id, scheduled_delivery_timestamp: start + 1800 })
    await amy.raw('POST', '/api/v1/register')
    const { due } = await new Control(daemon).call('GET', '/clock/due')
    assert.deepEqual(
      due.map(({ kind, at, user }: any) => [kind, at / 1000 - start, user]),
      [
        ['queue expiry', 600, amy.email],
        ['reminder', 1800, amy.email],
        ['scheduled message', 3600, amy.email],
      ],
    )
    const { due: first } = await new Control(daemon).call('GET', '/clock/due?limit=1')
    assert.equal(first.length, 1)
  })
})

describe('GET /requests/{id}', () => {
  test('has the beginning of the answer, with keys hidden', async t => {
    const daemon = await startDaemon(t, { flags: ['--memory', '--dev-auth'] })
    const control = new Control(daemon)
    const { owner } = daemon
    const headers = { 'Content-Type': 'application/x-www-form-urlencoded' }
    const body = `username=${encodeURIComponent(owner.email!)}`
    const given = await owner.raw('POST', '/api/v1/dev_fetch_api_key', { headers, body })
    assert.equal(given.body.api_key, owner.key)
    await owner.call(users.me, {})
    const { requests } = await control.call('GET', '/requests')
    const shown = await control.call('GET', `/requests/${requests.at(-1).id}`)
    assert.equal(JSON.parse(shown.answer).user_id, owner.id)
    const secret = await control.call('GET', `/requests/${requests[0].id}`)
    assert.ok(!secret.answer.includes(owner.key!), secret.answer)
    assert.equal((await control.try('GET', '/requests/9999')).status, 404)
  })
})

describe('GET /rules', () => {
  test('states every rule in a sentence', async t => {
    const daemon = await startDaemon(t, { flags: ['--memory'] })
    const { rules } = await new Control(daemon).call('GET', '/rules')
    assert.ok(rules.length > 30)
    for (const { name, law } of rules) assert.match(law, /\.$/, name)
  })
})
