// The room on the disk that files beside the store leave for the store.

import assert from 'node:assert/strict'
import { mkdtempSync, readdirSync, rmSync, statfsSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { folderFiles } from '../../daemon/io/files.ts'

test('files take no bytes that another journal and another snapshot would need, in pieces or whole', async t => {
  const folder = mkdtempSync(join(tmpdir(), 'natter-room-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const { blocks, bsize } = statfsSync(folder)
  let storeBytes = blocks * bsize
  const files = folderFiles(folder, () => storeBytes)
  const arriving = files.receive()
  await assert.rejects(arriving.write(Buffer.from('x')), { code: 'ENOSPC' })
  await arriving.discard()
  await assert.rejects(files.keep(Buffer.from('x')), { code: 'ENOSPC' })
  assert.deepEqual(readdirSync(folder), [])
  storeBytes = 0
  const kept = await files.keep(Buffer.from('x'))
  assert.deepEqual(readdirSync(folder), [kept])
})

test('the disk is asked again after some MiB, so that files notice that it becomes full', async t => {
  const folder = mkdtempSync(join(tmpdir(), 'natter-room-'))
  t.after(() => rmSync(folder, { recursive: true, force: true }))
  const { blocks, bsize } = statfsSync(folder)
  let storeBytes = 0
  let asked = 0
  const files = folderFiles(folder, () => {
    asked++
    return storeBytes
  })
  const together = [files.receive(), files.receive(), files.receive()]
  t.after(() => Promise.all(together.map(file => file.discard())))
  await Promise.all(together.map(file => file.write(Buffer.alloc(1024))))
  assert.equal(asked, 1)
  storeBytes = blocks * bsize
  await assert.rejects(
    async () => {
      for (let written = 0; written < 8; written++) await together[0]!.write(Buffer.alloc(1024 * 1024))
    },
    { code: 'ENOSPC' },
  )
})
