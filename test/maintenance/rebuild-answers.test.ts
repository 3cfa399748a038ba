// Stores whose journal holds answers to requests with an idempotency key: everything that reads a store without a daemon reads them.

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { accountAt, newShell } from '../support/cli.ts'
import { host } from '../support/daemon.ts'

let scratch: string

before(() => {
  scratch = mkdtempSync(join(tmpdir(), 'natter-answers-'))
})

after(() => rmSync(scratch, { recursive: true, force: true }))

describe('a store with remembered answers', () => {
  test('is checked, counted, backed up and restored, and the restored one still knows them', async t => {
    const data = join(scratch, 'data')
    const restored = join(scratch, 'restored')
    const backup = join(scratch, 'backup.tar')
    const daemon = await host(data, { flags: ['--preset', 'dev'] })
    const shell = newShell(t, accountAt(daemon.url, daemon.ready.owner.email, daemon.ready.owner.api_key))
    const run = async (...args: string[]) => {
      const { code, stdout, stderr } = await shell.run(args)
      assert.equal(code, 0, `natter ${args.join(' ')}: ${stdout}${stderr}`)
      return stdout
    }
    const keyed = ['send', '#general>keys', 'once', '--idempotency-key', 'k', '--json']
    const first = await run(...keyed)
    const file = join(shell.home, 'lines.ndjson')
    writeFileSync(file, ['one', 'two'].map(content => `${JSON.stringify({ content })}\n`).join(''))
    await run('send', '#general>keys', '--batch', file, '--resume', join(shell.home, 'resume.json'))
    // Before and after its end: `stop` would compact.
    await run('store', 'check', '--data', data)
    await run('store', 'stats', '--data', data)
    await run('backup', backup, '--data', data)
    await daemon.end()
    await run('store', 'check', '--data', data)
    await run('restore', '--check', backup)
    await run('restore', backup, '--data', restored)
    await run('store', 'check', '--data', restored)
    const again = await host(restored)
    const there = newShell(t, accountAt(again.url, again.ready.owner.email, again.ready.owner.api_key))
    const second = await there.run(keyed)
    assert.equal(second.code, 0, second.stderr)
    assert.equal(JSON.parse(second.stdout).id, JSON.parse(first).id)
    await again.stop()
  })
})
