// A server that limits replies and asks to wait for an hour: a bot that is stopped gives them up. One that does not answer when a queue is
// deleted: its follower ends all the same.

import assert from 'node:assert/strict'
import { writeFileSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { runBot } from '../../daemon/testing/bot.ts'
import { accountAt, fakeServer, json, newShell, type Shell, Watched } from '../support/cli.ts'
import { FakeChat } from '../support/fake-chat.ts'

describe('a bot that waits until a server takes its reply', { timeout: 120_000 }, () => {
  /** Limits replies, and the deletion of event queues. */
  async function serve(t: TestContext): Promise<{ chat: FakeChat; shell: Shell }> {
    const chat = new FakeChat()
    chat.url = await fakeServer(t, (request, response, body) => {
      const what = `${request.method} ${request.url!.replace('/api/v1', '')}`
      if (what !== 'POST /messages' && !what.startsWith('DELETE /events')) return chat.answer(request, response, body)
      chat.asked.push(what)
      const refused = { result: 'error', code: 'RATE_LIMIT_HIT', msg: 'API usage exceeded rate limit' }
      return json(response, refused, 429, { 'Retry-After': '1e9' })
    })
    const shell = newShell(t, accountAt(chat.url))
    writeFileSync(join(shell.home, 'bot.mjs'), `export default ({ text }, bot) => bot.reply('re ' + text)`)
    return { chat, shell }
  }

  const say = (chat: FakeChat) => chat.say('hello', { type: 'private', display_recipient: [{ id: 8 }, { id: 9 }] })

  for (const { args, ready, code } of [
    { args: ['bot', 'run', 'bot.mjs'], ready: /listens at/, code: 0 },
    { args: ['tail', '--reply', 'echo hello'], ready: /ready/, code: 143 },
  ])
    test(`natter ${args[0]} ends at SIGTERM, and says what it gave up`, async t => {
      const { chat, shell } = await serve(t)
      const bot = new Watched(t, shell.spawn(args))
      await bot.said(ready)
      say(chat)
      await chat.heard('POST /messages', 1)
      bot.child.kill('SIGTERM')
      assert.equal(await bot.ended, code, bot.stderr)
      assert.match(bot.stderr, /(error|natter): .*API usage exceeded rate limit/)
    })

  test('natter bot run ends after --count, also if the function took too long', async t => {
    const { chat, shell } = await serve(t)
    const bot = new Watched(t, shell.spawn(['bot', 'run', 'bot.mjs', '--count', '1', '--within', '1s']))
    await bot.said(/listens at/)
    say(chat)
    assert.equal(await bot.ended, 0, bot.stderr)
    assert.match(bot.stderr, /error: the function did not finish within 1 s; it was ended\n/)
    assert.match(bot.stderr, /error: API usage exceeded rate limit\n/)
  })

  test('runBot() stops, and rejects with the refusal', async t => {
    const { chat } = await serve(t)
    const account = { site: chat.url, email: 'amy@example.com', apiKey: 'key' }
    const bot = await runBot(account, () => 'hello', { all: false, within: 30_000 })
    say(chat)
    await chat.heard('POST /messages', 1)
    await assert.rejects(bot.stop(), { status: 429 })
  })
})

describe('a follower whose queue is not deleted', { timeout: 120_000, concurrency: true }, () => {
  /** How the call that would delete it is answered. */
  const endings: Readonly<Record<string, (response: ServerResponse) => void>> = {
    'not answered': () => {},
    'answered byte by byte': response => {
      const timer = setInterval(() => response.write(' '), 300)
      response.on('close', () => clearInterval(timer))
    },
  }

  for (const [how, end] of Object.entries(endings))
    for (const { args, ready, code } of [
      { args: ['bot', 'run', 'bot.mjs'], ready: /listens at/, code: 0 },
      { args: ['tail'], ready: /ready/, code: 143 },
    ])
      test(`natter ${args[0]} ends at SIGTERM, if that is ${how}`, async t => {
        const chat = new FakeChat()
        chat.url = await fakeServer(t, (request, response, body) =>
          request.method === 'DELETE' ? end(response) : chat.answer(request, response, body),
        )
        const shell = newShell(t, accountAt(chat.url))
        writeFileSync(join(shell.home, 'bot.mjs'), 'export default () => undefined')
        const follower = new Watched(t, shell.spawn(args))
        await follower.said(ready)
        const late = setTimeout(() => follower.child.kill('SIGKILL'), 20_000)
        follower.child.kill('SIGTERM')
        assert.equal(await follower.ended, code, follower.stderr)
        clearTimeout(late)
      })
})
