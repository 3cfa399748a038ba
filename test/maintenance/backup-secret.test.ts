// Backups of a store whose file `secret` is gone.

import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { newShell } from '../support/cli.ts'
import { startDaemon } from '../support/daemon.ts'

test('a backup notes that the store has no secret, as the check of the backup does, while its daemon runs and after', async t => {
  const scratch = mkdtempSync(join(tmpdir(), 'natter-backup-'))
  t.after(() => rmSync(scratch, { recursive: true, force: true }))
  const natter = (...args: string[]) => newShell(t).run(args)
  const running = await startDaemon(t, { data: join(scratch, 'store') })
  rmSync(join(running.data, 'secret'))
  for (const stop of [false, true]) {
    if (stop) await running.stop()
    const file = join(scratch, `${stop}.tar`)
    const made = await natter('backup', file, '--data', running.data)
    assert.equal(made.code, 0, made.stderr)
    const [noted] = /^note: there is no file 'secret': .*--new-secret.*$/m.exec(made.stderr) ?? [made.stderr]
    const checked = await natter('restore', file, '--check')
    assert.equal(checked.code, 0)
    assert.ok(checked.stderr.includes(noted), checked.stderr)
    const { stdout } = await natter('backup', file, '--data', running.data, '--yes', '--json')
    assert.deepEqual(
      JSON.parse(stdout).notes.map((text: string) => `note: ${text}`),
      [noted],
    )
  }
})
