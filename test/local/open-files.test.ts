// Files and folders that other users of the machine can use: natterd, `natter doctor` and `natter store check` warn of them.

import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  chownSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { newShell } from '../support/cli.ts'
import { host, launch } from '../support/daemon.ts'

const fixtures = join(import.meta.dirname, '../fixtures/tls')

describe('files that other users can use', { skip: process.platform === 'win32' }, () => {
  let scratch: string
  let data: string

  before(async () => {
    scratch = mkdtempSync(join(tmpdir(), 'natter-open-'))
    data = join(scratch, 'store')
    await (await host(data)).stop()
  })
  after(() => rmSync(scratch, { recursive: true, force: true }))

  const warningsOf = async (folder: string, flags: readonly string[] = [], env: Record<string, string> = {}) => {
    const daemon = await launch(folder, { flags, env })
    await daemon.stop()
    return daemon.stderr.split('\n').filter(line => line.includes('other users'))
  }
  const write = (name: string, mode: number) => {
    const file = join(scratch, name)
    writeFileSync(file, name === 'config.json' ? '{}' : 'a secret that is long enough')
    chmodSync(file, mode)
    return file
  }

  test('make natterd warn at its start, with what to do; private ones do not', async () => {
    assert.deepEqual(await warningsOf(data), [])
    const config = write('config.json', 0o604)
    chmodSync(data, 0o777)
    chmodSync(join(data, 'secret'), 0o640)
    try {
      assert.deepEqual(await warningsOf(data, [], { NATTER_CONFIG: config }), [
        `natterd: warning: other users of this machine can change ${data}; run chmod go-rwx ${data}`,
        `natterd: warning: other users of this machine can read ${data}/secret; run chmod go-rwx ${data}/secret`,
        `natterd: warning: other users of this machine can read ${config}; run chmod go-rwx ${config}`,
      ])
    } finally {
      chmodSync(data, 0o700)
      chmodSync(join(data, 'secret'), 0o600)
    }
  })

  test('that flags name count too: the secret, the key of the certificate', async () => {
    const secret = write('secret', 0o644)
    const key = join(scratch, 'key.pem')
    copyFileSync(join(fixtures, 'good-key.pem'), key)
    chmodSync(key, 0o644)
    const tls = ['--tls-cert', join(fixtures, 'good-cert.pem'), '--tls-key', key]
    const said = await warningsOf(join(scratch, 'other'), ['--secret-file', secret, ...tls])
    assert.deepEqual(
      said.map(line => line.split(' ').at(-1)),
      [secret, key],
    )
  })

  test('are a warning of natter doctor, and a note of natter store check, which finds nothing wrong', async t => {
    const shell = newShell(t, { NATTER_DATA: data })
    chmodSync(data, 0o750)
    try {
      const { stdout } = await shell.run(['doctor', '--json'])
      const found = JSON.parse(stdout).filter(({ what }: { what: string }) => what === 'files')
      const says = `other users of this machine can read ${data}`
      assert.deepEqual(found, [{ what: 'files', state: 'warning', says, todo: `Run chmod go-rwx ${data}` }])
      const checked = await shell.run(['store', 'check', '--json'])
      assert.equal(checked.code, 0)
      assert.deepEqual(JSON.parse(checked.stdout).notes, [`${says}; run chmod go-rwx ${data}`])
    } finally {
      chmodSync(data, 0o700)
    }
  })

  test('that root restores into the folder of a service are named, with the command that hands them over', {
    skip: process.getuid?.() !== 0,
  }, async t => {
    const shell = newShell(t)
    const backup = join(scratch, 'backup.tar')
    const folder = join(scratch, 'service')
    // As systemd has it with DynamicUser.
    mkdirSync(join(scratch, 'private'))
    symlinkSync('private', folder)
    chownSync(folder, 65_534, 65_534)
    assert.equal((await shell.run(['backup', backup, '--data', data])).code, 0)
    const restored = await shell.run(['restore', backup, '--data', folder])
    assert.equal(restored.code, 0, restored.stderr)
    const command = /the restored files belong to root and .* to user 65534: run (chown .*) before/.exec(
      restored.stderr,
    )?.[1]
    assert.ok(command, restored.stderr)
    execFileSync('sh', ['-c', command])
    for (const name of readdirSync(folder)) assert.equal(statSync(join(folder, name)).uid, 65_534, name)
  })
})
