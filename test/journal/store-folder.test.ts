// The folder of a store: made, tried, and refused with advice.

import assert from 'node:assert/strict'
import fs, {
  chmodSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, describe, test } from 'node:test'
import {
  makeFolder,
  prepareFolder,
  refuseHalfRestored,
  restoringName,
  StoreGone,
  StoreUnusable,
} from '../../daemon/journal/store-folder.ts'
import { host } from '../support/daemon.ts'
import { watchDisk } from '../support/watched-disk.ts'

const root = mkdtempSync(join(tmpdir(), 'natter-folder-'))
after(() => rmSync(root, { recursive: true, force: true }))

const newFolder = () => mkdtempSync(join(root, 'store-'))

describe('the folder of a store', () => {
  test('is made with its parents, for its owner alone, and left clean', async () => {
    const folder = join(newFolder(), 'a', 'b')
    await prepareFolder(folder)
    assert.equal(statSync(folder).mode & 0o777, 0o700)
    assert.deepEqual(readdirSync(folder), [])
  })

  test('keeps its mode when it was there', async () => {
    const folder = join(newFolder(), 'mine')
    mkdirSync(folder)
    chmodSync(folder, 0o755)
    await prepareFolder(folder)
    assert.equal(statSync(folder).mode & 0o777, 0o755)
  })

  test('is left clean of what a start that was killed has tried, and nothing else goes', async () => {
    const folder = newFolder()
    for (const name of ['.probe-b2b5a0ad-3a44-4b5e-9d47-0b8f5a9b1c11', '.probe-mine'])
      writeFileSync(join(folder, name), '')
    await Promise.all(Array.from({ length: 20 }, () => prepareFolder(folder)))
    assert.deepEqual(readdirSync(folder), ['.probe-mine'])
  })

  test('a start removes what a crash has left of its small files, and nothing else', async () => {
    const folder = newFolder()
    const left = ['daemon.json', 'ready.json', 'cluster.json', 'clean-stop.json', 'secret'].map(
      name => `${name}.b2b5a0ad-3a44-4b5e-9d47-0b8f5a9b1c11.tmp`,
    )
    for (const name of [...left, 'mine.tmp']) writeFileSync(join(folder, name), '{')
    const daemon = await host(folder)
    await daemon.stop()
    assert.deepEqual(
      readdirSync(folder).filter(name => name.endsWith('.tmp')),
      ['mine.tmp'],
    )
  })

  test('a folder with uploads alone, or of something else, is refused, and its files stay', async () => {
    for (const part of ['files', 'messages', 'outbox']) {
      const folder = newFolder()
      const files = join(folder, part)
      mkdirSync(files)
      writeFileSync(join(files, 'de.json'), 'x')
      writeFileSync(join(folder, 'journal.md'), 'x')
      const said = new RegExp(`it has "${part}" but no journal; choose another folder, or restore a backup`)
      await assert.rejects(host(folder), said)
      assert.deepEqual(readdirSync(files), ['de.json'])
    }
  })

  test('a folder of something else that has files of the same names is refused, and they stay', async () => {
    for (const name of ['daemon.json', 'ready.json', 'state.json']) {
      const file = join(newFolder(), name)
      writeFileSync(file, '{"mine":true}')
      await assert.rejects(host(dirname(file)), new RegExp(`it has "${name}" but no journal`))
      assert.equal(readFileSync(file, 'utf8'), '{"mine":true}')
    }
  })

  test('a folder with a journal of another program is refused, and everything in it stays', async () => {
    const folder = newFolder()
    const mine = ['clean-stop.json', 'daemon.json', 'journal-000000000012.tmp', 'journal.ndjson', 'ready.json']
    for (const name of mine) writeFileSync(join(folder, name), '{"mine":true}\n')
    await assert.rejects(host(folder), /journal\.ndjson, line 1: not the header of a journal/)
    assert.deepEqual(
      readdirSync(folder).filter(name => name !== 'lock'),
      mine,
    )
    for (const name of mine) assert.equal(readFileSync(join(folder, name), 'utf8'), '{"mine":true}\n')
  })

  test('a file in its place or above it is refused with a sentence', async () => {
    const file = join(newFolder(), 'file')
    writeFileSync(file, '')
    for (const path of [file, join(file, 'below')])
      await assert.rejects(prepareFolder(path), error => {
        assert.ok(error instanceof StoreUnusable)
        assert.match(error.message, /file and not a folder; choose another path/)
        return true
      })
  })

  test('a folder that may not be written to is refused with a sentence', {
    skip: process.getuid?.() === 0,
  }, async () => {
    const folder = newFolder()
    chmodSync(folder, 0o500)
    await assert.rejects(prepareFolder(folder), /no permission to write there/)
  })

  test('every reason of the system has its advice', async () => {
    const cases = [
      ['EROFS', /the disk is mounted read-only; choose a path on a writable one, or run with --memory$/],
      ['EACCES', /no permission to write there; change its owner or mode, or choose another path$/],
      ['EPERM', /no permission to write there/],
      ['ENOSPC', /no space is left on the disk; free some, or choose another path$/],
      ['EDQUOT', /no space is left on the disk/],
      ['ENOTDIR', /it is, or lies under, a file and not a folder; choose another path$/],
      ['EEXIST', /it is, or lies under, a file and not a folder/],
      ['EIO', /cannot hold the store: EIO: write/],
    ] as const
    const folder = newFolder()
    for (const [code, advice] of cases)
      await watchDisk(
        folder,
        () =>
          assert.rejects(prepareFolder(folder), error => {
            assert.ok(error instanceof StoreUnusable)
            assert.deepEqual([error.name, error.folder], ['StoreUnusable', folder])
            assert.equal((error.cause as NodeJS.ErrnoException).code, code)
            assert.match(error.message, advice)
            return true
          }),
        call => (call.startsWith('write .probe-') ? code : undefined),
      )
    assert.deepEqual(readdirSync(folder), [])
  })

  test('is tried with a private file that is not empty, because a full disk takes empty ones', async t => {
    const { writeFile } = fs.promises
    const seen: unknown[] = []
    t.after(() => {
      Object.assign(fs.promises, { writeFile })
      syncBuiltinESMExports()
    })
    Object.assign(fs.promises, {
      writeFile: (...args: Parameters<typeof writeFile>) => {
        seen.push(...args.slice(1))
        return writeFile(...args)
      },
    })
    syncBuiltinESMExports()
    await prepareFolder(newFolder())
    assert.deepEqual(seen, ['natter', { flag: 'wx', mode: 0o600 }])
  })

  test('is refused while a restore into it is unfinished', () => {
    refuseHalfRestored('/data', ['state.json', `not-${restoringName()}`, 'restoring-photos'])
    assert.throws(() => refuseHalfRestored('/data', ['state.json', restoringName()]), {
      name: 'StoreUnusable',
      message:
        '/data cannot hold the store: a restore into it was interrupted, or has not ended; if it was interrupted, run `natter restore` again, with --replace',
    })
  })

  test('that is gone has an error of its own', () => {
    const { name, message } = new StoreGone('/data')
    assert.equal(name, 'StoreGone')
    assert.match(message, /^\/data was deleted, moved or replaced while natterd was using it$/)
  })
})

describe('makeFolder', () => {
  test('says whether it made the folder, and makes each for its owner alone', async () => {
    const folder = newFolder()
    assert.equal(await makeFolder(folder), false)
    assert.equal(await makeFolder(join(folder, 'a')), true)
    assert.equal(await makeFolder(join(folder, 'b', 'c', 'd')), true)
    if (process.platform !== 'win32')
      for (const name of ['a', 'b', 'b/c', 'b/c/d'])
        assert.equal(statSync(join(folder, name)).mode & 0o777, 0o700, name)
  })

  test('passes on why it cannot be made', { skip: process.platform === 'win32' }, async () => {
    const file = join(newFolder(), 'file')
    writeFileSync(file, '')
    await assert.rejects(makeFolder(file), { code: 'EEXIST' })
    await assert.rejects(makeFolder(join(file, 'below')), { code: 'ENOTDIR' })
    await assert.rejects(makeFolder(join(file, 'below', 'that')), { code: 'ENOTDIR' })
  })
})
