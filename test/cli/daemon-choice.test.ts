// Which daemon `natter daemon` is about.

import assert from 'node:assert/strict'
import { copyFileSync, mkdirSync, rmSync, symlinkSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { endAt, started } from '../support/background.ts'
import { newShell } from '../support/cli.ts'

test('the daemon of another folder is not stopped, restarted or reloaded by a copy of its daemon.json', async t => {
  const shell = newShell(t)
  const [store, memory] = [join(shell.home, 'store'), join(shell.home, 'memory')]
  const [copy, link] = [join(shell.home, 'copy'), join(shell.home, 'link')]
  t.after(() => [store, memory].forEach(endAt))
  mkdirSync(copy)
  assert.equal((await started(shell, store)).code, 0)
  assert.equal((await started(shell, memory, '--memory')).code, 0)
  for (const folder of [store, memory]) {
    copyFileSync(join(folder, 'daemon.json'), join(copy, 'daemon.json'))
    for (const verb of ['status', 'stop', 'reload', 'restart'])
      assert.equal((await shell.run(['daemon', verb, '--data', copy])).code, 3, `${verb} of a copy of ${folder}`)
    // By another path it is the same folder.
    symlinkSync(folder, link)
    assert.equal((await shell.run(['daemon', 'status', '--data', link])).code, 0)
    rmSync(link)
    assert.equal((await shell.run(['daemon', 'stop', '--data', folder])).code, 0)
  }
})
