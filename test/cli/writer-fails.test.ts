// Output that cannot be written: a full disk, a reader that has gone, a file that does not exist.

import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { messages } from '../../daemon/api/messages/messages.ts'
import { exitOf, fakeServer, json, newShell } from '../support/cli.ts'
import { sharedDaemon } from '../support/daemon.ts'

const natter = join(import.meta.dirname, '../../bin/natter')

describe('output that cannot be written', () => {
  const daemon = sharedDaemon({ flags: ['--preset', 'dev', '--control'] })

  const shellAt = (t: TestContext) => {
    const { url, control_token, owner } = daemon().ready
    const account = { NATTER_SITE: url, NATTER_EMAIL: owner.email, NATTER_API_KEY: owner.api_key }
    return newShell(t, { ...account, NATTER_CONTROL_TOKEN: control_token! })
  }

  /** Runs natter as `"$0" "$@"` of a script. */
  async function inScript(t: TestContext, script: string, args: readonly string[]) {
    const { home, env } = shellAt(t)
    const surroundings = { PATH: process.env.PATH, HOME: home, ...env }
    const child = execFile('bash', ['-c', script, process.execPath, natter, ...args], { env: surroundings, cwd: home })
    let stderr = ''
    child.stderr!.on('data', text => {
      stderr += text
    })
    return { code: await exitOf(child), stderr, home }
  }

  test('is reported in one line', { skip: !existsSync('/dev/full') }, async t => {
    for (const args of [
      ['users', 'me'],
      ['snapshot', 'print', 'now'],
      ['backup', '-', '--data', daemon().data],
    ]) {
      const { code, stderr } = await inScript(t, '"$0" "$@" > /dev/full', args)
      assert.equal(code, 1, stderr)
      assert.match(stderr, /^natter: .*ENOSPC.*\n$/, args.join(' '))
    }
  })

  test('makes a backup fail whose reader has gone, and the store is not held any longer', async t => {
    const script = `"$0" "$@" | true; exit "\${PIPESTATUS[0]}"`
    const { code, stderr } = await inScript(t, script, ['backup', '-', '--data', daemon().data])
    assert.equal(code, 1, stderr)
    assert.match(stderr, /^natter: .*EPIPE/)
    assert.deepEqual(
      readdirSync(daemon().data).filter(name => name.startsWith('hold-')),
      [],
    )
  })

  test('ends a batch whose reader has gone with an error, and --resume makes the other calls', async t => {
    const lines = 500
    const keys = new Set<unknown>()
    const url = await fakeServer(t, (request, response) => {
      keys.add(request.headers['idempotency-key'])
      json(response, { result: 'success', msg: 'x'.repeat(500) })
    })
    const script = `for ((i = 0; i < ${lines}; i++)); do echo '{"method":"POST","path":"/x"}'; done > lines
      "$0" "$@" | head -1 > /dev/null; echo "\${PIPESTATUS[0]}" >&2; "$0" "$@" > rest`
    const args = ['api', '--batch', 'lines', '--resume', 'done', '--site', url, '--user', 'me', '--api-key', 'x']
    const { code, stderr, home } = await inScript(t, script, args)
    assert.equal(code, 0, stderr)
    assert.match(stderr, /^natter: cannot write the output: EPIPE\n1\n/)
    assert.equal(keys.size, lines)
    assert.ok(readFileSync(join(home, 'rest'), 'utf8').split('\n').length < lines)
  })

  test('leaves the exit code of a subcommand that has ended already', async t => {
    const script = `mkdir store; echo damaged > store/journal.ndjson; "$0" "$@" | true; exit "\${PIPESTATUS[0]}"`
    const { code, stderr } = await inScript(t, script, ['store', 'check', '--data', 'store'])
    assert.match(stderr, /found 1 problem/)
    assert.equal(code, 1)
  })

  test('does not end a proxy: calls are passed on, and the exit code tells', async t => {
    const url = await fakeServer(t, (_request, response) =>
      json(response, { result: 'success', msg: 'x'.repeat(99_999) }),
    )
    const get = 'process.env.NATTER_SITE + "/api/v1/users/me"'
    const client = `(async () => { for (let n = 0; n < 20; n++) if (!(await fetch(${get})).ok) process.exit(9) })()`
    const command = ['proxy', 'talk.ndjson', '--to', url, '--', process.execPath, '-e', client]
    const { code, stderr, home } = await inScript(t, 'ulimit -f 256; "$0" "$@"', command)
    assert.equal(code, 1, stderr)
    assert.match(stderr, /cannot write talk\.ndjson: EFBIG; calls are passed on, but no longer recorded\n/)
    assert.match(stderr, /natter: cannot write talk\.ndjson: EFBIG\n {2}The recording is not complete\.\n$/)
    assert.doesNotMatch(readFileSync(join(home, 'talk.ndjson'), 'utf8'), /"end":/)
  })

  test('makes an export fail in the middle of its last message, and a second run completes it', async t => {
    const content = 'x'.repeat(9000)
    await daemon().owner.call(messages.send, { type: 'channel', to: 'general', topic: 'long', content })
    const script = '(ulimit -f 8; "$0" "$@") && exit 9; "$0" "$@"'
    const args = ['messages', 'export', 'out', '--narrow', 'topic:long', '--skip-files']
    const { code, stderr, home } = await inScript(t, script, args)
    assert.equal(code, 0, stderr)
    assert.match(stderr, /^natter: cannot write out\/messages\.ndjson: EFBIG\nexported 1 message /)
    assert.equal(JSON.parse(readFileSync(join(home, 'out/messages.ndjson'), 'utf8')).content, content)
    const document = await inScript(t, '"$0" "$@" > first; ulimit -f 8; "$0" "$@" --format md', args)
    assert.equal(document.code, 1)
    assert.match(document.stderr, /\nnatter: cannot write out\/messages\.md: EFBIG\n$/)
  })

  test('leaves no file of a project that natter begins, and the next run writes them all', async t => {
    for (const [args, blocks, cause] of [
      [['init', 'agent'], 1, String.raw`\.agents/skills/natter/SKILL\.md`],
      [['init', 'eval'], 1, String.raw`agent\.mjs`],
      [['bot', 'new'], 0, String.raw`echo\.ts`],
    ] as const) {
      const files = `find . -type f`
      const script = `(ulimit -f ${blocks}; "$0" "$@") && exit 9; ${files} >&2; "$0" "$@" > /dev/null && ${files} | wc -l >&2`
      const { code, stderr } = await inScript(t, script, [...args, '--json'])
      assert.equal(code, 0, stderr)
      assert.match(stderr, new RegExp(`^{"error":{.*"cannot write ${cause}: EFBIG".*}}\n[234]\n$`))
    }
  })
})

test('a backup that does not exist is reported in a sentence, with and without --check', async t => {
  const shell = newShell(t)
  for (const flags of [['--data', 'store'], ['--check']]) {
    const { code, stderr } = await shell.run(['restore', 'missing.tar', ...flags])
    assert.equal(code, 2, stderr)
    assert.match(stderr, /^natter: cannot read missing\.tar: ENOENT\n$/)
  }
})
