// The journals: the contract on both of them, then what goes to the disk, and when.

import assert from 'node:assert/strict'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { describe, test } from 'node:test'
import { MemoryJournal } from '../../daemon/journal/memory-journal.ts'
import { type Disk, realDisk } from '../../daemon/local/durable-files.ts'
import { countingDisk } from '../support/counting-disk.ts'
import { collect, journalContract, newEntry, type TestFact } from '../support/journal-contract.ts'
import { active, letters, newFolder, openFile, texts, written } from '../support/journal-files.ts'

journalContract('MemoryJournal', async () => new MemoryJournal<TestFact>({ keep: true }))
journalContract('FileJournal', () => openFile(newFolder(), { durability: 'fsync' }))
journalContract('FileJournal without syncs', () => openFile(newFolder()))

describe('MemoryJournal', () => {
  test('forgets at once unless asked to keep', async () => {
    const journal = new MemoryJournal<TestFact>()
    journal.append(newEntry('a'))
    assert.equal(journal.position, 1)
    assert.deepEqual(await collect(journal.replay(1)), [])
    await assert.rejects(collect(journal.replay(0)), {
      name: 'JournalDamaged',
      file: 'memory',
      line: 1,
      message: 'memory, line 1: begins after position 1, but 0 was asked for',
    })
    await assert.rejects(collect(journal.replay(2)), {
      name: 'JournalDamaged',
      file: 'memory',
      message: 'memory, line 1: the journal ends at position 1, before 2',
    })
  })
})

describe('FileJournal: the file', () => {
  test('is lines of JSON after a header, for its owner alone', async () => {
    const folder = await written(['a', 'b'])
    const lines = readFileSync(active(folder), 'utf8').split('\n')
    assert.equal(lines[0], '{"natter":"journal","format":1,"after":0}')
    assert.match(
      lines[1]!,
      /^\{"position":1,"time":1700000000000,"actor":7,"op":"send-message","facts":\[.*\],"sum":"[0-9a-f]{8}"\}$/,
    )
    assert.equal(lines[3], '')
    assert.equal(statSync(active(folder)).mode & 0o777, 0o600)
  })

  test('goes on after a restart', async () => {
    const folder = await written(['a', 'b'])
    await written(['c'], folder)
    assert.deepEqual(await texts(folder), ['a', 'b', 'c'])
    assert.deepEqual(await texts(folder, 2), ['c'])
  })

  test('holds entries longer than a block', async () => {
    const long = 'x'.repeat(5 * 1024 * 1024)
    const folder = await written(['a', long, 'b', `${long}y`])
    assert.deepEqual(
      (await texts(folder)).map(text => text.length),
      [1, long.length, 1, long.length + 1],
    )
  })

  test('sealed segments carry the position of their last entry, for their owner alone', async () => {
    const folder = newFolder()
    const journal = await openFile(folder)
    for (const text of letters(12)) journal.append(newEntry(text))
    await journal.seal()
    journal.append(newEntry('later'))
    await journal.close()
    assert.deepEqual(readdirSync(folder).sort(), ['journal-000000000012.ndjson', 'journal.ndjson'])
    assert.match(
      readFileSync(active(folder), 'utf8'),
      /^\{"natter":"journal","format":1,"after":12,"afterSum":"[0-9a-f]{8}"\}\n\{"position":13,/,
    )
    assert.equal(statSync(active(folder)).mode & 0o777, 0o600)
    assert.deepEqual(await texts(folder), [...letters(12), 'later'])
  })

  test('a journal that does not exist yet may begin after a snapshot', async () => {
    const folder = newFolder()
    const journal = await openFile(folder, { startAfter: 40 })
    assert.equal(journal.append(newEntry('a')).position, 41)
    await journal.close()
    assert.deepEqual(await texts(folder, 40), ['a'])
    await assert.rejects(texts(folder, 0), /begins after position 40, but the entries after 0 are needed/)
  })
})

describe('FileJournal: group commit', () => {
  test('what gathers while the disk is busy goes with one write and one sync, and shares one promise', async () => {
    const counted = countingDisk()
    const journal = await openFile(newFolder(), { durability: 'fsync', disk: counted.disk })
    const first = journal.append(newEntry('first'))
    const second = journal.append(newEntry('second'))
    assert.equal(first.durable, second.durable)
    await new Promise(resolve => setImmediate(resolve))
    const later = Array.from({ length: 100 }, (_, index) => journal.append(newEntry(String(index))))
    assert.equal(new Set(later.map(({ durable }) => durable)).size, 1)
    assert.notEqual(later[0]!.durable, first.durable)
    await later[0]!.durable
    assert.deepEqual([counted.writes, counted.syncs], [2, 2])
    await journal.close()
  })

  test('never has two flushes at once, and syncs nothing where the operating system is trusted', async () => {
    const counted = countingDisk()
    const journal = await openFile(newFolder(), { disk: counted.disk })
    await Promise.all(
      Array.from({ length: 20 }, async () => {
        for (let i = 0; i < 20; i++) await journal.append(newEntry(String(i))).durable
      }),
    )
    assert.equal(counted.most, 1)
    assert.equal(counted.syncs, 0)
    assert.ok(counted.writes < 200, `${counted.writes} writes for 400 entries`)
    await journal.close()
  })

  test('goes on where the disk takes less than it was given', async () => {
    const folder = newFolder()
    const disk: Disk = {
      ...realDisk,
      write: (fd, bytes, at, done) => realDisk.write(fd, bytes.subarray(0, 7), at, done),
    }
    const journal = await openFile(folder, { disk })
    await Promise.all(letters(20).map(text => journal.append(newEntry(text)).durable))
    await journal.close()
    assert.deepEqual(await texts(folder), letters(20))
  })

  for (const broken of ['write', 'sync'] as const)
    test(`a failed ${broken} refuses everyone who waits and every later append, and nothing more is written`, async () => {
      const folder = newFolder()
      const full = Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' })
      let failing = false
      let calls = 0
      const disk: Disk = {
        write(fd, bytes, at, done) {
          calls++
          if (failing && broken === 'write') setImmediate(done, full, 0)
          else realDisk.write(fd, bytes, at, done)
        },
        sync(fd, done) {
          if (failing && broken === 'sync') setImmediate(done, full)
          else realDisk.sync(fd, done)
        },
      }
      const journal = await openFile(folder, { durability: 'fsync', disk })
      await journal.append(newEntry('good')).durable
      failing = true
      const waiting = [journal.append(newEntry('a')), journal.append(newEntry('b'))]
      await new Promise(resolve => setImmediate(resolve))
      waiting.push(journal.append(newEntry('gathered meanwhile')))
      // This one is not awaited: it must not become an unhandled rejection.
      journal.append(newEntry('nobody waits'))
      for (const { durable } of waiting) await assert.rejects(durable, full)
      assert.equal(journal.failure, full)
      failing = false
      calls = 0
      await assert.rejects(journal.append(newEntry('later')).durable, full)
      await assert.rejects(journal.seal(), full)
      await assert.rejects(collect(journal.replay(0)), full)
      assert.equal(calls, 0)
      await journal.close()
      assert.equal((await texts(folder))[0], 'good')
    })
})
