// Damage that only a disk can do to a journal: torn writes, changed bytes, and what a crash leaves.

import assert from 'node:assert/strict'
import { once } from 'node:events'
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { crc32 } from 'node:zlib'
import { JournalDamaged } from '../../daemon/journal/journal.ts'
import { collect, newEntry } from '../support/journal-contract.ts'
import { active, letters, newFolder, openFile, texts, written } from '../support/journal-files.ts'
import { bundleProgram, spawnProgram } from '../support/program.ts'

describe('FileJournal: torn ends are cut', () => {
  /** What opening the journal cut. */
  async function repairOf(folder: string): Promise<string | undefined> {
    const journal = await openFile(folder)
    await journal.close()
    return journal.repair
  }

  test('a cut at any byte of the last entries recovers a prefix, reports the cut, and goes on', async () => {
    const all = letters(2)
    const whole = readFileSync(active(await written(all)))
    const folder = newFolder()
    const goneOn = new Set<string>()
    for (let size = whole.length; size >= 0; size--) {
      writeFileSync(active(folder), whole.subarray(0, size))
      const repair = await repairOf(folder)
      const found = await texts(folder)
      assert.deepEqual(found, all.slice(0, found.length))
      // Every line that is still whole must be there.
      const lines = whole.subarray(0, size).toString('utf8').split('\n').length - 1
      assert.equal(found.length, Math.max(0, lines - 1))
      const clean = whole[size - 1] === 10 || lines === 0
      assert.equal(repair === undefined, clean, `cut at byte ${size}`)
      // A repair leaves one of a few files.
      const left = readFileSync(active(folder), 'utf8')
      if (goneOn.has(left)) continue
      goneOn.add(left)
      await written(['more'], folder)
      assert.deepEqual(await texts(folder), [...found, 'more'])
    }
  })

  test('garbage after the last whole entry is cut however long it is', async () => {
    const garbage = ['\0'.repeat(5000), 'half a li', '{"position":4}\n\0\0\0\n{}\n', 'x'.repeat(9_000_000), '\n\n\n']
    for (const rest of garbage) {
      const folder = await written(['a', 'b', 'c'])
      const { size } = statSync(active(folder))
      writeFileSync(active(folder), rest, { flag: 'a' })
      assert.match((await repairOf(folder))!, /the last write was not finished/)
      assert.deepEqual(await texts(folder), ['a', 'b', 'c'])
      assert.equal(statSync(active(folder)).size, size)
    }
  })
})

describe('FileJournal: damage is refused', () => {
  /** The store must be refused, and the file left as it is. */
  async function refused(folder: string, line: number, reason: RegExp, file = 'journal.ndjson'): Promise<void> {
    const before = readFileSync(join(folder, file))
    await assert.rejects(texts(folder), error => {
      assert.ok(error instanceof JournalDamaged, String(error))
      assert.equal(error.file, file)
      assert.equal(error.line, line)
      assert.match(error.message, reason)
      return true
    })
    assert.ok(before.equals(readFileSync(join(folder, file))))
  }

  test('a flipped byte anywhere before the last entry, with its line', async () => {
    const whole = readFileSync(active(await written(letters(3))))
    const folder = newFolder()
    // Up to the newline before the last entry: without that one, the last line is bad and may be cut.
    const last = whole.lastIndexOf(10, whole.length - 2)
    for (let at = whole.indexOf(10) + 1; at < last; at++) {
      const line = whole.subarray(0, at).toString('latin1').split('\n').length
      const bytes = Buffer.from(whole)
      bytes[at] = bytes[at]! ^ 1
      writeFileSync(active(folder), bytes)
      await refused(folder, line, /sum|position/)
    }
  })

  test('a change in each of the last lines, and CR LF at the end of all', async () => {
    const changes: readonly (readonly [change: (text: string) => string, line: number, reason: RegExp])[] = [
      [text => text.replaceAll(/"(c|d)"/g, '"x"'), 4, /does not fit its sum/],
      [text => text.replaceAll('\n', '\r\n'), 2, /the line ends in CR LF/],
    ]
    for (const [change, line, reason] of changes) {
      const folder = await written(['a', 'b', 'c', 'd'])
      writeFileSync(active(folder), change(readFileSync(active(folder), 'latin1')), 'latin1')
      await refused(folder, line, reason)
    }
  })

  test('a missing, a doubled and an exchanged line', async () => {
    const whole = readFileSync(active(await written(letters(5))), 'utf8')
    const [header, a, b, c, d, e] = whole.split('\n')
    const cases: [(string | undefined)[], number, RegExp][] = [
      [[header, a, c, d, e], 3, /position 3 after 1/],
      [[header, a, b, b, c, d, e], 4, /position 2 after 2/],
      [[header, b, a, c, d, e], 2, /position 2 after 0/],
      [[a, b, c, d, e], 1, /header/],
      [[header, a, '', b, c, d, e], 3, /sum/],
    ]
    for (const [lines, line, reason] of cases) {
      const folder = newFolder()
      writeFileSync(active(folder), `${lines.join('\n')}\n`)
      await refused(folder, line, reason)
    }
  })

  test('an entry that fits its sum but is not JSON, with its line', async () => {
    const folder = await written(letters(300))
    const lines = readFileSync(active(folder), 'utf8').split('\n')
    // In the middle of many that are parsed together: not closed, two lists instead of one, and no facts at all.
    const broken = [
      [200, (body: string) => body.replace('"facts":[', '"facts":[[')],
      [150, (body: string) => body.replace(/"facts":.*/, '"facts":[],[]')],
      [17, (body: string) => body.replace(',"facts":', ',"fact":')],
    ] as const
    for (const [at, breakIt] of broken) {
      const body = breakIt(lines[at]!.slice(0, lines[at]!.indexOf(',"sum":')))
      const sum = crc32(body).toString(16).padStart(8, '0')
      writeFileSync(active(folder), lines.with(at, `${body},"sum":"${sum}"}`).join('\n'))
      const journal = await openFile(folder)
      await assert.rejects(
        async () => {
          for await (const entries of journal.replayFacts(0)) for (const _ of entries);
        },
        { name: 'JournalDamaged', line: at + 1, message: /not JSON/ },
      )
      await journal.close()
    }
  })

  test('a header of another format or of another program', async () => {
    const folder = await written(['a'])
    const whole = readFileSync(active(folder), 'utf8')
    writeFileSync(active(folder), whole.replace('"format":1', '"format":2'))
    await refused(folder, 1, /format 2, this natter reads 1/)
    writeFileSync(active(folder), 'a diary\nof somebody\n')
    await refused(folder, 1, /header/)
    writeFileSync(active(folder), 'no line at all')
    await refused(folder, 1, /header/)
  })

  test('a sealed segment that is torn, shortened, or missing before the others', async () => {
    const folder = newFolder()
    const journal = await openFile(folder)
    for (const text of ['a', 'b', 'c']) {
      journal.append(newEntry(text))
      journal.append(newEntry(text))
      await journal.seal()
    }
    await journal.close()
    const second = 'journal-000000000004.ndjson'
    const bytes = readFileSync(join(folder, second))
    truncateSync(join(folder, second), bytes.length - 5)
    await refused(folder, 3, /middle of an entry/, second)
    truncateSync(join(folder, second), bytes.lastIndexOf(10, bytes.length - 2) + 1)
    await refused(folder, 2, /ends at position 3, not 4/, second)
    rmSync(join(folder, second))
    await assert.rejects(texts(folder), /journal-000000000006.ndjson, line 1: begins after position 4/)
    // What is not asked for is not read.
    assert.deepEqual(await texts(folder, 4), ['c', 'c'])
  })
})

describe('FileJournal: a crash while sealing', () => {
  async function sealed(): Promise<string> {
    const folder = newFolder()
    const journal = await openFile(folder)
    for (const text of letters(3)) journal.append(newEntry(text))
    await journal.seal()
    await journal.close()
    return folder
  }

  test('boots with the new segment made but not named, or named with any part of its header', async () => {
    const folder = await sealed()
    const header = readFileSync(active(folder))
    renameSync(active(folder), join(folder, 'journal-000000000003.tmp'))
    assert.deepEqual(await texts(folder), letters(3))
    assert.deepEqual(readdirSync(folder).sort(), ['journal-000000000003.ndjson', 'journal.ndjson'])
    for (let size = 0; size <= header.length; size++) {
      writeFileSync(active(folder), header.subarray(0, size))
      assert.deepEqual(await texts(folder), letters(3))
      writeFileSync(active(folder), Buffer.alloc(size))
      assert.deepEqual(await texts(folder), letters(3))
    }
    await written(['more'], folder)
    assert.deepEqual(await texts(folder), [...letters(3), 'more'])
  })

  test('a seal that finds no room for the new segment harms nothing', async () => {
    const folder = newFolder()
    const journal = await openFile(folder)
    journal.append(newEntry('a'))
    // A folder in place of the new segment simulates a full disk.
    mkdirSync(join(folder, 'journal-000000000001.tmp'))
    const seal = journal.seal()
    journal.append(newEntry('b'))
    await assert.rejects(seal)
    assert.equal(journal.failure, undefined)
    await journal.append(newEntry('c')).durable
    assert.equal(await journal.seal(), 3)
    rmdirSync(join(folder, 'journal-000000000001.tmp'))
    await journal.append(newEntry('d')).durable
    await journal.close()
    assert.deepEqual(readdirSync(folder).sort(), ['journal-000000000003.ndjson', 'journal.ndjson'])
    assert.deepEqual(await texts(folder), ['a', 'b', 'c', 'd'])
  })

  test('a segment that cannot be deleted is deleted with the next ones, and never after them', async () => {
    const folder = newFolder()
    const journal = await openFile(folder)
    const seal = async (text: string) => {
      journal.append(newEntry(text))
      return journal.seal()
    }
    for (const text of ['a', 'b']) await seal(text)
    const first = join(folder, 'journal-000000000001.ndjson')
    renameSync(first, `${first}.aside`)
    // A folder in its place cannot be unlinked.
    mkdirSync(first)
    await assert.rejects(journal.forget(2))
    rmdirSync(first)
    renameSync(`${first}.aside`, first)
    assert.equal((await collect(journal.replay(0))).length, 2)
    await journal.forget(await seal('c'))
    await journal.append(newEntry('d')).durable
    await journal.close()
    assert.deepEqual(readdirSync(folder), ['journal.ndjson'])
    assert.deepEqual(await texts(folder, 3), ['d'])
  })

  test('boots after kill -9 at any moment, with everything that was acknowledged', async () => {
    const program = await bundleProgram(`
      import { openSync, writeSync } from 'node:fs'
      import { FileJournal } from './daemon/journal/file-journal.ts'
      const journal = await FileJournal.open({ folder: process.argv[1], durability: 'fsync' })
      // A file, because a reader that is slow makes a pipe keep lines back, which end with the process.
      const acknowledged = openSync(process.argv[2], 'w')
      const client = async () => {
        for (;;) {
          const { position, durable } = journal.append({ time: 1, actor: null, op: 'test', facts: [] })
          await durable
          writeSync(acknowledged, position + '\\n')
          if (position === 1) process.stdout.write('begun')
        }
      }
      for (let i = 0; i < 8; i++) client()
      for (;;) await journal.forget((await journal.seal()) - 200)
    `)
    await Promise.all(
      Array.from({ length: 4 }, async (_, round) => {
        const folder = newFolder()
        const told = join(newFolder(), 'acknowledged')
        const child = spawnProgram(program, folder, told)
        child.stdout!.once('data', () => setTimeout(() => child.kill('SIGKILL'), 30 + round * 37))
        await once(child, 'close')
        const acknowledged = Math.max(...readFileSync(told, 'utf8').split('\n').slice(0, -1).map(Number))
        const journal = await openFile(folder)
        assert.ok(journal.position >= acknowledged, `${journal.position} of ${acknowledged}`)
        const rest = await collect(journal.replay(Math.max(0, acknowledged - 100)))
        assert.equal(rest.at(-1)?.position, journal.position)
        await journal.close()
      }),
    )
  })
})
