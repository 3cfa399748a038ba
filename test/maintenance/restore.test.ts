// Restores that cannot be finished: the folder is as it was before.

import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import {
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { isRestoring } from '../../daemon/journal/store-folder.ts'
import { StoreHold } from '../../daemon/journal/store-hold.ts'
import { moveParts, partsIn, replacedFolder } from '../../daemon/journal/store-parts.ts'
import { backupToFile } from '../../daemon/maintenance/backup.ts'
import { openBackup, restoreBackup } from '../../daemon/maintenance/restore.ts'
import { damages } from '../proof/restores/damage.ts'
import { newShell } from '../support/cli.ts'
import { host } from '../support/daemon.ts'
import { serviceUser } from '../support/service-user.ts'
import { until } from '../support/until.ts'

const scratch = mkdtempSync(join(tmpdir(), 'natter-restore-'))
after(() => rmSync(scratch, { recursive: true, force: true }))

test('a restore of a file that is missing makes no folder', async t => {
  const folder = join(scratch, 'new')
  const { code, stderr } = await newShell(t).run(['restore', join(scratch, 'missing.tar'), '--data', folder])
  assert.equal(code, 2, stderr)
  assert.match(stderr, /missing\.tar/)
  assert.ok(!existsSync(folder))
})

test('a refused restore removes the folders that it made, and no others', async t => {
  const [file, parent] = [join(scratch, 'bad.tar'), join(scratch, 'parent')]
  writeFileSync(file, 'not a backup')
  mkdirSync(parent)
  const { code, stderr } = await newShell(t).run(['restore', file, '--data', join(parent, 'deep/store')])
  assert.equal(code, 1, stderr)
  assert.match(stderr, /not a backup/)
  assert.deepEqual(readdirSync(parent), [])
})

test('a restore by root that is refused leaves nothing that keeps the service out of its folder', {
  skip: process.getuid?.() !== 0,
}, async t => {
  const [file, folder] = [join(scratch, 'refused.tar'), join(scratch, 'service')]
  writeFileSync(file, 'not a backup')
  mkdirSync(folder)
  chownSync(folder, serviceUser, serviceUser)
  const { code, stderr } = await newShell(t).run(['restore', file, '--data', folder])
  assert.equal(code, 1, stderr)
  assert.deepEqual(readdirSync(folder), ['lock'])
  assert.equal(statSync(join(folder, 'lock')).uid, serviceUser)
})

test('parts of a store are moved together, or not at all', async () => {
  const [from, to] = [join(scratch, 'from'), join(scratch, 'to')]
  mkdirSync(join(from, 'messages'), { recursive: true })
  for (const name of ['journal.ndjson', 'secret', 'state.json']) writeFileSync(join(from, name), name)
  const before = readdirSync(from)
  mkdirSync(join(to, 'messages/full'), { recursive: true })
  await assert.rejects(moveParts(from, to), /ENOTEMPTY|EEXIST|EPERM/)
  assert.deepEqual(readdirSync(from), before)
  assert.deepEqual(readdirSync(to), ['messages'])
})

test('a restore whose store cannot be moved aside leaves the store as it was, and says why', async t => {
  const [folder, file] = [join(scratch, 'kept'), join(scratch, 'kept.tar')]
  await (await host(folder)).stop()
  assert.equal((await newShell(t).run(['backup', file, '--data', folder])).code, 0)
  const now = new Date()
  writeFileSync(replacedFolder(folder, now), '')
  const before = readdirSync(folder)
  const restoring = restoreBackup(openBackup(file), { folder, replace: true, now })
  await assert.rejects(restoring, /EEXIST.*mkdir/)
  assert.deepEqual(readdirSync(folder), before)
  await (await host(folder)).stop()
})

test('a restore moves nothing while a backup reads the store that it replaces', async t => {
  const [folder, file] = [join(scratch, 'read'), join(scratch, 'read.tar')]
  await (await host(folder)).stop()
  assert.equal((await newShell(t).run(['backup', file, '--data', folder])).code, 0)
  const hold = StoreHold.take(folder)!
  const parts = partsIn(folder)
  const restoring = restoreBackup(openBackup(file), { folder, replace: true, now: new Date() })
  await until(() => readdirSync(folder).some(isRestoring))
  // The other order: a backup that begins now is refused.
  const { code, stderr } = await newShell(t).run(['backup', join(scratch, 'late.tar'), '--data', folder])
  assert.deepEqual([code, /has not ended/.test(stderr)], [1, true], stderr)
  assert.deepEqual(partsIn(folder), parts)
  hold.release()
  const { replaced } = await restoring
  assert.deepEqual(partsIn(replaced!), parts)
})

test('--replace leaves a store alone that has a mount in it', async t => {
  const [folder, file] = [join(scratch, 'store'), join(scratch, 'natter.tar')]
  const daemon = await host(folder, { flags: ['--preset', 'dev'] })
  await daemon.stop()
  const [files, elsewhere] = [join(folder, 'files'), join(scratch, 'elsewhere')]
  for (const made of [files, elsewhere]) mkdirSync(made, { recursive: true })
  const shell = newShell(t)
  assert.equal((await shell.run(['backup', file, '--data', folder])).code, 0)
  const before = readdirSync(folder)
  for (const [mount, sentence] of [
    [['-t', 'tmpfs', 'none'], /files is a mount, which cannot be replaced/],
    // Of the same disk: only the attempt shows it.
    [['--bind', elsewhere], /EBUSY|EXDEV/],
  ] as const) {
    if (spawnSync('mount', [...mount, files]).status !== 0) return t.skip('this user cannot mount anything')
    try {
      const { code, stderr } = await shell.run(['restore', file, '--data', folder, '--replace'])
      assert.equal(code, 1, stderr)
      assert.match(stderr, sentence)
    } finally {
      spawnSync('umount', [files])
    }
    assert.deepEqual(readdirSync(folder), before)
  }
  const { code, stderr } = await shell.run(['restore', file, '--data', folder, '--replace'])
  assert.equal(code, 0, stderr)
})

test('a backup without a snapshot and a journal is refused as damaged, though its checksums fit', async t => {
  const [store, file] = [join(scratch, 'young'), join(scratch, 'young.tar')]
  await (await host(store)).end()
  await backupToFile(file, { folder: store, withoutSecret: false, now: new Date() })
  const { make } = damages.find(({ kind }) => kind === 'forged: no journal')!
  const backup = readFileSync(file)
  writeFileSync(file, await make(backup, backup, Math.random))
  const { code, stderr } = await newShell(t).run(['restore', file, '--check'])
  assert.equal(code, 1, stderr)
  assert.match(stderr, /the backup is damaged: it has neither a snapshot nor a journal/)
})
