// The single executable that `npm run build && npx tsx binary.ts` makes, where it has been made: the cookbook runs with it, and without node.

import assert from 'node:assert/strict'
import { spawn, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { exitOf } from '../support/cli.ts'
import { readReady } from '../support/daemon.ts'
import { root } from '../support/sources.ts'
import { until } from '../support/until.ts'
import { verifyPage } from '../verify/page.ts'

const binary = join(root, 'binary/natter')

describe('the single executable', {
  skip: !existsSync(binary) && 'run `npm run build && npx tsx binary.ts` first',
}, () => {
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
    const options = { apart: true, timeout: 120_000, natter: [binary], path: env.PATH }
    assert.deepEqual((await verifyPage(join(root, 'docs/cookbook.md'), options)).differences, [])
  })

  test('has the inspector inside', async () => {
    const ready = join(home, 'ready.json')
    const args = ['--memory', '--port', '0', '--no-profile', '--ready-file', ready]
    const daemon = spawn(join(env.PATH!, 'natterd'), args, { env, stdio: 'ignore' })
    try {
      await until(() => existsSync(ready))
      assert.match(await (await fetch(`${readReady(ready).url}/`)).text(), /<html/)
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
