// Backups of the folder of a daemon that runs in a cluster. The daemon is a stand-in: only what it says at /readyz matters.

import assert from 'node:assert/strict'
import { cpSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { backupToFile } from '../../daemon/maintenance/backup.ts'
import { fakeServer } from '../support/cli.ts'
import { sharedDaemon } from '../support/daemon.ts'

const daemon = sharedDaemon()

test('the folder of a daemon that does not run, is not ready or does not answer is backed up only with --incomplete', async t => {
  const scratch = mkdtempSync(join(tmpdir(), 'natter-member-'))
  t.after(() => rmSync(scratch, { recursive: true, force: true }))
  const folder = join(scratch, 'store')
  cpSync(daemon().data, folder, { recursive: true })
  let status = 503
  const url = await fakeServer(t, (request, response) => {
    response.writeHead(request.url === '/readyz' ? status : 404).end()
  })
  const runsAt = (url: string) => writeFileSync(join(folder, 'daemon.json'), JSON.stringify({ pid: process.pid, url }))
  const backup = (incomplete = false) =>
    backupToFile(join(scratch, 'natter.tar'), { folder, withoutSecret: false, incomplete, now: new Date() })
  runsAt(url)
  await backup()
  writeFileSync(join(folder, 'cluster.json'), '{"cluster":"x","name":"natter","member":"y"}')
  await assert.rejects(backup(), /the daemon at http\S+ is not ready: .* or add --incomplete/)
  await backup(true)
  rmSync(join(folder, 'daemon.json'))
  await assert.rejects(backup(), /no daemon runs with \S+: .* or add --incomplete/)
  await backup(true)
  runsAt('http://127.0.0.1:1')
  await assert.rejects(backup(), /is not ready/)
  runsAt(url)
  status = 200
  await backup()
})
