// Every exit code in `natter help exit-codes`, provoked in every documented way, with and without --json.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { exitCodes, refusal } from '../../cli/base/failure.ts'
import { accountAt, exitOf, fakeServer, json, newShell, type Shell, Watched } from '../support/cli.ts'
import type { TestDaemon } from '../support/daemon.ts'
import { sharedDaemon } from '../support/daemon.ts'
import { person } from '../support/world.ts'

const daemon = sharedDaemon()

interface Case {
  readonly code: number
  /** As in the help, or a case of it. */
  readonly what: string
  run(t: TestContext, daemon: TestDaemon, natter: Natter): Promise<number | null>
}

/** Runs it in one of the ways. */
type Natter = (shell: Shell, args: readonly string[]) => Promise<number | null>

const inProcess: Natter = async (shell, args) => (await shell.run(args)).code
/** Shows that the code arrives: once for each code, since all of them leave in the same way. */
const alone: Natter = async (shell, args) => (await shell.natter(args)).code
const withJson: Natter = async (shell, args) => {
  const end = args.includes('--') ? args.indexOf('--') : args.length
  return (await shell.run(args.toSpliced(end, 0, '--json'))).code
}
const flagsOf = (natter: Natter) => (natter === withJson ? ['--json'] : [])

const words =
  (...args: string[]): Case['run'] =>
  (t, daemon, natter) =>
    natter(owner(t, daemon), args)

const cases: readonly Case[] = [
  { code: 0, what: 'done', run: words('users', 'me') },
  {
    code: 0,
    what: 'the reader of the output went away',
    run: (t, daemon, natter) => firstOfPipe(owner(t, daemon), ['commands', ...flagsOf(natter)]),
  },
  { code: 1, what: 'refused by the API', run: words('api', 'POST', '/messages', '-f', 'type=channel') },
  { code: 1, what: 'failed in another way', run: words('tail', '--cursor', '/dev/null/place') },
  { code: 2, what: 'an unknown subcommand', run: words('chanels', 'list') },
  { code: 2, what: 'an unknown flag', run: words('channels', 'list', '--colour', 'red') },
  { code: 2, what: 'a value that does not fit', run: words('messages', 'show', 'first') },
  { code: 3, what: 'not found: a thing', run: words('snippets', 'delete', '999999') },
  { code: 3, what: 'not found: a message', run: words('messages', 'show', '999999') },
  { code: 3, what: 'not found: a name', run: words('channels', 'show', 'nowhere') },
  { code: 3, what: 'not found: a daemon that does not run', run: words('daemon', 'status') },
  {
    code: 4,
    what: 'not authenticated',
    run: (t, { url, ready }, natter) =>
      natter(newShell(t, accountAt(url, ready.owner.email, 'x'.repeat(32))), ['users', 'me']),
  },
  {
    code: 4,
    what: 'not permitted',
    async run(t, daemon, natter) {
      const amy = await person(daemon, `amy-${natter.name.toLowerCase()}`)
      const shell = newShell(t, accountAt(daemon.url, amy.email!, amy.key!))
      return natter(shell, ['linkifiers', 'add', '#(?P<id>[0-9]+)', 'https://example.com/{id}'])
    },
  },
  {
    code: 6,
    what: 'the daemon cannot be reached',
    run: (t, _, natter) => natter(newShell(t, accountAt('http://127.0.0.1:1')), ['users', 'me']),
  },
  {
    code: 7,
    what: 'rate limited',
    async run(t, _, natter) {
      let calls = 0
      const url = await fakeServer(t, (_, response) => {
        calls++
        const body = { result: 'error', msg: 'slow down', code: 'RATE_LIMIT_HIT', 'retry-after': 0.01 }
        json(response, body, 429, { 'Retry-After': '0.01' })
      })
      const code = await natter(newShell(t, accountAt(url)), ['users', 'me', '--retry', '2'])
      assert.equal(calls, 3)
      return code
    },
  },
  {
    code: 8,
    what: 'timed out',
    async run(t, _, natter) {
      const url = await fakeServer(t, () => {})
      return natter(newShell(t, accountAt(url)), ['users', 'me', '--timeout', '200ms'])
    },
  },
  { code: 8, what: 'wait: a condition was not met', run: words('wait', '--match', 'never', '--within', '200ms') },
  { code: 8, what: 'tail: a condition was not met', run: words('tail', '--count', '1', '--within', '200ms') },
  { code: 126, what: 'exec: the command cannot be run', run: words('exec', '--', '/') },
  { code: 127, what: 'exec: there is no such command', run: words('exec', '--', 'no-such-command') },
  { code: 129, what: 'tail: the terminal was closed (SIGHUP)', run: signalled('SIGHUP') },
  { code: 130, what: 'interrupted (Ctrl-C)', run: signalled('SIGINT') },
  { code: 143, what: 'terminated (SIGTERM)', run: signalled('SIGTERM') },
]

describe('exit codes', () => {
  test('every documented code has a case, and every code is documented', async t => {
    const { stdout } = await newShell(t).run(['help', 'exit-codes'])
    const documented = [...stdout.matchAll(/^ {2}(\d+) {2,}/gm)].map(([, code]) => Number(code))
    assert.deepEqual([...new Set(cases.map(({ code }) => code))], documented)
    assert.deepEqual(Object.values(exitCodes), documented)
  })

  for (const [index, { code, what, run }] of cases.entries())
    test(`${code}: ${what}`, async t => {
      const isFirst = cases.findIndex(one => one.code === code) === index
      assert.equal(await run(t, daemon(), isFirst ? alone : inProcess), code)
      assert.equal(await run(t, daemon(), withJson), code, 'with --json')
    })

  test('exec ends with the code of the command it ran', async t => {
    assert.equal((await newShell(t).natter(['exec', '--', 'sh', '-c', 'exit 9'])).code, 9)
  })

  test('exec fails without the snapshot of --snapshot-on-exit, and refuses a place where none can be', async t => {
    const shell = newShell(t)
    const exec = (file: string, script: string) =>
      shell.run(['exec', '--quiet', '--snapshot-on-exit', file, '--', 'sh', '-c', script])
    const lost = await exec('kept/world.json', 'rm -r kept')
    assert.equal(lost.code, 1, lost.stderr)
    assert.match(lost.stderr, /the snapshot .*world\.json could not be written/)
    assert.equal((await exec('kept/world.json', 'rm -r kept; exit 9')).code, 9)
    const refused = await exec('/proc/world.json', 'touch ran')
    assert.notEqual(refused.code, 0)
    assert.match(refused.stderr, /the snapshot \/proc\/world\.json cannot be written/)
    assert.ok(!existsSync(join(shell.home, 'ran')))
    assert.equal((await exec('kept/world.json', 'true')).code, 0)
    assert.ok(existsSync(join(shell.home, 'kept/world.json')))
  })

  test('with --json an error is one line of JSON on stderr', async t => {
    const shell = owner(t, daemon())
    for (const [args, exit] of [
      [['snippets', 'delete', '999999'], 3],
      [['channels', 'list', '--colour', 'red'], 2],
      [['chanels'], 2],
    ] as const) {
      const { stdout, stderr } = await shell.run([...args, '--json'])
      const { error } = JSON.parse(stderr)
      assert.deepEqual([stdout, error.exit, typeof error.msg, typeof error.code], ['', exit, 'string', 'string'])
    }
  })
})

test('without the header Natter-Refusal, exit codes follow status and code', () => {
  const cases = [
    [400, 'BAD_REQUEST', 1],
    [404, 'BAD_REQUEST', 3],
    [400, 'STREAM_DOES_NOT_EXIST', 3],
    [400, 'BAD_EVENT_QUEUE_ID', 3],
    [401, 'INVALID_API_KEY', 4],
    [400, 'UNAUTHORIZED_PRINCIPAL', 4],
    [403, 'X', 4],
    [429, 'RATE_LIMIT_HIT', 7],
    [500, 'INTERNAL_ERROR', 1],
    [502, 'HTTP_502', 6],
  ] as const
  for (const [http, code, exit] of cases) assert.equal(refusal(http, { code }).exit, exit, `${http} ${code}`)
})

test('the header Natter-Refusal decides the exit code, unless its kind is unknown', () => {
  const body = { code: 'BAD_REQUEST', msg: 'there is no such thing' }
  const exit = (kind: string) => refusal(400, body, ['x', 'y', 'natter-refusal', kind]).exit
  const kinds = ['invalid', 'conflict', 'not-found', 'forbidden', 'unauthenticated', 'rate-limited', 'unavailable']
  assert.deepEqual(kinds.map(exit), [1, 1, 3, 4, 4, 7, 6])
  assert.deepEqual(['defect', 'constructor', ''].map(exit), [1, 1, 1])
})

function owner(t: TestContext, { url, ready }: TestDaemon): Shell {
  return newShell(t, accountAt(url, ready.owner.email, ready.owner.api_key))
}

function signalled(signal: 'SIGHUP' | 'SIGINT' | 'SIGTERM'): Case['run'] {
  return async (t, daemon, natter) => {
    const tail = new Watched(t, owner(t, daemon).spawn(['tail', ...flagsOf(natter)]))
    await tail.said(/ready/)
    tail.child.kill(signal)
    return tail.ended
  }
}

/** The code of the first program of `natter … | head -1`. */
async function firstOfPipe(shell: Shell, args: readonly string[]): Promise<number> {
  const script = `"$0" "$@" | head -1 >/dev/null; exit "\${PIPESTATUS[0]}"`
  const natter = join(import.meta.dirname, '../../bin/natter')
  const env = { PATH: process.env.PATH, HOME: shell.home, ...shell.env }
  return (await exitOf(execFile('bash', ['-c', script, process.execPath, natter, ...args], { env }))) ?? -1
}
