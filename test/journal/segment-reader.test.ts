// Reading segments: what comes back, in which portions, and what is refused or passed over.

import assert from 'node:assert/strict'
import { closeSync, fstatSync, openSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { crc32 } from 'node:zlib'
import type { NewEntry } from '../../daemon/journal/journal.ts'
import { entryLine, headerLine } from '../../daemon/journal/segment-format.ts'
import {
  findEntries,
  parseEntries,
  parseFacts,
  readSegment,
  type Segment,
} from '../../daemon/journal/segment-reader.ts'
import { collect, newEntry, type TestFact } from '../support/journal-contract.ts'
import { active, letters, newFolder, openFile, texts, written } from '../support/journal-files.ts'
import { limitReads } from '../support/watched-disk.ts'

/** A file with this text, open as a segment. */
async function withSegment<T>(text: string, last: number, work: (segment: Segment) => Promise<T>): Promise<T> {
  const file = join(newFolder(), 'journal.ndjson')
  writeFileSync(file, text)
  const fd = openSync(file, 'r')
  try {
    return await work({ file: 'journal.ndjson', fd, size: fstatSync(fd).size, last })
  } finally {
    closeSync(fd)
  }
}

function segmentText(entries: readonly NewEntry<unknown>[]): string {
  return headerLine(0) + entries.map((entry, index) => entryLine(index + 1, entry)).join('')
}

/** A line with a sum that fits it. */
function summed(body: string): string {
  return `${body},"sum":"${crc32(body).toString(16).padStart(8, '0')}"}\n`
}

async function factsOf(text: string, last: number): Promise<unknown[]> {
  return withSegment(text, last, async segment => {
    const all: unknown[] = []
    for await (const found of readSegment(segment, 0, undefined, parseFacts))
      all.push(...found.map(({ facts }) => facts))
    return all
  })
}

async function foundIn(text: string, wanted: string): Promise<number[]> {
  return withSegment(text, 0, async segment =>
    (await collect(findEntries<TestFact>(segment, wanted))).map(({ position }) => position),
  )
}

describe('readSegment', () => {
  test('finds the facts whatever the operation and the entries before are called', async () => {
    const entries = ['f', 'facts', 'update-message-flags', ',"facts":', '"facts":[]', 'fff'].flatMap(op => [
      { ...newEntry(op), op },
      { ...newEntry(''), op, facts: [] },
      { ...newEntry(`,"facts":${op}`), op, actor: null },
    ])
    assert.deepEqual(
      await factsOf(segmentText(entries), entries.length),
      entries.map(({ facts }) => facts),
    )
  })

  test('hands entries over in lists of at most 128', async () => {
    const text = segmentText(letters(300).map(letter => newEntry(letter)))
    for (const parse of [parseFacts, parseEntries])
      await withSegment(text, 300, async segment => {
        const lengths: number[] = []
        for await (const found of readSegment<unknown>(segment, 0, undefined, parse)) lengths.push(found.length)
        assert.deepEqual(lengths, [128, 128, 44])
      })
  })

  test('refuses an entry that is not JSON with its line, however it is parsed', async () => {
    const text = segmentText([newEntry('a')]) + summed('{"position":2,"time":1,"actor":1,"op":"x","facts":[}')
    for (const parse of [parseFacts, parseEntries])
      await withSegment(text, 2, async segment => {
        await assert.rejects(
          async () => {
            for await (const _ of readSegment<unknown>(segment, 0, undefined, parse));
          },
          { name: 'JournalDamaged', file: 'journal.ndjson', line: 3, message: /not JSON/ },
        )
      })
  })

  test('refuses an entry whose facts are not a list, with its line', async () => {
    for (const facts of ['null', '{}', '5']) {
      const text = segmentText([newEntry('a')]) + summed(`{"position":2,"time":1,"actor":1,"op":"x","facts":${facts}`)
      await withSegment(text, 2, async segment => {
        await assert.rejects(
          async () => {
            for await (const _ of readSegment<unknown>(segment, 0, undefined, parseFacts));
          },
          { name: 'JournalDamaged', line: 3, message: /without a list of facts/ },
        )
      })
    }
  })

  test('passes on what a parser throws', async () => {
    const error = new RangeError('out of memory')
    const fails = () => {
      throw error
    }
    await withSegment(segmentText([newEntry('a')]), 1, async segment => {
      await assert.rejects(async () => {
        for await (const _ of readSegment(segment, 0, undefined, fails));
      }, error)
    })
  })

  test('refuses an empty file, also where no entry is expected', async () => {
    await assert.rejects(factsOf('', 0), { name: 'JournalDamaged', line: 1, message: /not the header of a journal/ })
    assert.deepEqual(await factsOf(headerLine(0), 0), [])
  })

  test('reads the same where each read gives only a few bytes', async () => {
    const folder = await written(letters(3))
    await limitReads(7, async () => assert.deepEqual(await texts(folder), letters(3)))
  })
})

describe('findEntries', () => {
  const whole = segmentText(letters(4).map(letter => newEntry(letter)))

  test('finds a text that the header has too', async () => {
    assert.deepEqual(await foundIn(whole, '{"'), [1, 2, 3, 4])
  })

  test('passes over damaged and torn lines, and reads a last line without its newline', async () => {
    assert.deepEqual(await foundIn(whole.replace('entry 1', 'entry !'), 'entry'), [1, 3, 4])
    assert.deepEqual(await foundIn(whole.slice(0, -1), 'entry'), [1, 2, 3, 4])
    assert.deepEqual(await foundIn(whole.slice(0, -2), 'entry'), [1, 2, 3])
  })
})

describe('the end of the newest segment', () => {
  test('is found by reading a few megabytes of it, however long it is', async () => {
    const folder = await written(Array.from({ length: 100 }, () => 'x'.repeat(100_000)))
    assert.ok(statSync(active(folder)).size > 9_000_000)
    let position = 0
    const bytes = await limitReads(Number.MAX_SAFE_INTEGER, async () => {
      const journal = await openFile(folder)
      position = journal.position
      await journal.close()
    })
    assert.equal(position, 100)
    assert.ok(bytes <= 4 * 1024 * 1024, `${bytes} bytes were read`)
  })

  test('is found where each read gives only a few bytes', async () => {
    const folder = await written(letters(3))
    await limitReads(50, async () => {
      const journal = await openFile(folder)
      assert.equal(journal.position, 3)
      await journal.close()
    })
  })

  test('is the header where only empty lines follow it', async () => {
    const folder = await written([])
    const header = readFileSync(active(folder), 'utf8')
    for (const rest of ['\n', '\n\n\n', '\n{}\n']) {
      writeFileSync(active(folder), header + rest)
      const journal = await openFile(folder)
      await journal.close()
      assert.equal(
        journal.repair,
        `journal.ndjson: the last write was not finished; cut ${rest.length} bytes after position 0`,
      )
      assert.equal(readFileSync(active(folder), 'utf8'), header)
      assert.deepEqual(await texts(folder, 0), [])
    }
  })

  test('is the last line that has a position, whatever follows it with a sum that fits', async () => {
    const folder = await written(letters(3))
    const whole = readFileSync(active(folder), 'utf8')
    writeFileSync(active(folder), summed('{"positions":4'), { flag: 'a' })
    assert.deepEqual(await texts(folder), letters(3))
    assert.equal(readFileSync(active(folder), 'utf8'), whole)
  })

  test('is refused when the file becomes shorter meanwhile', async () => {
    const folder = await written(letters(3))
    await limitReads(0, () => assert.rejects(openFile(folder), /the journal shrank while it was read/))
    assert.deepEqual(await texts(folder), letters(3))
  })
})
