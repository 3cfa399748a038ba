// The journal on disk beyond the contract: whether its file is still there, its descriptors, and failures half-way.

import assert from 'node:assert/strict'
import fs, { mkdirSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { syncBuiltinESMExports } from 'node:module'
import { describe, test } from 'node:test'
import { entryLine } from '../../daemon/journal/segment-format.ts'
import { StoreGone } from '../../daemon/journal/store-folder.ts'
import { type Disk, realDisk } from '../../daemon/local/durable-files.ts'
import { countingDisk } from '../support/counting-disk.ts'
import { collect, newEntry } from '../support/journal-contract.ts'
import { active, newFolder, openFile, texts } from '../support/journal-files.ts'
import { watchDisk } from '../support/watched-disk.ts'

const full = Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' })

describe('FileJournal: a file that is gone', { skip: process.platform === 'win32' }, () => {
  const losses: Record<string, (folder: string) => void> = {
    'the folder is deleted': folder => rmSync(folder, { recursive: true }),
    'the folder is replaced': folder => {
      renameSync(folder, `${folder}-moved`)
      mkdirSync(folder)
      writeFileSync(active(folder), '')
    },
    'the file is replaced': folder => {
      renameSync(active(folder), `${active(folder)}.old`)
      writeFileSync(active(folder), '')
    },
  }
  for (const [name, lose] of Object.entries(losses))
    test(`${name}: every later append, seal and forget is refused with that reason`, async () => {
      const folder = newFolder()
      const journal = await openFile(folder)
      await journal.append(newEntry('a')).durable
      await journal.seal()
      assert.equal(journal.lost(), undefined)
      lose(folder)
      assert.ok(journal.lost() instanceof StoreGone)
      await assert.rejects(journal.forget(1), StoreGone)
      const late = journal.append(newEntry('b'))
      await assert.rejects(journal.seal(), StoreGone)
      await assert.rejects(late.durable, StoreGone)
      assert.ok(journal.failure instanceof StoreGone)
      await journal.close()
    })

  test('a folder that goes away while a segment is sealed fails the seal', async () => {
    const folder = newFolder()
    await watchDisk(
      folder,
      async () => {
        const journal = await openFile(folder)
        await journal.append(newEntry('a')).durable
        await assert.rejects(journal.seal(), StoreGone)
        assert.ok(journal.failure instanceof StoreGone)
        await journal.close()
      },
      call => {
        if (call === 'sync journal-000000000001.tmp') rmSync(folder, { recursive: true })
        return undefined
      },
    )
  })

  test('a file with the same number on another device is another file', async () => {
    const folder = newFolder()
    const journal = await openFile(folder)
    const real = fs.statSync
    const { ino, dev } = real(active(folder))
    try {
      for (const [stats, isLost] of [
        [{ ino, dev }, false],
        [{ ino, dev: dev + 1 }, true],
        [{ ino: ino + 1, dev }, true],
      ] as const) {
        Object.assign(fs, { statSync: () => stats })
        syncBuiltinESMExports()
        assert.equal(journal.lost() instanceof StoreGone, isLost, JSON.stringify(stats))
      }
    } finally {
      Object.assign(fs, { statSync: real })
      syncBuiltinESMExports()
    }
    await journal.close()
  })

  test('an error of the system is passed on', async () => {
    const folder = newFolder()
    const journal = await openFile(folder)
    rmSync(active(folder))
    symlinkSync('journal.ndjson', active(folder))
    assert.equal((journal.lost() as NodeJS.ErrnoException).code, 'ELOOP')
    await journal.close()
  })

  test('between the two renames of a seal nothing is missing', async () => {
    const folder = newFolder()
    const seen: unknown[] = []
    const journal = await openFile(folder)
    await journal.append(newEntry('a')).durable
    await watchDisk(
      folder,
      () => journal.seal(),
      call => {
        if (call.startsWith('rename')) seen.push(journal.lost())
        return undefined
      },
    )
    assert.deepEqual(seen, [undefined, undefined])
    await journal.close()
  })
})

describe('FileJournal: descriptors', () => {
  test('what a reader opens it closes, also when it stops early', async () => {
    const folder = newFolder()
    const calls = await watchDisk(folder, async () => {
      const journal = await openFile(folder)
      for (const text of ['a', 'b']) {
        journal.append(newEntry(text))
        await journal.seal()
      }
      await collect(journal.replay(0))
      await collect(journal.find(0, 'a'))
      for await (const _ of journal.replay(0)) break
      await journal.close()
    })
    const count = (verb: string) => calls.filter(call => call.startsWith(`${verb} `)).length
    assert.equal(count('close'), count('open'), calls.join('\n'))
  })

  test('a segment that holds nothing after the position is not opened', async () => {
    const folder = newFolder()
    const journal = await openFile(folder)
    for (const text of ['a', 'b']) {
      journal.append(newEntry(text))
      await journal.seal()
    }
    const opened = async (after: number) =>
      (await watchDisk(folder, () => collect(journal.replay(after)))).filter(call => call.startsWith('open'))
    assert.deepEqual(await opened(2), ['open journal.ndjson'])
    assert.deepEqual(await opened(1), ['open journal-000000000002.ndjson', 'open journal.ndjson'])
    await journal.close()
  })

  test('forgetting nothing leaves the disk alone', async () => {
    const folder = newFolder()
    const seen: string[] = []
    let isForgetting = false
    await watchDisk(
      folder,
      async () => {
        const journal = await openFile(folder)
        isForgetting = true
        await journal.forget(5)
        isForgetting = false
        await journal.close()
      },
      call => {
        if (isForgetting) seen.push(call)
        return undefined
      },
    )
    assert.deepEqual(seen, [])
  })
})

describe('FileJournal: failures half-way', () => {
  for (const name of [
    'rename journal.ndjson journal-000000000001.ndjson',
    'rename journal-000000000001.tmp journal.ndjson',
  ])
    test(`a seal that fails to ${name} is final, and a restart has every entry`, async () => {
      const folder = newFolder()
      const journal = await openFile(folder)
      await journal.append(newEntry('a')).durable
      await watchDisk(
        folder,
        () => assert.rejects(journal.seal(), { code: 'EIO' }),
        call => (call === name ? 'EIO' : undefined),
      )
      assert.equal((journal.failure as NodeJS.ErrnoException).code, 'EIO')
      await assert.rejects(journal.append(newEntry('b')).durable, { code: 'EIO' })
      await journal.close()
      assert.deepEqual(await texts(folder), ['a'])
    })

  test('a seal that finds no room for the next segment is made by the next call', async () => {
    const folder = newFolder()
    const journal = await openFile(folder)
    await journal.append(newEntry('a')).durable
    const noRoom = (call: string) => (call === 'sync journal-000000000001.tmp' ? 'ENOSPC' : undefined)
    await watchDisk(folder, () => assert.rejects(journal.seal(), { code: 'ENOSPC' }), noRoom)
    assert.equal(await journal.seal(), 1)
    assert.ok(readdirSync(folder).includes('journal-000000000001.ndjson'))
    await journal.close()
    assert.deepEqual(await texts(folder), ['a'])
  })

  test('a sync that fails at the close is reported as the failure, and the close resolves', async () => {
    const disk: Disk = { ...realDisk, sync: (_, done) => setImmediate(done, full) }
    const journal = await openFile(newFolder(), { disk })
    await journal.append(newEntry('a')).durable
    await journal.close()
    assert.equal(journal.failure, full)
  })

  test('a close after a failure syncs nothing', async () => {
    let syncs = 0
    const disk: Disk = {
      write: (_fd, _bytes, _at, done) => setImmediate(done, full, 0),
      sync(fd, done) {
        syncs++
        realDisk.sync(fd, done)
      },
    }
    const journal = await openFile(newFolder(), { disk })
    await assert.rejects(journal.append(newEntry('a')).durable, full)
    await journal.close()
    assert.equal(syncs, 0)
  })
})

describe('FileJournal: flushes', () => {
  test('each is reported with its bytes and the time it took', async () => {
    const flushes: [milliseconds: number, bytes: number][] = []
    const journal = await openFile(newFolder(), { onFlush: (...flush) => flushes.push(flush) })
    const begin = performance.now()
    await journal.append(newEntry('ü')).durable
    const took = performance.now() - begin
    await journal.close()
    assert.equal(flushes.length, 1)
    const [milliseconds, bytes] = flushes[0]!
    assert.equal(bytes, Buffer.byteLength(entryLine(1, newEntry('ü'))))
    assert.ok(milliseconds >= 0 && milliseconds <= took, `${milliseconds} of ${took} ms`)
  })

  test('sync puts on disk what was appended before it, and resolves to its position', async () => {
    const counted = countingDisk()
    const folder = newFolder()
    const journal = await openFile(folder, { disk: counted.disk })
    journal.append(newEntry('a'))
    const synced = journal.sync()
    journal.append(newEntry('b'))
    assert.equal(await synced, 1)
    assert.equal(counted.syncs, 1)
    await journal.close()
    assert.deepEqual(await texts(folder), ['a', 'b'])
  })

  test('knows the sum of its newest entry, also when a snapshot covers it and no file has it', async () => {
    const folder = newFolder()
    let journal = await openFile(folder)
    assert.equal(journal.sum, undefined)
    const line = entryLine(2, newEntry('b'))
    await journal.appendLines(entryLine(1, newEntry('a')) + line, 2)
    const { sum } = JSON.parse(line)
    assert.equal(journal.sum, sum)
    await journal.close()
    journal = await openFile(folder)
    assert.equal(journal.sum, sum)
    await journal.seal()
    await journal.forget(2)
    assert.equal(journal.sum, sum)
    await journal.close()
    assert.deepEqual(
      readdirSync(folder).filter(name => /^journal-/.test(name)),
      [],
    )
    journal = await openFile(folder)
    assert.deepEqual([journal.position, journal.sum], [2, sum])
    journal.append(newEntry('c'))
    assert.equal(journal.sum, JSON.parse(entryLine(3, newEntry('c'))).sum)
    await journal.close()
  })

  test('takes lines that were made elsewhere, up to the position of the last', async () => {
    const folder = newFolder()
    const journal = await openFile(folder)
    await journal.appendLines(entryLine(1, newEntry('a')) + entryLine(2, newEntry('b')), 2)
    assert.equal(journal.position, 2)
    await journal.append(newEntry('c')).durable
    await journal.close()
    assert.throws(() => journal.appendLines(entryLine(4, newEntry('d')), 4), /closed/)
    assert.deepEqual(await texts(folder), ['a', 'b', 'c'])
  })
})
