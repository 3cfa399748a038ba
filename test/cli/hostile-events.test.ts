// A hostile server that is followed: events of any form, in any order, and queues that it loses.

import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { accountAt, fakeServer, json, newShell } from '../support/cli.ts'

describe('a hostile server that `tail` and `bot run` follow', () => {
  /** Answers polls by `poll`, which knows how many queues there were. */
  async function serve(t: TestContext, poll: (queues: number, response: ServerResponse) => unknown) {
    const asked = { queues: 0, polls: 0 }
    const url = await fakeServer(t, (request, response) => {
      if (request.method === 'GET' && request.url!.includes('/events')) {
        asked.polls++
        return poll(asked.queues, response)
      }
      if (request.url!.includes('/register')) asked.queues++
      const me = { user_id: 1, email: 'a@b', full_name: 'A' }
      json(response, { result: 'success', queue_id: 'q', max_message_id: 5, ...me, messages: [] })
    })
    return { asked, shell: newShell(t, accountAt(url)) }
  }

  test('is refused with the name of the call if it does not answer with events', async t => {
    const message = { id: 6, type: 'private', sender_id: 7, content: 'x', display_recipient: [], subject: '' }
    const wrong = [{ content: {} }, { subject: 5 }, { sender_id: '7' }, { display_recipient: [5, null] }, { flags: 5 }]
    const ofWrongTypes = [
      [{ id: 1, type: 'message', message, flags: 5 }],
      ...wrong.map(fields => [{ id: 1, type: 'message', message: { ...message, ...fields }, flags: [] }]),
    ]
    for (const events of [5, [null], [{ id: 1, type: 'message' }], ...ofWrongTypes]) {
      const { shell } = await serve(t, (_queues, response) => json(response, { result: 'success', events }))
      writeFileSync(join(shell.home, 'bot.mjs'), 'export default () => undefined')
      for (const args of [['tail'], ['bot', 'run', 'bot.mjs']]) {
        const { code, stderr } = await shell.run(args)
        assert.equal(code, 1, stderr)
        assert.match(stderr, /the server's answer to GET (\/api\/v1)?\/events is not a list of events/)
      }
    }
  })

  test('is answered by a bot also if its events have no flags', async t => {
    const message = { id: 6, type: 'private', sender_id: 7, content: 'x', display_recipient: [], sender_full_name: 'B' }
    const other = { ...message, id: 7, type: 'stream', display_recipient: 'general' }
    const events = [other, message].map((message, id) => ({ id, type: 'message', message }))
    const { shell } = await serve(t, (_queues, response) => json(response, { result: 'success', events }))
    writeFileSync(join(shell.home, 'bot.mjs'), 'export default () => "hello"')
    const { code, stdout, stderr } = await shell.run(['bot', 'run', 'bot.mjs', '--count', '1'])
    assert.equal(code, 0, stderr)
    assert.match(stdout, /B: x\n.*hello\n$/)
  })

  test('is no server for a bot if it does not say who it is', async t => {
    for (const me of [{}, { user_id: 'x', full_name: 'A' }]) {
      const url = await fakeServer(t, (_request, response) => json(response, { result: 'success', ...me }))
      const shell = newShell(t, accountAt(url))
      writeFileSync(join(shell.home, 'bot.mjs'), 'export default () => undefined')
      const { code, stderr } = await shell.run(['bot', 'run', 'bot.mjs'])
      assert.equal(code, 1, stderr)
      assert.match(stderr, /it is not a chat server: its answer has no user/)
    }
  })

  test('is read without losing or repeating an event, in whatever order it sends them', async t => {
    const message = (id: number, number: number) => ({ id, type: 'message', message: { id: number }, flags: [] })
    const answers = [
      [message(2, 12), message(1, 11), message(1, 11)],
      [message(2, 12), message(4, 14)],
      [message(3, 13)],
    ]
    const { shell } = await serve(t, (_queues, response) =>
      json(response, { result: 'success', events: answers.shift() ?? [] }),
    )
    const { stdout, stderr } = await shell.run(['tail', '--count', '4', '--json', '--within', '20s'])
    const ids = stdout
      .trim()
      .split('\n')
      .map(line => JSON.parse(line).message.id)
    assert.deepEqual(ids, [12, 11, 14, 13], stderr)
  })

  test('is not asked without a pause, whatever it asks for and however many queues it loses', async t => {
    for (const refusal of [{ code: 'BAD_EVENT_QUEUE_ID' }, { code: 'RATE_LIMIT_HIT', status: 429 }]) {
      const { asked, shell } = await serve(t, (_queues, response) => {
        response.setHeader('Retry-After', '99999999')
        json(response, { result: 'error', msg: 'no', code: refusal.code }, refusal.status ?? 400)
      })
      await shell.run(['tail', '--within', '2s'])
      assert.ok(asked.polls > 0 && asked.polls < 20, JSON.stringify({ refusal, asked }))
    }
    let id = 0
    const { asked, shell } = await serve(t, (_queues, response) =>
      json(response, { result: 'success', events: [{ type: 'heartbeat', id: ++id }] }),
    )
    await shell.run(['tail', '--within', '2s'])
    assert.ok(asked.polls > 0 && asked.polls < 40, JSON.stringify({ asked }))
  })
})
