// A server that answers each poll at once, with nothing new or with too much: no follower asks it all the time, or keeps all of it in memory.
// One that holds its polls is not asked later.

import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { describe, type TestContext, test } from 'node:test'
import { setTimeout as sleep } from 'node:timers/promises'
import type { ChatEvent, Message } from '../../cli/base/chat-event.ts'
import { Places } from '../../cli/commands/follow/tail/places.ts'
import type { Connection } from '../../cli/transport/connection.ts'
import { createClient } from '../../daemon/client/index.ts'
import { runBot } from '../../daemon/testing/bot.ts'
import { accountAt, fakeServer, json, newShell } from '../support/cli.ts'
import { endProcess } from '../support/end-process.ts'
import { overStdio, use } from '../support/mcp.ts'
import { until } from '../support/until.ts'

const message = { id: 1, type: 'private', content: 'old', sender_id: 9, display_recipient: [], flags: [] }

/** What polls are answered with, by their number. None of it is new: the queue begins after event 5, with message 3. */
const answers: Readonly<Record<string, (poll: number) => readonly unknown[]>> = {
  nothing: () => [],
  heartbeats: poll => [{ type: 'heartbeat', id: 5 + poll }],
  'an old event': () => [{ type: 'presence', id: 4 }],
  'one event after the other again': poll => [{ type: 'message', id: 6 + (poll % 2), message }],
}

/** Answers polls with the events, for as long as the poll is held by `hold`. */
async function serve(t: TestContext, events: (poll: number) => readonly unknown[], hold = 0) {
  const asked = { polls: 0, first: 0, last: 0, held: 0 }
  const url = await fakeServer(t, (request, response) => {
    const success = (fields: object) => json(response, { result: 'success', msg: '', ...fields })
    if (request.method === 'GET' && request.url!.includes('/events')) {
      const poll = ++asked.polls
      asked.last = performance.now()
      asked.first ||= asked.last
      held(response, hold, () => {
        asked.held += performance.now() - asked.last
        success({ events: events(poll) })
      })
      return
    }
    success({
      queue_id: 'q',
      last_event_id: 5,
      max_message_id: 3,
      user_id: 1,
      email: 'amy@example.com',
      full_name: 'Amy',
    })
  })
  return { asked, url, shell: newShell(t, accountAt(url)) }
}

type Served = Awaited<ReturnType<typeof serve>>

function held(response: ServerResponse, hold: number, answer: () => void): void {
  if (hold === 0) {
    answer()
    return
  }
  const timer = setTimeout(answer, hold)
  response.on('close', () => clearTimeout(timer))
}

describe('polls that are answered at once', { concurrency: true }, () => {
  for (const [what, events] of Object.entries(answers))
    test(`${what}: followers pause in between`, async t => {
      const served = await Promise.all(['tail', 'bot run', 'runBot'].map(() => serve(t, events)))
      const [tail, bot, library] = served as [Served, Served, Served]
      writeFileSync(join(bot.shell.home, 'bot.mjs'), 'export default () => undefined')
      const children = [tail.shell.spawn(['tail', '--type', 'all']), bot.shell.spawn(['bot', 'run', 'bot.mjs'])]
      for (const child of children) t.after(() => endProcess(child))
      const account = { site: library.url, email: 'amy@example.com', apiKey: 'key' }
      const running = await runBot(account, () => undefined, { all: false, within: 1000 })
      await until(() => served.every(({ asked }) => asked.polls > 1))
      for (const { asked } of served) asked.polls = 0
      await sleep(1500)
      const polls = served.map(({ asked }) => asked.polls)
      await running.stop()
      assert.ok(Math.max(...polls) < 30, `${polls} polls`)
    })

  test('the tool `wait_for_message` of `natter mcp` pauses in between', async t => {
    const { asked, shell } = await serve(t, answers.nothing!)
    const client = await overStdio(t, shell.env)
    await use(client, 'wait_for_message', { timeout_seconds: 2 })
    assert.ok(asked.polls > 1 && asked.polls < 30, `${asked.polls} polls`)
  })

  test('an event without a number ends `tail` and `bot run`', async t => {
    for (const id of [undefined, null, '7']) {
      const { shell } = await serve(t, () => [{ type: 'presence', id }])
      writeFileSync(join(shell.home, 'bot.mjs'), 'export default () => undefined')
      for (const args of [
        ['tail', '--type', 'all', '--within', '20s'],
        ['bot', 'run', 'bot.mjs'],
      ]) {
        const { code, stdout, stderr } = await shell.run(args)
        assert.equal(code, 1, `${args.join(' ')}: ${stderr}`)
        assert.equal(stdout, '')
        assert.match(stderr, /is not a list of events/)
      }
    }
  })
})

describe('polls that are held', { concurrency: true }, () => {
  // The next poll comes at once, so that an event is not late. The pauses of polls that are not held would take more than this.
  for (const [what, polls, hold, most] of [
    ['nothing', 7, 300, 4000],
    ['heartbeats', 20, 120, 1500],
  ] as const)
    test(`and answered with ${what} are followed by the next without a pause`, async t => {
      const events = (poll: number) => (poll <= polls ? answers[what]!(poll) : [{ type: 'presence', id: 100 }])
      const { asked, shell, url } = await serve(t, events, hold)
      const inBetween = () => Math.round(asked.last - asked.first - asked.held)
      const { code, stderr } = await shell.run(['tail', '--type', 'all', '--count', '1'])
      assert.equal(code, 0, stderr)
      assert.ok(inBetween() < most, `tail: ${inBetween()} ms between ${asked.polls} polls`)
      Object.assign(asked, { polls: 0, first: 0, last: 0, held: 0 })
      for await (const { type } of createClient({ site: url, email: 'amy@example.com', apiKey: 'key' }).events()) {
        assert.equal(type, 'presence')
        break
      }
      assert.ok(inBetween() < most, `events(): ${inBetween()} ms between ${asked.polls} polls`)
    })
})

describe('events that are large', () => {
  test('are not all kept by `tail` until it has a batch for jq', async t => {
    /** More than the heap holds. */
    function* answer() {
      yield '{"result":"success","msg":"","events":['
      const content = 'x'.repeat(1024 * 1024)
      for (let id = 6; id < 126; id++)
        yield `${JSON.stringify({ type: 'message', id, message: { ...message, id, content } })},`
      yield `${JSON.stringify({ type: 'message', id: 126, message: { ...message, id: 126 } })}]}`
    }
    const url = await fakeServer(t, (request, response) => {
      if (request.method === 'GET' && request.url!.includes('/events')) {
        response.writeHead(200, { 'Content-Type': 'application/json' })
        return void pipeline(Readable.from(answer()), response).catch(() => {})
      }
      json(response, { result: 'success', msg: '', queue_id: 'q', last_event_id: 5, max_message_id: 3 })
    })
    const env = { ...accountAt(url), NODE_OPTIONS: '--max-old-space-size=100' }
    const { code, stdout, stderr } = await newShell(t, env).natter(['tail', '--jq', '.message.id', '--count', '121'])
    assert.equal(code, 0, stderr.slice(0, 500))
    assert.match(stdout, /^126$/m)
  })

  test('that were seen are forgotten, the oldest first, where they fill the memory', async () => {
    let asked = 0
    const connection = {
      async call() {
        asked++
        return { message: { ...message, id: 1 } }
      },
    }
    const places = new Places(connection as unknown as Connection)
    for (let id = 1; id <= 10; id++) places.remember({ ...message, id } as unknown as Message, 10 * 1024 * 1024)
    const about = (id: number) => ({ type: 'reaction', message_id: id }) as unknown as ChatEvent
    await places.of(about(10))
    assert.equal(asked, 0)
    await places.of(about(1))
    assert.equal(asked, 1)
  })
})

describe('a server that answers at once', () => {
  test('is not asked all the time by `requests list --follow`', async t => {
    let asked = 0
    const url = await fakeServer(t, (_request, response) => {
      asked++
      json(response, { requests: [], last_id: 7, cursor: 7 })
    })
    const shell = newShell(t, { ...accountAt(url), NATTER_CONTROL_TOKEN: 'token' })
    const child = shell.spawn(['requests', 'list', '--follow'])
    t.after(() => endProcess(child))
    await until(() => asked > 1)
    asked = 0
    await sleep(1500)
    assert.ok(asked < 30, `${asked} calls`)
  })

  test('is not asked all the time by a batch, if it asks to wait for no time', async t => {
    let asked = 0
    const url = await fakeServer(t, (_request, response) => {
      if (++asked <= 10) json(response, { result: 'error', code: 'RATE_LIMIT_HIT' }, 429, { 'Retry-After': '0' })
      else json(response, { result: 'success' })
    })
    const began = performance.now()
    const { code, stderr } = await newShell(t, accountAt(url)).run(['api', '--batch', '-'], {
      input: '{"path":"/users/me"}',
    })
    assert.equal(code, 0, stderr)
    assert.ok(performance.now() - began > 900, `${performance.now() - began} ms`)
  })
})
