// Files beside the store: which names are taken, and when a file can be deleted.

import assert from 'node:assert/strict'
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
import { describe, test } from 'node:test'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { KeptFiles } from '../../daemon/http/uploads-in-progress.ts'
import { folderFiles, memoryFiles } from '../../daemon/io/files.ts'

describe('a folder of files', () => {
  test('lists and removes its own files and nothing else, whatever name a row has', async t => {
    const store = mkdtempSync(join(tmpdir(), 'natter-files-'))
    t.after(() => rmSync(store, { recursive: true, force: true }))
    const folder = join(store, 'files')
    mkdirSync(folder)
    const secret = join(store, 'secret')
    const unfinished = 'b2b5a0ad-3a44-4b5e-9d47-0b8f5a9b1c11.tmp'
    writeFileSync(secret, 'kept')
    for (const name of ['a'.repeat(64), unfinished, 'report.txt']) writeFileSync(join(folder, name), 'x')
    const files = folderFiles(folder)
    assert.deepEqual((await files.list()).sort(), ['a'.repeat(64), unfinished].sort())
    for (const name of ['report.txt', '../secret', './../secret', '..', '.', '', secret, 'x/../../secret', '\0'])
      files.remove(name)
    assert.ok(existsSync(secret))
    assert.ok(existsSync(join(folder, 'report.txt')))
    assert.ok(existsSync(join(folder, unfinished)))
    files.remove('a'.repeat(64))
    files.remove(unfinished)
    assert.ok(!existsSync(join(folder, 'a'.repeat(64))))
    assert.ok(!existsSync(join(folder, unfinished)))
  })

  test('has no links in it: they could lead to any file', async t => {
    const folder = mkdtempSync(join(tmpdir(), 'natter-files-'))
    t.after(() => rmSync(folder, { recursive: true, force: true }))
    const name = 'a'.repeat(64)
    writeFileSync(join(folder, 'key'), 'private')
    symlinkSync(join(folder, 'key'), join(folder, name))
    const files = folderFiles(folder)
    assert.deepEqual([await files.read(name), await files.find(name)], [undefined, undefined])
  })

  test('keeps a file that it received no bytes of', async t => {
    const folder = mkdtempSync(join(tmpdir(), 'natter-files-'))
    t.after(() => rmSync(folder, { recursive: true, force: true }))
    for (const files of [folderFiles(folder), memoryFiles()]) {
      const file = files.receive()
      assert.equal((await files.read(await file.keep()))?.length, 0)
      await file.discard()
    }
  })

  test('keeps a file again whose bytes have changed on the disk', async t => {
    const folder = mkdtempSync(join(tmpdir(), 'natter-files-'))
    t.after(() => rmSync(folder, { recursive: true, force: true }))
    const files = folderFiles(folder)
    const name = await files.keep(Buffer.from('the plan'))
    for (const damaged of ['', 'the', 'the plot', 'the plan of mine']) {
      writeFileSync(join(folder, name), damaged)
      assert.equal(await files.keep(Buffer.from('the plan')), name)
      assert.equal(readFileSync(join(folder, name), 'utf8'), 'the plan')
    }
  })

  test('leaves nothing of a file that is discarded while its first bytes are written', async t => {
    const folder = mkdtempSync(join(tmpdir(), 'natter-files-'))
    t.after(() => rmSync(folder, { recursive: true, force: true }))
    const file = folderFiles(folder).receive()
    const writing = file.write(Buffer.from('x')).catch(() => {})
    await file.discard()
    await writing
    assert.deepEqual(readdirSync(folder), [])
  })

  test('gives a fork the files that it is to begin with, and no others, not even later ones', async t => {
    const folder = mkdtempSync(join(tmpdir(), 'natter-files-'))
    t.after(() => rmSync(folder, { recursive: true, force: true }))
    for (const files of [folderFiles(folder), memoryFiles()]) {
      const [first, hidden] = [await files.keep(Buffer.from('first')), await files.keep(Buffer.from('hidden'))]
      const fork = files.fork(new Set([first]))
      const later = await files.keep(Buffer.from('later'))
      assert.equal(String(await fork.read(first)), 'first')
      for (const name of [hidden, later])
        assert.deepEqual([await fork.read(name), await fork.find(name)], [undefined, undefined])
      const second = fork.fork(new Set([first, hidden, later]))
      assert.deepEqual([String(await second.read(first)), await second.read(hidden)], ['first', undefined])
    }
  })

  test('leaves what a call has kept until the call is decided', async t => {
    const folder = mkdtempSync(join(tmpdir(), 'natter-files-'))
    t.after(() => rmSync(folder, { recursive: true, force: true }))
    for (const files of [folderFiles(folder), memoryFiles()]) {
      const kept = new KeptFiles(files.keep, files)
      const first = await kept.keep(Buffer.from('an animation'))
      // The call keeps another file before it refers to the first.
      await kept.keep(Buffer.from('its first picture'))
      await nextTurn()
      assert.equal(files.remove(first), false)
      assert.ok(await files.read(first))
      kept.release()
      assert.equal(files.remove(first), true)
      assert.equal(await files.read(first), undefined)
    }
  })
})
