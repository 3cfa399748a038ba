// A restore that is killed while it moves the old store aside or the backup into its place, and the restore that follows.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import { cpSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { messages } from '../../daemon/api/messages/messages.ts'
import { partsIn } from '../../daemon/journal/store-parts.ts'
import { newShell } from '../support/cli.ts'
import { host } from '../support/daemon.ts'

const scratch = mkdtempSync(join(tmpdir(), 'natter-restore-'))
after(() => rmSync(scratch, { recursive: true, force: true }))

const preload = join(import.meta.dirname, '../support/killed-rename.cjs')
const [old, other, backup] = ['old', 'other', 'natter.tar'].map(name => join(scratch, name)) as [string, string, string]

async function make(folder: string, content: string): Promise<void> {
  const daemon = await host(folder, { flags: ['--preset', 'dev'] })
  await daemon.owner.call(messages.send, { type: 'channel', to: 'general', topic: 't', content })
  await daemon.stop()
}

async function newestMessage(folder: string): Promise<string> {
  const daemon = await host(folder)
  const page = { anchor: 'newest', num_before: 1, apply_markdown: false } as const
  const [newest] = (await daemon.owner.call(messages.list, page)).messages
  await daemon.stop()
  return newest!.content
}

describe('a restore after one that was killed', () => {
  before(async () => {
    await make(old, 'of the old store')
    await make(other, 'of the backup')
  })

  for (const [meanwhile, at] of [
    ['the old store was moved', 'replaced- 2'],
    // The first one marks the store as incomplete.
    ['the backup was moved', 'store 3'],
  ] as const)
    test(`while ${meanwhile} has the whole old store in one folder`, async t => {
      const shell = newShell(t)
      assert.equal((await shell.run(['backup', backup, '--data', other, '--force'])).code, 0)
      const folder = join(mkdtempSync(join(scratch, 'new-')), 'store')
      cpSync(old, folder, { recursive: true, preserveTimestamps: true })
      const parts = partsIn(folder)
      const restore = ['restore', backup, '--data', folder, '--replace']
      const env = { NODE_OPTIONS: `--require ${preload}`, NATTER_TEST_KILLED_AT: at }
      const [, signal] = await once(shell.with(env).spawn(restore), 'close')
      assert.equal(signal, 'SIGKILL')
      const { code, stderr } = await shell.run(restore)
      assert.equal(code, 0, stderr)
      const replaced = readdirSync(folder).filter(name => name.startsWith('replaced'))
      assert.equal(replaced.length, 1, replaced.join())
      assert.match(stderr, new RegExp(replaced[0]!))
      const whole = join(folder, replaced[0]!)
      assert.deepEqual(partsIn(whole), parts)
      assert.equal(await newestMessage(whole), 'of the old store')
      assert.equal(await newestMessage(folder), 'of the backup')
    })
})
