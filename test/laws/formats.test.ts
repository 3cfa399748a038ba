// The law of scripts: every subcommand that prints data takes --json, --ndjson, --fields and --jq; every one that sends a request
// takes --dry-run and --curl, and sends nothing then.

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { formatFlags } from '../../cli/base/globals.ts'
import { type Entry, reference } from '../../cli/catalogue/reference.ts'
import { subcommandTable } from '../../cli/command-table.ts'
import { inProcess } from '../support/cli-in-process.ts'
import { freePort } from '../support/free-port.ts'

const entries = await reference(subcommandTable)

/** What these print is for a shell, a person or another program to read, or goes to a file. */
const textOnly: ReadonlySet<string> = new Set([
  'completion',
  'daemon run',
  'daemon logs',
  'exec',
  'snapshot export',
  'bot run',
  'keep',
  // A report for people; the recording and the seed are files.
  'proxy',
  'record',
  'replay',
  'seed dump',
  'seed pull',
])

/** What these do is not one request, or most of it is done on this machine. `tail` and `wait` print the registration, and are tried below. */
const local: ReadonlySet<string> = new Set([
  ...['daemon run', 'daemon start', 'daemon stop', 'daemon restart', 'daemon status', 'daemon logs', 'exec'],
  ...['completion', 'commands', 'doctor', 'env', 'open', 'logout', 'config explain'],
  ...[
    'daemon reload',
    'backup',
    'restore',
    'cluster restore',
    'store check',
    'store stats',
    'bot run',
    'bot new',
    'keep',
  ],
  ...[
    'proxy',
    'record',
    'replay',
    'levels diff',
    'eval',
    'mcp',
    'seed dump',
    'seed pull',
    'trigger',
    'init',
    'snapshot export',
    'spaces use',
    'org export',
    'messages export',
    'uploads download',
  ],
  ...['profile add', 'profile use', 'profile set', 'profile list', 'profile remove', 'profile export'],
])

function takes({ globals, flags }: Entry, name: string): boolean {
  return (globals?.includes(name) ?? true) || flags.some(flag => flag.name === name)
}

describe('every subcommand', () => {
  test('that prints data takes the flags for formats', () => {
    const missing = entries
      .filter(({ name }) => !textOnly.has(name))
      .flatMap(entry => formatFlags.filter(flag => !takes(entry, flag)).map(flag => `${entry.name} --${flag}`))
    assert.deepEqual(missing, [])
  })

  test('that sends a request takes --dry-run and --curl', () => {
    const missing = entries
      .filter(({ name }) => !local.has(name))
      .flatMap(entry => ['dry-run', 'curl'].filter(flag => !takes(entry, flag)).map(flag => `${entry.name} --${flag}`))
    assert.deepEqual(missing, [])
  })

  test('named here as an exception exists', () => {
    const names = entries.map(({ name }) => name)
    assert.deepEqual(
      [...textOnly, ...local].filter(name => !names.includes(name)),
      [],
    )
  })
})

describe('--dry-run of a subcommand', () => {
  /** Words for arguments and required flags that need no lookup. */
  const wordFor = (value: string, name: string) =>
    value.includes('|') ? value.split('|')[0]! : (words[value] ?? words[name] ?? '1')
  const words: Readonly<Record<string, string>> = {
    user: 'id:9',
    channel: 'id:1',
    group: 'id:1',
    folder: 'id:1',
    snippet: 'id:1',
    'profile-field': 'id:1',
    place: 'id:9',
    time: '2030-01-01',
    duration: '1h',
    json: '[]',
    account: 'amy',
    file: join(import.meta.dirname, '../../LICENSE'),
    terms: 'is:starred',
  }

  test('of the control plane prints the request and sends nothing', async () => {
    const NATTER_SITE = `http://127.0.0.1:${await freePort()}`
    const env = { NATTER_SITE, NATTER_CONTROL_TOKEN: 'secret-token' }
    const control = entries.filter(({ route }) => route?.includes('/control/v1'))
    assert.ok(control.length > 20)
    for (const { name, args, flags, route } of control) {
      const given = args.filter(({ required }) => required).map(arg => wordFor(arg.value, arg.name))
      const needed = flags.filter(flag => flag.required).map(flag => `--${flag.name}=${wordFor(flag.value ?? '', '')}`)
      for (const flag of ['--dry-run', '--curl']) {
        const line = [...name.split(' '), ...given, ...needed, flag]
        const { code, stdout, stderr } = await inProcess(line, { env })
        const said = `natter ${line.join(' ')}: ${stderr}${stdout}`
        assert.equal(code, 0, said)
        assert.ok(stdout.includes(NATTER_SITE), said)
        assert.ok(!stdout.includes('secret-token'), said)
        const method = route!.split(' ')[0]!
        if (flag === '--dry-run') assert.ok(stdout.startsWith(`${method} ${NATTER_SITE}/control/v1/`), said)
      }
    }
  })

  test('of tail, wait, whoami, login and ready prints the request and sends nothing', async () => {
    const NATTER_SITE = `http://127.0.0.1:${await freePort()}`
    const env = { NATTER_SITE, NATTER_EMAIL: 'amy@example.com', NATTER_API_KEY: 'key-of-amy' }
    for (const [line, begins] of [
      [['tail'], 'POST'],
      [['wait'], 'POST'],
      [['whoami'], 'GET'],
      [['ready'], 'GET'],
      [['login', NATTER_SITE, 'amy@example.com'], 'POST'],
      [['api', 'GET', '/users'], 'GET'],
      [['search', 'word'], 'GET'],
    ] as const) {
      const { code, stdout, stderr } = await inProcess([...line, '--dry-run'], { env })
      assert.equal(code, 0, stderr)
      assert.ok(stdout.startsWith(`${begins} ${NATTER_SITE}/`), `${line[0]}: ${stdout}`)
      assert.doesNotMatch(stdout, /key-of-amy/)
    }
  })
})
