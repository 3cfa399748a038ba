// The files of a journal: in which order they are read, what a crash may leave of them, and what is refused.

import assert from 'node:assert/strict'
import { readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { headerLine } from '../../daemon/journal/segment-format.ts'
import { collect, newEntry } from '../support/journal-contract.ts'
import { active, letters, newFolder, openFile, texts, written } from '../support/journal-files.ts'
import { watchDisk } from '../support/watched-disk.ts'

/** A store with each of the texts in a sealed segment of its own, closed again. */
async function sealedEach(all: readonly string[], startAfter = 0): Promise<string> {
  const folder = newFolder()
  const journal = await openFile(folder, { startAfter })
  for (const text of all) {
    journal.append(newEntry(text))
    await journal.seal()
  }
  await journal.close()
  return folder
}

describe('the files of a journal', () => {
  test('are read in the order of their positions, also where the names have more digits', async () => {
    const before = 999_999_999_998
    const folder = await sealedEach(letters(3), before)
    assert.deepEqual(readdirSync(folder).sort(), [
      'journal-1000000000000.ndjson',
      'journal-1000000000001.ndjson',
      'journal-999999999999.ndjson',
      'journal.ndjson',
    ])
    assert.deepEqual(await texts(folder, before), letters(3))
  })

  test('segments that a crash left unfinished are removed, and other files are left alone', async () => {
    const folder = await written(['a'])
    for (const name of [
      'journal-000000000000.tmp',
      'journal-000000000012.tmp',
      'journal-000000000012.tmp.mine',
      'journal-2024.tmp',
      'notes.tmp',
    ])
      writeFileSync(join(folder, name), 'half')
    assert.deepEqual(await texts(folder), ['a'])
    assert.deepEqual(readdirSync(folder).sort(), [
      'journal-000000000012.tmp.mine',
      'journal-2024.tmp',
      'journal.ndjson',
      'notes.tmp',
    ])
  })

  test('a newest segment that does not follow the sealed ones is refused', async () => {
    const folder = await sealedEach(letters(3))
    for (const after of [1, 2, 4]) {
      writeFileSync(active(folder), headerLine(after))
      await assert.rejects(openFile(folder), {
        name: 'JournalDamaged',
        file: 'journal.ndjson',
        line: 1,
        message: new RegExp(`begins after position ${after}, but journal-000000000003.ndjson goes before it`),
      })
      assert.equal(readFileSync(active(folder), 'utf8'), headerLine(after))
    }
  })

  test('a beginning that no torn write leaves is refused, and stays', async () => {
    const folder = newFolder()
    const header = headerLine(0)
    const beginnings = [
      `\0\0${header.slice(0, 9)}`,
      `${header.slice(0, 4)}\0${header.slice(4, 9)}`,
      // More than a header: entries were there.
      '\0'.repeat(500),
      header.slice(0, 9) + '\0'.repeat(500),
      `x${header}`,
      '\n',
    ]
    for (const text of beginnings) {
      writeFileSync(active(folder), text)
      await assert.rejects(openFile(folder), /journal.ndjson, line 1: not the header of a journal/)
      assert.equal(readFileSync(active(folder), 'utf8'), text)
    }
  })

  test('a header that is torn is written again, with zeros after it or without', async () => {
    const half = headerLine(0).slice(0, 9)
    for (const text of ['', half, `${half}\0\0\0`, '\0'.repeat(9), headerLine(0, '0a1b2c3d').slice(0, -5)]) {
      const folder = newFolder()
      writeFileSync(active(folder), text)
      await written(['a'], folder)
      assert.deepEqual(await texts(folder), ['a'])
    }
  })

  for (const call of ['write', 'sync'])
    test(`a segment whose header fails to be written (${call}) is removed, and the journal goes on`, async () => {
      const folder = newFolder()
      const journal = await openFile(folder)
      await journal.append(newEntry('a')).durable
      const failing = `${call} journal-000000000001.tmp`
      const calls = await watchDisk(
        folder,
        () => assert.rejects(journal.seal(), { code: 'ENOSPC' }),
        now => (now === failing ? 'ENOSPC' : undefined),
      )
      assert.deepEqual(calls.slice(-3), [failing, 'close journal-000000000001.tmp', 'remove journal-000000000001.tmp'])
      assert.deepEqual(readdirSync(folder), ['journal.ndjson'])
      await journal.append(newEntry('b')).durable
      assert.equal((await collect(journal.replay(0))).length, 2)
      await journal.close()
    })

  test('a crash between the two renames of a seal leaves a journal that goes on after the sealed segment', async () => {
    const folder = await sealedEach(['a'])
    renameSync(active(folder), join(folder, 'journal-000000000001.tmp'))
    const journal = await openFile(folder)
    assert.equal(journal.position, 1)
    await journal.append(newEntry('b')).durable
    await journal.close()
    assert.deepEqual(await texts(folder), ['a', 'b'])
  })
})
