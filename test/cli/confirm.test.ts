// Subcommands that destroy something ask at a terminal, and need --yes elsewhere.

import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { channels } from '../../daemon/api/channels/channels.ts'
import { newShell } from '../support/cli.ts'
import { inProcess } from '../support/cli-in-process.ts'
import { startDaemon, type TestDaemon } from '../support/daemon.ts'
import { terminals } from '../support/terminal.ts'

function environment(home: string, daemon: TestDaemon): Record<string, string> {
  const { email, api_key } = daemon.ready.owner
  const token = daemon.ready.control_token
  return {
    HOME: home,
    NATTER_SITE: daemon.url,
    NATTER_EMAIL: email,
    NATTER_API_KEY: api_key,
    ...(token && { NATTER_CONTROL_TOKEN: token }),
  }
}

describe('a subcommand that destroys something', () => {
  test('needs --yes in a script', async t => {
    const daemon = await startDaemon(t, { flags: ['--control'] })
    const env = environment(newShell(t).home, daemon)
    const natter = (args: readonly string[], input?: string) => inProcess(args, { env, ...(input && { input }) })
    for (const name of ['general', 'attic'])
      await daemon.owner.call(channels.create, { name, subscribers: [daemon.ready.owner.user_id] })
    await natter(['send', '#general>lunch', 'Pizza?'])
    for (const args of [
      ['org', 'deactivate'],
      ['topics', 'delete', '#general>lunch'],
      ['users', 'deactivate-me'],
      ['profile-fields', 'delete', '1'],
      ['snapshot', 'restore', 'before'],
      ['reset'],
    ]) {
      const { code, stderr } = await natter(args)
      assert.equal(code, 2, args.join(' '))
      assert.match(stderr, /\?\n {2}Add --yes/)
    }
    const lines = '{"stream_id":"attic"}\n'
    const archive = ['channels', 'archive', '--batch', '-']
    assert.equal((await natter(archive, lines)).code, 2)
    assert.equal((await natter(['channels', 'show', 'attic'])).code, 0)
    const archived = await natter([...archive, '--yes'], lines)
    assert.equal(archived.code, 0, archived.stderr)
    assert.equal((await natter(['messages', 'delete', '--batch', '-'], '{"message_id":1}\n')).code, 2)
    assert.equal((await natter(['topics', 'delete', '#general>lunch', '--yes'])).code, 0)
    assert.equal((await natter(['reset', '--yes'])).code, 0)
    // Nothing is destroyed by looking.
    assert.equal((await natter(['org', 'deactivate', '--dry-run'])).code, 0)
  })

  test('is listed in the help for scripts, with what it needs', async () => {
    const { stdout } = await inProcess(['help', 'scripts'])
    assert.match(stdout, /^ {2}needs --yes .*topics\s+delete/ms)
    assert.match(stdout, /^ {2}needs nothing .*messages\s+delete.*but\s+--yes\s+for\s+a\s+--batch/ms)
  })

  test('does not ask before a reset of what is only in memory', async t => {
    const daemon = await startDaemon(t, { flags: ['--memory'] })
    const { code } = await inProcess(['reset'], { env: environment(newShell(t).home, daemon) })
    assert.equal(code, 0)
  })

  test('asks at a terminal, and stops at any answer but yes', async t => {
    const open = await terminals()
    if (typeof open === 'string') return t.skip(open)
    const daemon = await startDaemon(t, { flags: ['--control'] })
    const shell = newShell(t, withoutHome(environment('', daemon)))
    const no = open(t, shell, ['reset'])
    await no.shows(/Delete everything that this daemon keeps on disk\? \[y\/N\]/)
    no.type('\r')
    assert.equal(await no.ended, 1)
    assert.match(no.plain, /nothing was changed/)
    const absent = open(t, shell, ['messages', 'delete', '999'])
    assert.equal(await absent.ended, 3)
    assert.match(absent.plain, /^natter: there is no message 999/)
    await daemon.owner.call(channels.create, { name: 'general', subscribers: [daemon.ready.owner.user_id] })
    const id = (await shell.run(['send', '#general>lunch', 'Pizza?'])).stdout.trim()
    // Scripts delete one message without --yes.
    const message = open(t, shell, ['messages', 'delete', id])
    await message.shows(new RegExp(`Delete message ${id}\\? \\[y/N\\]`))
    message.type('\r')
    assert.equal(await message.ended, 1)
    const topic = open(t, shell, ['topics', 'delete', '#general>lunch'])
    await topic.shows(/Delete #general>lunch, 1 message\? \[y\/N\]/)
    topic.type('\r')
    assert.equal(await topic.ended, 1)
    const yes = open(t, shell, ['reset'])
    await yes.shows(/\[y\/N\]/)
    yes.type('y\r')
    assert.equal(await yes.ended, 0)
  })
})

function withoutHome({ HOME: _, ...env }: Record<string, string>): Record<string, string> {
  return env
}
