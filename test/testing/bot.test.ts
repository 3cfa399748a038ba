// A handler in a test: what it is called with, what it throws, and what becomes of it.

import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { type BotHandler, NatterError } from '../../daemon/client/index.ts'
import { explainFailedBot } from '../../daemon/testing/bot.ts'
import { type Natter, startNatter } from '../../daemon/testing/index.ts'
import { until } from '../support/until.ts'

describe('natter.runBot() of natter/testing', () => {
  let natter: Natter

  before(async () => {
    natter = await startNatter()
  })

  after(() => natter.stop())

  const ask = (content: string, to = 'echo-bot') =>
    natter.as('amy').messages.send({ type: 'direct', to: [natter.account(to).userId], content })

  test('runs the same handler in two lines', async () => {
    const handler: BotHandler = (message, bot) => `${bot.me.name} heard ${message.text}`
    const bot = await natter.runBot(handler, { as: 'echo-bot' })
    await ask('you')
    await natter.waitFor({ type: 'message', message: { content: 'Echo Bot heard you' } })
    await natter.as('amy').messages.send({ type: 'channel', to: 'general', topic: 'x', content: '@**Echo Bot** this' })
    await natter.waitFor({ type: 'message', message: { content: 'Echo Bot heard this', subject: 'x' } })
    await bot.stop()
  })

  test('finds in the storage only what was stored, whatever the key', async () => {
    const found: unknown[] = []
    const bot = await natter.runBot(async ({ text }, { storage }) => {
      found.push(await storage.get(text))
      await storage.put(text, 'stored')
      found.push(await storage.get(text))
    })
    const keys = ['constructor', 'toString', '__proto__', 'hasOwnProperty']
    for (const key of keys) await ask(key)
    await until(() => found.length === 2 * keys.length || bot.errors.length > 0)
    await bot.stop()
    assert.deepEqual(
      found,
      keys.flatMap(() => [undefined, 'stored']),
    )
  })

  test('answers what is sent as soon as a reset or a restore has ended', async () => {
    const bot = await natter.runBot(message => `answer to ${message.text}`)
    const answers = async (content: string) => {
      await ask(content)
      await natter.waitFor({ type: 'message', message: { content: `answer to ${content}` } })
    }
    await natter.reset()
    natter.save('before')
    for (const content of ['one', 'two', 'three']) {
      await answers(content)
      await (content === 'two' ? natter.restore('before') : natter.reset())
    }
    await answers('four')
    await bot.stop()
  })

  test('warns of no gap after a reset or a restore of the test, only after that of another program', async t => {
    const gaps: string[] = []
    const note = ({ name, message }: Error) => void (name === 'NatterGap' && gaps.push(message))
    process.on('warning', note)
    t.after(() => process.off('warning', note))
    const bot = await natter.runBot(message => `answer to ${message.text}`)
    const answers = async (content: string) => {
      await ask(content)
      await natter.waitFor({ type: 'message', message: { content: `answer to ${content}` } })
    }
    await answers('one')
    await natter.reset()
    natter.save('before')
    await answers('two')
    await natter.restore('before')
    await answers('three')
    assert.deepEqual(gaps, [])
    const headers = { Authorization: `Bearer ${natter.controlToken}` }
    await fetch(`${natter.url}/control/v1/reset`, { method: 'POST', headers })
    await until(() => gaps.length === 1)
    await natter.waitForListener('echo-bot')
    await answers('four')
    const stream = natter.as('amy').events({ types: ['message'] })
    const read = stream.next()
    await natter.waitForListener('amy')
    await natter.reset()
    await until(() => gaps.length === 2)
    await bot.stop()
    await ask('end of the stream')
    await read
    await stream.return()
  })

  test('reports what the handler threw when it is stopped, and one that takes too long', async () => {
    const handler: BotHandler = message => {
      if (message.text === 'fail') throw new Error('it broke')
      return new Promise(() => {})
    }
    const bot = await natter.runBot(handler, { within: 0.2 })
    await ask('fail')
    await until(() => bot.errors.length === 1)
    const answer = { type: 'message', message: { content: 'an answer' } }
    const missed = () => natter.waitFor(answer, { within: 0.01 }).catch(error => error)
    const { message, cause } = await missed()
    assert.match(message, /^no event matched .*\nThe function of a bot failed: it broke \(at .*bot\.test.*\)$/s)
    assert.equal(cause, bot.errors[0])
    await ask('hang')
    await until(() => bot.errors.length === 2)
    await assert.rejects(bot.stop(), /it broke/)
    assert.doesNotMatch((await missed()).message, /bot failed/)
    assert.match(bot.errors[1]!.message, /did not finish within 0\.2 s/)
  })

  test('keeps the place where the handler threw when the daemon is stopped', async () => {
    const own = await startNatter()
    const handler: BotHandler = function throwing(message) {
      return (message as any).absent.put
    }
    const bot = await own.runBot(handler)
    const ada = own.as('ada')
    await ada.messages.send({ type: 'direct', to: [own.account('echo-bot').userId], content: 'hi' })
    await until(() => bot.errors.length === 1)
    const missed = await own.waitFor({ type: 'message', message: { content: 'no' } }, { within: 0.01 }).catch(e => e)
    assert.match(missed.cause.stack, /at throwing \(.*bot\.test/)
    const error: any = await own.stop().catch((e: unknown) => e)
    assert.equal(bot.errors[0], error)
    assert.match(error.stack, /^TypeError: .*\n\s+at throwing \(.*bot\.test/)
  })

  test('keeps the place where a function for changed() threw', async () => {
    const change = async () => {
      await natter.as('amy').users.me()
      throw new TypeError('mine')
    }
    const error = await natter.changed(change).catch(e => e)
    assert.match(error.stack, /^TypeError: mine\n\s+at change \(.*bot\.test/)
  })

  test('says that the handler has not finished when a wait ends before it', async () => {
    let finish: (() => void) | undefined
    const bot = await natter.runBot(() => new Promise<void>(resolve => (finish = resolve)))
    await ask('slow')
    await until(() => finish !== undefined)
    const missed = natter.waitFor({ type: 'message', message: { content: 'an answer' } }, { within: 0.01 })
    await assert.rejects(missed, /\nThe function of a bot has not finished\.$/)
    finish!()
    await bot.stop()
  })

  test('repeats calls that fail for a while, as natter bot run does, and each happens once', async t => {
    t.after(() => natter.faults.clear())
    const bot = await natter.runBot(
      async (message, { react }) => {
        await react('tada')
        return `re ${message.text}`
      },
      { within: 0.3 },
    )
    natter.forgetRequests()
    natter.faults.add({ kind: 'status', status: 503, endpoint: 'add-reaction', times: 3 })
    natter.faults.add({ kind: 'drop-after-write', endpoint: 'send-message', user: 'echo-bot', times: 1 })
    await ask('away')
    await natter.waitForCall({ endpoint: 'send-message', user: 'echo-bot', fault: null }, { within: '1m' })
    await bot.stop()
    const calls = natter.requests().filter(({ user }) => user === 'echo-bot@example.com')
    const made = calls.map(({ endpoint, fault }) => [endpoint, fault]).filter(([name]) => /^(add|send)/.test(name!))
    const failed = ['add-reaction', 'status']
    const sent = [
      ['send-message', 'drop-after-write'],
      ['send-message', null],
    ]
    assert.deepEqual(made, [failed, failed, failed, ['add-reaction', null], ...sent])
    const { messages } = await natter
      .as('amy')
      .messages.list({ anchor: 'newest', num_before: 10, num_after: 0, apply_markdown: false })
    assert.equal(messages.filter(({ content }) => content === 're away').length, 1)
  })

  test('an error of a refused call has the line of the handler, even if the call was made later', async () => {
    const bot = await natter.runBot(async (_, { react, send }) => {
      await Promise.all([react('tada'), send({ to: [999999] }, 'hi')])
    })
    await ask('both')
    await until(() => bot.errors.length === 1)
    assert.match(
      bot.errors[0]!.stack!,
      /asked: POST \/messages\n {2}answered: 400 .*\n(?: +at .*\n)* +at .*bot\.test\.ts/,
    )
    await assert.rejects(bot.stop())
  })

  test('says what its calls wait for, and gives them up when it is stopped', async t => {
    t.after(() => natter.faults.clear())
    const bot = await natter.runBot(() => 'an answer', { within: 0.2 })
    natter.faults.add({ kind: 'status', status: 503, endpoint: 'send-message', user: 'echo-bot' })
    await ask('away')
    await natter.waitForCall({ endpoint: 'send-message', user: 'echo-bot', status: 503 })
    const answer = { type: 'message', message: { content: 'an answer' } }
    await until(async () => {
      const { message } = await natter.waitFor(answer, { within: 0.01 }).catch(error => error)
      return /\nThe function of a bot has not finished: .*; trying again for up to 300 s\.$/.test(message)
    })
    await assert.rejects(bot.stop(), { status: 503 })
  })

  test('says which message it ignored, and how the field of an event is called', async () => {
    const bot = await natter.runBot(() => 'an answer')
    const { id } = await natter.as('amy').messages.send({ type: 'channel', to: 'general', topic: 'x', content: 'hi' })
    await natter.waitFor({ type: 'message', message: { id } }, { user: 'echo-bot' })
    const wanted = { type: 'message', message: { id, topic: 'x' } }
    const ignored = new RegExp(`The bot ignored message ${id}: it does not mention Echo Bot`)
    // The bot reads the event later than the log has it.
    const missed = await until(async () => {
      const { message } = await natter.waitFor(wanted, { within: 0.01 }).catch(error => error)
      return ignored.test(message) && message
    })
    assert.match(missed, /event\.message\.topic: wanted "x", was absent beside .*subject/)
    assert.match(missed, /\nIn the messages of events, the topic is called `subject`\./)
    await bot.stop()
  })

  test('refuses a destination of the wrong form, and shows the right one', async () => {
    const bot = await natter.runBot((_, { send }) => send('general' as never, 'hi'))
    await ask('say hi')
    await until(() => bot.errors.length === 1)
    await assert.rejects(bot.stop(), /^TypeError: bot\.send: where is \{ channel: 'general', .* not "general"$/)
  })

  test('refuses a module and an object in place of a function and an ID, and says what to give', async () => {
    const module = { default: () => '' } as never
    await assert.rejects(
      natter.runBot(module),
      /^TypeError: runBot: .* Give the `default` of what import\(\) resolves to$/,
    )
    assert.throws(() => natter.why({ message: 1, user: 'bob' } as never), /^TypeError: why: .* such as why\(7, 'bob'\)/)
  })

  test('sends no reply of white space', async () => {
    const bot = await natter.runBot(({ text }) => (text === 'first' ? ' \n' : 'second'))
    await ask('first')
    await ask('last')
    await natter.waitFor({ type: 'message', message: { sender_email: 'echo-bot@example.com', content: 'second' } })
    assert.deepEqual(bot.errors, [])
    await bot.stop()
  })

  test('reports a returned number, as natter bot run does', async () => {
    const bot = await natter.runBot(() => 42)
    await ask('how many')
    await until(() => bot.errors.length === 1)
    await assert.rejects(bot.stop(), /^Error: the function returned a number and sent nothing; a reply is a text$/)
  })

  test('throws the error of a refused call, and says how a path is written', async () => {
    const caught: Error[] = []
    const bot = await natter.runBot(async ({ text }, { request }) => {
      await request('GET', text).catch(error => caught.push(error))
    })
    for (const path of ['/messages/999999', 'users/me', '/api/v1/users/me', '/users/me']) await ask(path)
    await ask('done')
    await until(() => caught.length === 4)
    const { name, code, status } = caught[0] as NatterError
    assert.deepEqual([name, code, status], ['NatterError', 'BAD_REQUEST', 400])
    assert.ok(caught[0] instanceof NatterError)
    assert.match(caught[1]!.message, /^path: write "\/users\/me", .*, not "users\/me"$/)
    assert.match(caught[2]!.message, /^path: write "\/users\/me", .*, not "\/api\/v1\/users\/me"$/)
    assert.match(caught[3]!.message, /, not "done"$/)
    await bot.stop()
  })

  test('calls it for no mention of all, no silent mention, and no edit; with `all`, for every message', async () => {
    const seen: Record<string, string[]> = { own: [], all: [] }
    const bots = [
      await natter.runBot(({ text }) => void seen.own!.push(text), { as: 'echo-bot' }),
      await natter.runBot(({ content }) => void seen.all!.push(content), { as: 'deploy-bot', all: true }),
    ]
    const amy = natter.as('amy')
    const say = (content: string) => amy.messages.send({ type: 'channel', to: 'general', topic: 'x', content })
    const others = ['@**all** hi', '@**topic** hi', '@_**Echo Bot** hi', 'plain']
    for (const content of others) await say(content)
    const { id } = await say('later')
    await amy.messages.update({ message_id: id, content: '@**Echo Bot** later' })
    await say('@**Echo Bot** last')
    await until(() => seen.all!.at(-1) === '@**Echo Bot** last' && seen.own!.length > 0)
    assert.deepEqual(seen, { own: ['last'], all: [...others, 'later', '@**Echo Bot** last'] })
    for (const bot of bots) await bot.stop()
  })

  test('refuses an option that does not exist, and a time that cannot be read', async () => {
    await assert.rejects(
      natter.runBot(() => {}, { whitin: 1 } as never),
      /runBot: .*whitin.*within/s,
    )
    await assert.rejects(
      natter.runBot(() => {}, { within: 'soon' }),
      /^TypeError: within: "soon" is not a time such as 10m/,
    )
    for (const wrong of ['./echo.ts', undefined])
      await assert.rejects(natter.runBot(wrong as never), /^TypeError: runBot: give the function of the bot, .*, not /)
  })

  test('names the line of the handler that made a refused call, not that of the library', () => {
    const lines = ['NatterError: no', '  asked: GET /x', '    at send (/p/node_modules/natter/dist/testing.cjs:1:2)']
    const stack = [...lines, '    at file:///p/bot.mjs:3:4'].join('\n')
    assert.match(explainFailedBot({ name: 'NatterError', message: 'no', stack }), /: no \(at file:.*bot\.mjs:3:4\)$/)
    const late =
      'Error: late\n    at /p/node_modules/natter/dist/testing.cjs:1:2\n    at f (node:internal/event_target:831:20)'
    assert.match(explainFailedBot({ name: 'Error', message: 'late', stack: late }), /failed: late$/)
  })

  test('notices that two bots answer each other without end, and stops them', async () => {
    natter.forgetRequests()
    const first = await natter.runBot(() => 'ping', { as: 'echo-bot' })
    const second = await natter.runBot(() => 'pong', { as: 'deploy-bot' })
    await natter
      .as('deploy-bot')
      .messages.send({ type: 'direct', to: [natter.account('echo-bot').userId], content: 'begin' })
    await until(() => first.errors.length + second.errors.length > 0)
    const stopped = [first, second].find(bot => bot.errors.length > 0)!
    assert.match(stopped.errors[0]!.message, /bots answer each other without end in /)
    await Promise.allSettled([first.stop(), second.stop()])
    const sent = natter.requests().filter(call => call.endpoint === 'send-message').length
    assert.ok(sent < 40, `${sent} messages`)
  })
})
