// The room that the active segment has after its last entry: when it is made, when it goes, and what a crash leaves of it.

import assert from 'node:assert/strict'
import { cpSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import type { FileJournal } from '../../daemon/journal/file-journal.ts'
import { entryLine, headerLine, roomStep } from '../../daemon/journal/segment-format.ts'
import { type Disk, realDisk } from '../../daemon/local/durable-files.ts'
import { collect, newEntry, type TestFact } from '../support/journal-contract.ts'
import { active, letters, newFolder, openFile, texts, written } from '../support/journal-files.ts'

const sizeOf = (folder: string) => statSync(active(folder)).size
const room = (bytes: number) => '\t'.repeat(bytes)

/** Runs the work with an open journal; closes it after that. */
async function withJournal(folder: string, work: (journal: FileJournal<TestFact>) => Promise<unknown>): Promise<void> {
  const journal = await openFile(folder)
  await work(journal)
  await journal.close()
}

/** What opening a journal with this text finds, and what it cuts. */
async function opened(text: string): Promise<{ found: string[]; repair: string | undefined }> {
  const folder = newFolder()
  writeFileSync(active(folder), text)
  const journal = await openFile(folder)
  const found = (await collect(journal.replay(0))).map(({ facts }) => facts[0]?.text ?? '')
  await journal.close()
  assert.deepEqual(await texts(folder), found, 'another start finds something else')
  return { found, repair: journal.repair }
}

const all = letters(3)
const lines = all.map((text, index) => entryLine(index + 1, newEntry(text)))
const whole = headerLine(0) + lines.join('')
const wholeButLast = headerLine(0) + lines.slice(0, 2).join('')

describe('the room of a journal', () => {
  test('is made with the first entry, used by the next ones, and cut off by a close', async () => {
    const folder = newFolder()
    await withJournal(folder, async journal => {
      await journal.append(newEntry(all[0]!)).durable
      const size = sizeOf(folder)
      assert.equal(size, 2 * Buffer.byteLength(headerLine(0) + lines[0]), 'as much as there is')
      await journal.append(newEntry(all[1]!)).durable
      assert.equal(sizeOf(folder), size)
      await journal.append(newEntry(all[2]!)).durable
      assert.equal(sizeOf(folder), 2 * Buffer.byteLength(whole))
      assert.equal(readFileSync(active(folder), 'utf8').trimEnd(), whole.trimEnd())
    })
    assert.equal(readFileSync(active(folder), 'utf8'), whole)
  })

  test('is made again by the first entry that reaches beyond it, and not by one that just fits', async () => {
    const folder = newFolder()
    const small = Buffer.byteLength(entryLine(2, newEntry('')))
    await withJournal(folder, async journal => {
      await journal.append(newEntry('x'.repeat(roomStep))).durable
      const end = Buffer.byteLength(readFileSync(active(folder), 'utf8').trimEnd()) + 1
      const size = sizeOf(folder)
      assert.equal(size, end + roomStep)
      await journal.append(newEntry('x'.repeat(roomStep - small))).durable
      assert.equal(sizeOf(folder), size, 'the entry fits exactly')
      assert.equal(readFileSync(active(folder)).at(-1), 10)
      await journal.append(newEntry('c')).durable
      assert.equal(sizeOf(folder), size + Buffer.byteLength(entryLine(3, newEntry('c'))) + roomStep)
      assert.equal((await collect(journal.replay(0))).length, 3)
    })
    assert.deepEqual(
      (await texts(folder)).map(text => text.length),
      [roomStep, roomStep - small, 1],
    )
  })

  test('is made for entries that are longer than a step', async () => {
    const folder = newFolder()
    const long = 'x'.repeat(3 * roomStep)
    await withJournal(folder, async journal => {
      for (const text of ['a', long, 'c']) await journal.append(newEntry(text)).durable
    })
    assert.deepEqual(await texts(folder), ['a', long, 'c'])
  })

  test('is cut off a segment that is sealed', async () => {
    const folder = newFolder()
    await withJournal(folder, async journal => {
      for (const text of all) await journal.append(newEntry(text)).durable
      await journal.seal()
      assert.deepEqual(readdirSync(folder).sort(), ['journal-000000000003.ndjson', 'journal.ndjson'])
      assert.equal(readFileSync(join(folder, 'journal-000000000003.ndjson'), 'utf8'), whole)
      assert.equal(readFileSync(active(folder), 'utf8'), headerLine(3, JSON.parse(lines[2]!).sum))
      await journal.append(newEntry('more')).durable
      assert.equal((await collect(journal.replay(0))).length, 4)
    })
    assert.deepEqual(await texts(folder), [...all, 'more'])
  })

  test('is not needed: where the disk takes only the entries, they are written', async () => {
    const folder = newFolder()
    let free = 0
    const disk: Disk = {
      ...realDisk,
      write: (fd, bytes, at, done) => realDisk.write(fd, bytes.subarray(0, free), at, done),
    }
    const journal = await openFile(folder, { disk })
    for (const [index, text] of all.entries()) {
      free = Buffer.byteLength(lines[index]!)
      await journal.append(newEntry(text)).durable
    }
    assert.equal(readFileSync(active(folder), 'utf8'), whole)
    await journal.close()
    assert.deepEqual(await texts(folder), all)
  })

  test('is left by a crash, which is no unfinished write, and is used by the next start', async () => {
    const folder = newFolder()
    const copy = newFolder()
    await withJournal(folder, async journal => {
      for (const text of all) await journal.append(newEntry(text)).durable
      cpSync(active(folder), active(copy))
    })
    const size = sizeOf(copy)
    await withJournal(copy, async journal => {
      assert.equal(journal.repair, undefined)
      await journal.append(newEntry('')).durable
      assert.equal(sizeOf(copy), size)
    })
    assert.deepEqual(await texts(copy), [...all, ''])
  })
})

describe('a write into the room that was not finished', () => {
  for (const [what, text, found] of [
    ['a part of an entry', `${wholeButLast}${lines[2]!.slice(0, 30)}${room(5000)}`, all.slice(0, 2)],
    ['all of an entry but its end', `${wholeButLast}${lines[2]!.slice(0, -1)}${room(5000)}`, all.slice(0, 2)],
    ['the end of an entry', `${wholeButLast}${room(30)}${lines[2]!.slice(30)}${room(5000)}`, all.slice(0, 2)],
    ['later entries, and not the first', `${headerLine(0)}${lines[0]}${room(99)}\n${lines[2]}${room(5000)}`, [all[0]]],
    ['entries around a gap', `${headerLine(0)}${lines[0]}${lines[1]!.slice(0, 9)}${room(8)}${lines[2]}`, [all[0]]],
    ['nothing but its end', `${headerLine(0)}${room(512)}${lines[1]}${lines[2]}${room(512)}`, []],
    ['zeros in place of its bytes', `${whole}${'\0'.repeat(600)}${room(5000)}`, all],
  ] as const)
    test(`with ${what} on disk: the entries before it are kept, and the cut is reported`, async () => {
      const { found: kept, repair } = await opened(text)
      assert.deepEqual(kept, found)
      const cut = Buffer.byteLength(text) - Buffer.byteLength(headerLine(0) + lines.slice(0, found.length).join(''))
      assert.equal(
        repair,
        `journal.ndjson: the last write was not finished; cut ${cut} bytes after position ${found.length}`,
      )
    })

  for (const bytes of [0, 1, 7, 8, 9, 5000])
    test(`with nothing of it on disk (${bytes} bytes of room): nothing is cut`, async () => {
      assert.deepEqual(await opened(whole + room(bytes)), { found: all, repair: undefined })
      assert.deepEqual(await opened(headerLine(0) + room(bytes)), { found: [], repair: undefined })
    })

  test('is found in a segment of many megabytes', async () => {
    const folder = await written(Array.from({ length: 100 }, () => 'x'.repeat(100_000)))
    writeFileSync(active(folder), room(9_000_000), { flag: 'a' })
    assert.equal((await texts(folder)).length, 100)
  })
})

describe('damage in front of the room', () => {
  for (const [what, text] of [
    ['zeros', `${headerLine(0)}${lines[0]}${'\0'.repeat(lines[1]!.length)}${lines[2]}`],
    ['a few tabs', `${headerLine(0)}${lines[0]}${lines[1]!.replace(/entry/, '\t\t\t\t\t')}${lines[2]}`],
    ['another byte', `${headerLine(0)}${lines[0]}${lines[1]!.replace('entry', 'entrx')}${lines[2]}`],
  ] as const)
    test(`by ${what} is refused, with its line`, async () => {
      for (const bytes of [0, 5000])
        await assert.rejects(opened(text + entryLine(4, newEntry('the last')) + room(bytes)), {
          name: 'JournalDamaged',
          line: 3,
          message: /sum/,
        })
    })
})
