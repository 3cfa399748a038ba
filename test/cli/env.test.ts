// Acting as other accounts: `--as`, `--ready-file`, `natter env`, `exec --as`, and the subcommands that say who you are.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { saveProfile } from '../../cli/base/profile.ts'
import { newShell } from '../support/cli.ts'
import { inProcess } from '../support/cli-in-process.ts'
import { startDaemon } from '../support/daemon.ts'

describe('--as and --ready-file', () => {
  test('make every subcommand act as any account of a test daemon', async t => {
    const daemon = await startDaemon(t, { flags: ['--memory', '--preset', 'dev'] })
    const { home } = newShell(t)
    const file = join(home, 'ready.json')
    writeFileSync(file, JSON.stringify(daemon.ready))
    const natter = async (args: readonly string[], env: Record<string, string> = {}) =>
      inProcess(args, { env: { HOME: home, ...env } })
    const json = async (args: readonly string[], env: Record<string, string> = {}) => {
      const { code, stdout, stderr } = await natter([...args, '--json'], env)
      assert.equal(code, 0, `${args.join(' ')}: ${stderr}`)
      return JSON.parse(stdout)
    }
    const owner = await json(['whoami', '--ready-file', file])
    assert.equal(owner.email, daemon.ready.owner.email)
    assert.equal(owner.key_from, '--ready-file')
    const { accounts } = await json(['accounts', '--ready-file', file])
    const [amy] = accounts.filter(({ email }: { email: string }) => email.startsWith('amy@'))
    assert.ok(amy, 'the preset has an Amy')
    const environment = { NATTER_SITE: daemon.url, NATTER_CONTROL_TOKEN: daemon.ready.control_token! }
    for (const [args, env] of [
      [['--ready-file', file], {}],
      [[], environment],
      [[], { NATTER_READY_FILE: file }],
    ] as const)
      for (const name of ['amy', amy.email, amy.full_name, `id:${amy.user_id}`])
        assert.equal((await json(['whoami', '--as', name, ...args], env)).email, amy.email)
    assert.equal((await json(['--as', 'amy', 'users', 'me'], environment)).user_id, amy.user_id)
    assert.equal((await json(['api', 'GET', '/users/me', '--as', 'amy'], environment)).user_id, amy.user_id)

    const nobody = await natter(['whoami', '--as', 'nobody-here'], environment)
    assert.equal(nobody.code, 3)
    assert.match(nobody.stderr, /^natter: --as: there is no account "nobody-here"\n/)
    const closed = await natter(['whoami', '--as', 'amy', '--site', daemon.url])
    assert.equal(closed.code, 4)
    assert.match(closed.stderr, /no control token/)
    const both = await natter(['whoami', '--as', 'amy', '--user', 'x@example.com'], environment)
    assert.equal(both.code, 2)
    // A token goes only to the site it was given with.
    const other = await natter(['whoami', '--as', 'amy', '--site', 'http://127.0.0.1:9'], environment)
    assert.equal(other.code, 4)

    const sent = await json(['send', 'bob', 'where is the quarterly report?', '--as', 'amy'], environment)
    const found = await json(['search', 'quarterly', '--as', 'amy'], environment)
    assert.deepEqual(
      found.messages.map(({ id }: { id: number }) => id),
      [sent.id],
    )

    const printed = await natter(['env', file])
    assert.equal(printed.code, 0)
    const shown = spawnSync('sh', ['-c', `${printed.stdout} echo $NATTER_EMAIL $NATTER_USER_ID $NATTER_CONTROL_TOKEN`])
    const { user_id, email } = daemon.ready.owner
    assert.equal(shown.stdout.toString().trim(), `${email} ${user_id} ${daemon.ready.control_token}`)
    const asAmy = await json(['env', file, '--as', 'amy'])
    assert.deepEqual(asAmy.NATTER_API_KEY, amy.api_key)
    assert.equal(asAmy.ZULIP_EMAIL, amy.email)
    assert.equal(asAmy.NATTER_CONTROL_TOKEN, '')

    const nothing = await natter(['env', join(home, 'none.json')])
    assert.equal(nothing.code, 2)
    assert.match(nothing.stderr, /^natter: there is no ready file \S+none\.json\n {2}A daemon writes one: /)

    const added = await natter(['profile', 'add', 'amy', '--as', 'amy', '--ready-file', file])
    assert.equal(added.code, 0, added.stderr)
    assert.equal((await json(['whoami'])).key_from, 'profile amy')
    const out = await natter(['logout'])
    assert.match(out.stderr, /logged out amy@/)
    assert.equal((await natter(['logout'])).code, 3)
  })
})

describe('natter env --as', () => {
  test('leaves a shell without the control token, also that of a profile for the same daemon', async t => {
    const { ready } = await startDaemon(t, { flags: ['--memory', '--preset', 'dev'] })
    const shell = newShell(t)
    const { email, api_key } = ready.owner
    saveProfile('local', { site: ready.url, email, api_key, control_token: ready.control_token! }, { HOME: shell.home })
    const natter = (args: readonly string[], env: Record<string, string> = {}) => shell.run(args, { env })
    const asAmy = JSON.parse((await natter(['env', '--as', 'amy', '--json'])).stdout)
    const whoami = ['whoami', '--fields', 'email']
    assert.equal((await natter(whoami, asAmy)).stdout, 'amy@example.com\n')
    for (const args of [
      [...whoami, '--as', 'bob'],
      ['clock', 'show'],
      ['reset', '--yes'],
    ]) {
      const { code, stderr } = await natter(args, asAmy)
      assert.equal(code, 4, args.join(' '))
      assert.match(stderr, /^natter: no control token: NATTER_CONTROL_TOKEN is empty\n/)
    }
    const named = await natter([...whoami, '--as', 'bob', '--profile', 'local'], asAmy)
    assert.equal(named.stdout, 'bob@example.com\n', named.stderr)
  })
})

describe('natter exec --as', () => {
  test('runs the command as that account, without the control token', async t => {
    const shell = newShell(t, { NATTER_CONTROL_TOKEN: 'of-another-daemon' })
    const print = 'echo $NATTER_EMAIL $ZULIP_EMAIL $NATTER_USER_ID "[$NATTER_CONTROL_TOKEN]" > printed'
    const { code, stderr } = await shell.run(['exec', '--preset', 'dev', '--as', 'bob', '--', 'sh', '-c', print])
    assert.equal(code, 0, stderr)
    assert.match(readFileSync(join(shell.home, 'printed'), 'utf8'), /^(bob@\S+) \1 \d+ \[\]\n$/)
  })

  test('names the accounts if there is no such one, since its daemon has ended', async t => {
    const { code, stderr } = await newShell(t).run(['exec', '--preset', 'dev', '--as', 'nobody-here', '--', 'true'])
    assert.equal(code, 3)
    assert.match(stderr, /there is no account "nobody-here"\n {2}There is owner, ada, .*, deploy-bot\.\n/)
  })
})
