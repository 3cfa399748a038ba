// `natter bot run` and `natter bot new`: what a handler gets, and what it can do wrong.

import assert from 'node:assert/strict'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { pathToFileURL } from 'node:url'
import { messages } from '../../daemon/api/messages/messages.ts'
import { botSuite } from '../support/bots.ts'
import { newShell, Watched } from '../support/cli.ts'
import { sharedDaemon } from '../support/daemon.ts'
import { until } from '../support/until.ts'

const clientBundle = pathToFileURL(join(import.meta.dirname, '../../dist/client.mjs')).href

describe('natter bot run', () => {
  const { daemon, shellOf, id, write, say, run, answersTo } = botSuite()

  async function answers(): Promise<string[]> {
    const query = { anchor: 'newest', num_before: 30, apply_markdown: false } as const
    return (await daemon().owner.call(messages.list, query)).messages.map(message => message.content)
  }

  const lines = (bot: Watched) => bot.lines.map(line => JSON.parse(line))

  test('answers with what the function returns, keeps state in the storage, and loads a file again when it is saved', async t => {
    const file = write(
      'echo.ts',
      `interface Counted { count: number }
       export default async (message: { text: string }, bot: any): Promise<string> => {
         const state: Counted = { count: Number(await bot.storage.get('count') ?? 0) + 1 }
         await bot.storage.put('count', String(state.count))
         return \`\${message.text} \${state.count}\`
       }`,
    )
    const bot = await run(t, file, '--json')
    await say('hello')
    await until(async () => (await answers()).includes('hello 1'))
    write('echo.ts', `export default (message, bot) => bot.storage.get('count').then(count => \`newer \${count}\`)`)
    await until(async () => {
      await say('again')
      return (await answers()).some(content => content.startsWith('newer '))
    })
    write('echo.ts', 'export default (')
    await until(async () => {
      await say('again')
      return /echo\.ts cannot be loaded: Unexpected.*; the previous version keeps running/.test(bot.stderr)
    })
    bot.child.kill('SIGTERM')
    assert.equal(await bot.ended, 0)
  })

  test('goes on after an error, and after a function that does not come back', async t => {
    const file = write(
      'wrong.cjs',
      `module.exports = async (message, bot) => {
         if (message.text === 'refused') await bot.request('GET', '/messages/999999')
         if (message.text === 'throw') throw new Error('it broke')
         if (message.text === 'wait') return new Promise(() => {})
         if (message.text === 'spin') for (;;);
         return 'fine'
       }`,
    )
    const bot = await run(t, file, '--json', '--within', '1s', '--dry-run')
    for (const text of ['throw', 'wait', 'spin', 'refused', 'ok']) await say(text)
    await until(() => lines(bot).some(line => line.sent?.params.content === 'fine'))
    const errors = lines(bot)
      .filter(line => line.error)
      .map(line => line.error.reason)
    assert.match(errors[0], /^it broke \(at .*wrong\.cjs/)
    assert.match(errors[1], /^the function did not finish within 1 s; it was ended/)
    assert.match(errors[2], /^the function did not finish within 1 s; it was ended/)
    assert.match(errors[3], /message.* \(at .*wrong\.cjs:2:/)
    assert.equal(errors.length, 4)
  })

  test('reports an error that nothing waits for, whenever it comes, and keeps the variables of the file', async t => {
    const file = write(
      'stray.cjs',
      `let count = 0
       module.exports = async (message, bot) => {
         count++
         if (message.text === 'forgotten') bot.send({ channel: 'nosuch', topic: 't' }, 'x')
         if (message.text === 'later') setTimeout(() => message.nosuch.field, 300)
         if (message.text === 'now') Promise.reject(new Error('floating'))
         return 'count ' + count
       }`,
    )
    const bot = await run(t, file, '--json')
    for (const text of ['forgotten', 'later', 'now']) await say(text)
    const errors = () => lines(bot).filter(line => line.error)
    await until(() => errors().length === 3)
    await say('ok')
    await until(() => lines(bot).some(line => line.sent?.params.content === 'count 4'))
    for (const reason of [
      /no channel "nosuch".* \(at .*stray\.cjs:4:/,
      /reading 'field'.* \(at .*stray\.cjs:5:/,
      /^floating \(at .*stray\.cjs:6:/,
    ])
      assert.ok(
        errors().some(({ error }) => error.conversation === null && reason.test(error.reason)),
        JSON.stringify(errors()),
      )
  })

  test('reports a returned value that is not a text and so sends nothing', async t => {
    const file = write(
      'vain.mjs',
      `export default ({ text }, bot) =>
         text === 'number' ? 42 : text === 'stored' ? bot.storage.put('a', 'b').then(() => 42) : text === 'object' ? { content: 'x' } : text === 'reply' ? bot.reply('done') : false`,
    )
    const lines = await answersTo(t, file, ['number', 'stored', 'object', 'reply', 'false'])
    const errors = lines.flatMap(line => line.error?.reason ?? [])
    assert.deepEqual(errors, [
      'the function returned a number and sent nothing; a reply is a text',
      'the function returned a number and sent nothing; a reply is a text',
      'the function returned an object and sent nothing; a reply is a text',
    ])
  })

  test('throws the error of a refused call as natter/client does, also from a file that imports its class', async t => {
    const file = write(
      'caught.mjs',
      `import { NatterError } from ${JSON.stringify(clientBundle)}
       export default async (message, bot) => {
         const [method, path, params] = JSON.parse(message.text)
         try {
           await bot.request(method, path, params)
         } catch (e) {
           const { name, code, status, kind, parameter, body } = e
           return JSON.stringify({ name, code, status, kind, parameter, msg: body?.msg, message: e.message, same: e instanceof NatterError, stack: e.stack })
         }
       }`,
    )
    const calls = ['["GET", "/messages/999999"]', '["get", "users/me"]', '["POST", "/api/v1/messages", {}]']
    const lines = await answersTo(t, file, calls, '--dry-run')
    const [refused, ...wrong] = lines.flatMap(({ sent }) => (sent ? [JSON.parse(sent.params.content)] : []))
    const { stack, ...fields } = refused
    const msg = 'message_id: there is no message with ID 999999'
    const told = { name: 'NatterError', code: 'BAD_REQUEST', status: 400, kind: 'not-found', parameter: 'message_id' }
    assert.deepEqual(fields, { ...told, msg, message: msg, same: true })
    assert.match(stack, /^NatterError: .*\n {2}asked: GET \/messages\/999999\n {2}answered: 400 .*caught\.mjs:5:/s)
    for (const { name, message } of wrong)
      assert.match(
        `${name}: ${message}`,
        /^TypeError: path: write "\/users\/me", with a slash .* without \/api\/v1, not "/,
      )
    assert.equal(wrong.length, 2)
  })

  test('prints what the function prints on stderr, so that stdout has the transcript only', async t => {
    const file = write('loud.mjs', `export default ({ text }) => { console.log('log', text); return 'said' }`)
    const bot = await run(t, file, '--json', '--count', '1')
    await say('hi')
    assert.equal(await bot.ended, 0)
    assert.deepEqual(
      lines(bot).map(line => Object.keys(line)[0]),
      ['received', 'sent'],
    )
    assert.match(bot.stderr, /^log hi$/m)
  })

  test('stops a function that sends without end for one message', async t => {
    const file = write(
      'flood.mjs',
      `export default async (message, bot) => { for (;;) await bot.send({ to: [message.sender_id] }, 'more') }`,
    )
    const lines = await answersTo(t, file, ['go'], '--dry-run')
    assert.equal(lines.filter(line => line.sent).length, 100)
    assert.match(lines.at(-1).error.reason, /sent more than 100 messages for one/)
  })

  test('says to which conversation it sent a message', async t => {
    const file = write(
      'elsewhere.mjs',
      `export default async (message, bot) => {
         await bot.send({ channel: 'general', topic: 'bot' }, 'in a channel')
         await bot.send({ to: [bot.me.userId] }, 'to itself')
         return 'here'
       }`,
    )
    const lines = await answersTo(t, file, ['go'])
    assert.deepEqual(
      lines.flatMap(({ sent }) => (sent ? [[sent.conversation, sent.params.content]] : [])),
      [
        ['#general > bot', 'in a channel'],
        [`@ id:${id()}`, 'to itself'],
        ['@ Olive Owner', 'here'],
      ],
    )
  })

  test('says that the account is that of a person', async t => {
    const file = write('person.cjs', 'module.exports = () => "here"')
    const person = new Watched(t, shellOf(t).spawn(['bot', 'run', file, '--as', 'amy']))
    await person.said(/is a person; --as NAME or --profile NAME runs it as a bot.*listens at/s)
    const bot = await run(t, file)
    assert.doesNotMatch(bot.stderr, /is a person/)
  })

  test('with --dry-run sends nothing and prints a transcript', async t => {
    const file = write('dry.js', 'module.exports = ({ text }, bot) => bot.react("tada").then(() => "dry " + text)')
    const bot = await run(t, file, '--dry-run', '--count', '1')
    assert.match(bot.stderr, /Echo Bot listens at .*; nothing is sent/)
    await say('run')
    assert.equal(await bot.ended, 0)
    assert.match(bot.lines[0]!, /^@ Olive Owner {2}Olive Owner: run$/)
    assert.match(bot.lines[1]!, /Echo Bot: POST \/messages\/\d+\/reactions \{"emoji_name":"tada"\} {2}\(not sent\)$/)
    assert.match(bot.lines[2]!, /Echo Bot: dry run {2}\(not sent\)$/)
    assert.ok(!(await answers()).includes('dry run'))
  })

  test('refuses a file without a handler, and an account that does not exist', async t => {
    const shell = shellOf(t)
    const fails = async (code: number, words: RegExp, ...args: string[]) => {
      const outcome = await shell.run(['bot', 'run', ...args])
      assert.equal(outcome.code, code, outcome.stderr)
      assert.match(outcome.stderr, words)
    }
    await fails(2, /there is no file nothing\.ts/, 'nothing.ts', '--as', 'echo-bot')
    await fails(
      2,
      /its name must end in \.ts, \.mts, \.cts, \.js, \.mjs or \.cjs/,
      write('a.py', ''),
      '--as',
      'echo-bot',
    )
    await fails(
      2,
      /class\.ts has a class as its default export; export a f/,
      write('class.ts', 'export default class A {}'),
      '--as',
      'echo-bot',
    )
    await fails(2, /has no function as its default export/, write('b.js', 'exports.x = 1'), '--as', 'echo-bot')
    await fails(2, /cannot be loaded: /, write('c.ts', 'export default ('), '--as', 'echo-bot')
    await fails(2, /--within: "soon" is not a duration/, write('d.js', ''), '--as', 'echo-bot', '--within', 'soon')
    await fails(3, /nobody/i, write('d.js', 'module.exports = () => 1'), '--as', 'nobody-here')
  })
})

describe('natter bot new', () => {
  test('writes a handler and a test, and replaces nothing', async t => {
    const shell = newShell(t)
    const made = await shell.run(['bot', 'new', 'greeter'])
    assert.equal(made.code, 0, made.stderr)
    const steps = ['natter daemon start --memory --preset dev --port 0', 'natter bot run greeter.ts --as echo-bot']
    assert.deepEqual(made.stdout.split('\n'), [...steps, "natter send echo-bot 'Hello'", ''])
    const written = readFileSync(join(shell.home, 'greeter.test.ts'), 'utf8')
    assert.match(written, /natter\.runBot\(handle/)
    // A bot that runs keeps the process alive, also after a failed assertion.
    assert.match(written, /t\.after\(\(\) => natter\.stop\(\)\)/)
    const again = await shell.run(['bot', 'new', 'greeter'])
    assert.equal(again.code, 2)
    assert.match(again.stderr, /greeter\.ts exists/)
    assert.equal((await shell.run(['bot', 'new', '../up'])).code, 2)
    // A name that Node 20 can import wherever it is.
    assert.equal((await shell.run(['bot', 'new', 'script', '--js'])).code, 0)
    assert.match(readFileSync(join(shell.home, 'script.test.mjs'), 'utf8'), /from '\.\/script\.mjs'/)
  })

  test('in a CommonJS project, as npm init makes it, Node takes the files for modules', async t => {
    const shell = newShell(t, { npm_command: 'exec' })
    writeFileSync(join(shell.home, 'package.json'), '{ "type": "commonjs" }')
    mkdirSync(join(shell.home, 'bots'))
    const made = await shell.run(['bot', 'new', 'greeter'], { cwd: join(shell.home, 'bots') })
    assert.match(made.stdout, /^npx natter bot run greeter\.mts --as echo-bot$/m)
    const misnamed = await shell.run(['bot', 'run', 'greeter.ts'], { cwd: join(shell.home, 'bots') })
    assert.equal(misnamed.code, 2)
    assert.match(misnamed.stderr, /there is no file greeter\.ts\n {2}Did you mean greeter\.mts\?/)
    assert.match(readFileSync(join(shell.home, 'bots/greeter.test.mts'), 'utf8'), /from '\.\/greeter\.mts'/)
  })
})

describe('natter bot new beside a daemon without that bot', () => {
  test('says how to start another one, and that works', async t => {
    const shell = newShell(t)
    try {
      const started = await shell.run(['daemon', 'start', '--memory', '--port', '0'])
      assert.equal(started.code, 0, started.stderr)
      const [line] = (await shell.run(['bot', 'new', 'greeter'])).stdout.split('\n')
      assert.equal(line, 'natter daemon start --memory --preset dev --port 0')
      const second = await shell.run(line!.split(' ').slice(1))
      assert.equal(second.code, 0, second.stderr)
      const asBot = await shell.run(['whoami', '--as', 'echo-bot', '--fields', 'email'])
      assert.equal(asBot.stdout, 'echo-bot@example.com\n', asBot.stderr)
    } finally {
      await shell.run(['daemon', 'stop'])
      await shell.run(['daemon', 'stop'])
    }
  })
})

describe('natter bot new with a daemon', () => {
  const daemon = sharedDaemon({ flags: ['--memory', '--preset', 'dev'] })

  test('does not say to start one', async t => {
    const env = { NATTER_SITE: daemon().url, NATTER_CONTROL_TOKEN: daemon().ready.control_token! }
    const { stdout } = await newShell(t, env).run(['bot', 'new', 'greeter'])
    assert.equal(stdout.split('\n')[0], 'natter bot run greeter.ts --as echo-bot')
  })
})
