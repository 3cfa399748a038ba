// The single executable that `npm run binary` makes, where it has been made: the cookbook runs with it, and without node.

import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { savedSnippets } from '../../daemon/api/messages/saved-snippets.ts'
import { accountAt, exitOf } from '../support/cli.ts'
import { Caller, readReady } from '../support/daemon.ts'
import { root } from '../support/sources.ts'
import { assertLines } from '../support/transcript.ts'
import { until } from '../support/until.ts'

const binary = join(root, 'binary/natter')

describe('the single executable', { skip: !existsSync(binary) && 'run `npm run binary` first' }, () => {
  let home: string
  let env: Record<string, string>

  before(() => {
    home = mkdtempSync(join(tmpdir(), 'natter-binary-'))
    const tools = join(home, 'tools')
    mkdirSync(tools)
    // Everything that the system has, but node.
    for (const folder of ['/usr/bin', '/bin'])
      for (const name of readdirSync(folder))
        if (!/^(node|nodejs|npm|npx|corepack)$/.test(name) && !existsSync(join(tools, name)))
          try {
            symlinkSync(join(folder, name), join(tools, name))
          } catch {
            // A link that leads nowhere has its name taken.
          }
    for (const name of ['natter', 'natterd']) {
      rmSync(join(tools, name), { force: true })
      symlinkSync(binary, join(tools, name))
    }
    env = { PATH: tools, HOME: home, TZ: 'UTC', LANG: 'C.UTF-8' }
  })

  after(() => rmSync(home, { recursive: true, force: true }))

  /** In a home of its own: no profile, no store. */
  function sh(script: string, more: Record<string, string> = {}, files: Record<string, string> = {}) {
    const cwd = mkdtempSync(join(home, 'home-'))
    for (const [name, text] of Object.entries(files)) writeFileSync(join(cwd, name), text)
    const options = { cwd, env: { ...env, HOME: cwd, ...more }, encoding: 'utf8' } as const
    return spawnSync('/bin/sh', ['-e', '-c', `exec 2>&1\n${script}`], options)
  }

  test('runs every recipe of the cookbook, with no node on the PATH', async () => {
    assert.notEqual(sh('command -v node').status, 0)
    const ready = join(home, 'ready.json')
    const daemon = spawn(
      join(env.PATH!, 'natterd'),
      ['--memory', '--port', '0', '--no-profile', '--ready-file', ready],
      {
        env,
        stdio: 'ignore',
      },
    )
    try {
      await until(() => existsSync(ready))
      const { url, owner } = readReady(ready)
      const caller = new Caller(url, owner.email, owner.api_key, owner.user_id)
      assert.match(await (await fetch(`${url}/`)).text(), /<html/, 'the inspector is inside')
      const page = readFileSync(join(root, 'docs/cookbook.md'), 'utf8')
      for (const [, title, script, printed] of page.matchAll(
        /^## (\d+\. .*?)\n.*?^```sh\n(.*?)^```\n\n^```text\n(.*?)^```$/gms,
      )) {
        const { stdout, status } = sh(script!, accountAt(url, owner.email, owner.api_key))
        assert.equal(status, 0, `${title}: ${stdout}`)
        assertLines(stdout.trimEnd().split('\n'), printed!.trimEnd().split('\n'), title!)
        // Recipes are read one by one, so none may rely on another's traces.
        const { saved_snippets } = await caller.call(savedSnippets.list, {})
        for (const { id } of saved_snippets) await caller.call(savedSnippets.delete, { saved_snippet_id: id })
      }
    } finally {
      daemon.kill('SIGTERM')
      assert.equal(await exitOf(daemon), 0)
    }
  })

  test('starts a daemon, backs its store up, and runs a bot', () => {
    const handler = 'export default (message: { text: string }) => "heard ".concat(message.text)'
    const { stdout, status } = sh(
      `
      natter daemon start --data store --port 0 --preset dev --control
      natter backup store.tar --data store
      natter store check --data store
      natter bot run echo.ts --as echo-bot --count 1 & bot=$!
      natter wait --listening echo-bot
      natter send --to echo-bot@example.com hello
      wait $bot
      natter daemon stop --data store
      natter restore store.tar --check`,
      {},
      { 'echo.ts': handler },
    )
    assert.equal(status, 0, stdout)
    assert.match(stdout, /Echo Bot: heard hello/)
    assert.match(stdout, /is good/)
  })
})
