// The logs of a daemon, one line per entry: `natter requests`, `natter events`, and both with --follow.

import assert from 'node:assert/strict'
import { before, describe, test } from 'node:test'
import { events } from '../../daemon/api/events.ts'
import { messages } from '../../daemon/api/messages/messages.ts'
import { newShell, Watched } from '../support/cli.ts'
import { inProcess } from '../support/cli-in-process.ts'
import { type Caller, sharedDaemon } from '../support/daemon.ts'
import { person } from '../support/world.ts'

describe('the logs of a daemon', () => {
  const daemon = sharedDaemon({ flags: ['--memory'] })
  let env: Record<string, string>
  let amy: Caller

  before(async () => {
    const { owner, control_token } = daemon().ready
    env = {
      NATTER_SITE: daemon().url,
      NATTER_EMAIL: owner.email,
      NATTER_API_KEY: owner.api_key,
      NATTER_CONTROL_TOKEN: control_token!,
    }
    amy = await person(daemon(), 'amy')
  })

  async function natter(...args: string[]): Promise<string> {
    const { code, stdout, stderr } = await inProcess(args, { env })
    assert.equal(code, 0, `natter ${args.join(' ')}: ${stderr}`)
    return stdout
  }

  async function json(...args: string[]) {
    return JSON.parse(await natter(...args, '--json'))
  }

  const say = (content: string) =>
    amy.call(messages.send, { type: 'direct', to: [daemon().ready.owner.user_id], content })

  describe('natter requests', () => {
    test('shows each call on one line within 80 columns, as it was sent', async () => {
      await natter('requests', 'clear')
      await say('x'.repeat(300))
      await amy.raw('GET', '/api/v1/messages?anchor=newest&num_before=2&num_after=0')
      const lines = (await natter('requests')).trimEnd().split('\n')
      assert.equal(lines.length, 2)
      for (const line of lines) assert.ok(line.length <= 80, line)
      assert.match(lines[0]!, /^ *\d+ {2}\d\d:\d\d:\d\d {2}200 {2}amy {2}POST \/messages {2}type=direct to=.*…$/)
      assert.match(lines[1]!, /GET \/messages {2}anchor=newest num_before=2 num_after=0$/)
      // The noun alone means list.
      assert.equal(await natter('requests', 'list'), await natter('requests'))
    })

    test('keeps what was sent apart from what was understood, with the User-Agent and the answer', async () => {
      await natter('requests', 'clear')
      const path = '/api/v1/messages?anchor=oldest&num_before=0&num_after=1'
      await amy.raw('GET', path, { headers: { 'User-Agent': 'my-bot/1.0' } })
      await amy.raw('GET', '/api/v1/nowhere?api_key=abc&x=1', { headers: { 'User-Agent': 'lost/2' } })
      const { requests } = await json('requests', 'list')
      assert.deepEqual(requests[0].sent, { anchor: 'oldest', num_before: '0', num_after: '1' })
      assert.equal(requests[0].user_agent, 'my-bot/1.0')
      assert.equal(requests[0].params.num_after, 1)
      assert.equal(requests[0].params.apply_markdown, true, 'params have the defaults')
      assert.equal(requests[0].answer, undefined)
      // No endpoint took the second call, so only its query is known.
      assert.deepEqual(requests[1].sent, { api_key: '***', x: '1' })
      const full = await natter('requests', '--full', '--limit', '2')
      assert.match(
        full,
        /GET \/api\/v1\/messages {2}200 in [\d.]+ ms\n {2}account +amy@\S+ \(\d+\)\n {2}user agent +my-bot\/1\.0\n/,
      )
      assert.match(full, /\n {2}sent\n {4}anchor +oldest\n/)
      assert.match(full, /\n {2}answer +\{"result":"success"/)
      assert.match(full, /\/nowhere {2}404/)
    })

    test('keeps no more than a bounded part of a call', async () => {
      await natter('requests', 'clear')
      await say('y'.repeat(200_000))
      const { requests } = await json('requests', 'list', '--endpoint', 'send-message', '--full')
      assert.ok(JSON.stringify(requests).length < 100_000)
      assert.match(requests[0].sent.content, /^y+…$/)
    })

    test('with --follow prints calls when they are answered', async t => {
      await natter('requests', 'clear')
      await say('before')
      const shell = newShell(t, env)
      const args = ['requests', '--follow', '--of', 'amy', '--endpoint', 'send-message']
      const watched = new Watched(t, shell.spawn(args))
      await watched.until(1)
      await say('after')
      const lines = await watched.until(2)
      assert.match(lines[0]!, /200 {2}amy {2}POST \/messages .*before/)
      assert.match(lines[1]!, /after/)
      watched.child.kill('SIGINT')
      assert.equal(await watched.ended, 130)

      const asJson = new Watched(t, shell.spawn([...args, '--json', '--limit', '1']))
      assert.equal(JSON.parse((await asJson.until(1))[0]!).sent.content, 'after')
      await say('once more')
      assert.equal(JSON.parse((await asJson.until(2))[1]!).sent.content, 'once more')
    })
  })

  describe('natter events', () => {
    test('shows who received what, by account, type and queue', async () => {
      await natter('events', 'clear')
      const { queue_id } = await amy.call(events.register, { event_types: ['message'], fetch_event_types: [] })
      // Short, so that the line is not cut however large the ID is.
      await say('hi')
      const lines = (await natter('events', '--type', 'message')).trimEnd().split('\n')
      assert.equal(lines.length, 1)
      assert.match(lines[0]!, /^\d+ {2}\d\d:\d\d:\d\d {2}(amy, owner|owner, amy) {2}message {2}@ .+ amy.*: hi$/i)
      assert.ok(lines[0]!.length <= 80, lines[0])
      const { events: told } = await json('events', 'list', '--queue', queue_id)
      assert.equal(told.length, 1)
      assert.deepEqual(told[0].queues, [queue_id])
      assert.deepEqual((await json('events', '--queue', 'none')).events, [])
      assert.ok((await json('events', '--of', 'amy')).events.length > 0)
      const wrong = await inProcess(['events', '--type', 'mesage'], { env })
      assert.equal(wrong.code, 3)
      assert.match(wrong.stderr, /mesage/)
    })

    test('with --follow prints events as they come', async t => {
      await natter('events', 'clear')
      const shell = newShell(t, env)
      const watched = new Watched(t, shell.spawn(['events', '--follow', '--type', 'message', '--ndjson']))
      await say('one')
      await watched.until(1)
      await say('two')
      const contents = (await watched.until(2)).map(line => JSON.parse(line).event.message.content)
      assert.deepEqual(contents, ['one', 'two'])
    })
  })
})
