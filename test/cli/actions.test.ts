// `natter tail --forward-to`, and the queues that `wait` and a failing tail must delete.

import assert from 'node:assert/strict'
import { after, before, describe, type TestContext, test } from 'node:test'
import { BotServer, json } from '../support/bot-server.ts'
import { accountAt, newShell, type Shell, Watched } from '../support/cli.ts'
import { Control } from '../support/control.ts'
import { sharedDaemon } from '../support/daemon.ts'

const daemon = sharedDaemon({ flags: ['--preset', 'dev', '--control'] })
const bot = new BotServer()
before(() => bot.listen())
after(() => bot.close())

function shellFor(t: TestContext): Shell {
  const { url, ready } = daemon()
  return newShell(t, accountAt(url, ready.owner.email, ready.owner.api_key))
}

async function send(shell: Shell, topic: string, text: string): Promise<string> {
  const { code, stdout, stderr } = await shell.run(['send', `#general>${topic}`, text])
  assert.equal(code, 0, stderr)
  return stdout.trim()
}

async function queues(): Promise<number> {
  return (await new Control(daemon()).call('GET', '/queues')).queues.length
}

describe('natter tail --forward-to', () => {
  test('sends the headers, and prints a line for each delivery', async t => {
    const shell = shellFor(t)
    const id = await send(shell, 'forward', 'one')
    const flags = ['--topic', 'forward', '--since', `id:${Number(id) - 1}`, '--count', '2', '--within', '1m']
    const target = ['--forward-to', bot.url, '--forward-header', 'X-Token: abc', '--forward-header', 'x-more:  d: e']
    const tail = new Watched(t, shell.spawn(['tail', ...flags, ...target]))
    await tail.said(/200 POST/)
    bot.answer = json({}, 503)
    const second = await send(shell, 'forward', 'two')
    assert.equal(await tail.ended, 0, tail.stderr)
    bot.answer = json({})
    assert.deepEqual(
      bot.received.map(({ headers, body }) => [headers['x-token'], headers['x-more'], body.message.content]),
      [
        ['abc', 'd: e', 'one'],
        ['abc', 'd: e', 'two'],
      ],
    )
    assert.match(tail.stderr, new RegExp(`^200 POST ${bot.url} message ${id} \\(\\d+ ms\\)$`, 'm'))
    assert.match(tail.stderr, new RegExp(`^natter: ${bot.url} answered 503 to message ${second}$`, 'm'))
  })

  test('refuses text that is not a header, and a header without --forward-to', async t => {
    const shell = shellFor(t)
    for (const [args, message] of [
      [['--forward-to', bot.url, '--forward-header', 'no colon'], /"no colon" is not a header such as/],
      [['--forward-header', 'a: b'], /--forward-header needs --forward-to/],
    ] as const) {
      const { code, stderr } = await shell.run(['tail', ...args])
      assert.equal(code, 2)
      assert.match(stderr, message)
    }
  })
})

describe('an event queue', () => {
  test('is deleted when a tail ends with an error', async t => {
    const shell = shellFor(t)
    const before = await queues()
    const id = await send(shell, 'fails', 'x')
    const flags = ['--since', `id:${Number(id) - 1}`, '--exec', 'exit 3', '--on-error', 'stop']
    const { code } = await shell.run(['tail', ...flags])
    assert.equal(code, 1)
    assert.equal(await queues(), before)
  })

  test('is deleted when a tail or a wait is ended by a signal', async t => {
    const shell = shellFor(t)
    const before = await queues()
    for (const [subcommand, signal, code] of [
      ['tail', 'SIGTERM', 143],
      ['wait', 'SIGINT', 130],
    ] as const) {
      const child = new Watched(t, shell.spawn([subcommand]))
      await child.said(/ready/)
      child.child.kill(signal)
      assert.equal(await child.ended, code, subcommand)
      assert.equal(await queues(), before, subcommand)
    }
  })
})

describe('natter exec', () => {
  test('shows the log of the daemon with --log-level', async t => {
    const shell = newShell(t)
    const command = ['--', 'sh', '-c', 'true']
    const shown = await shell.run(['exec', '--log-level', 'info', ...command])
    assert.equal(shown.code, 0)
    assert.match(shown.stderr, /"level":/)
    assert.equal((await shell.run(['exec', ...command])).stderr, '')
  })
})
