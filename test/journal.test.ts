// The journals: the contract on both of them, then what only a disk can do: tear, fill up, crash.
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import { type Disk, realDisk } from '../daemon/journal/durable-files.ts'
import { FileJournal, type FileJournalOptions } from '../daemon/journal/file-journal.ts'
import { JournalDamaged } from '../daemon/journal/journal.ts'
import { MemoryJournal } from '../daemon/journal/memory-journal.ts'
import { countingDisk } from './support/counting-disk.ts'
import { collect, journalContract, newEntry, type TestFact } from './support/journal-contract.ts'

const root = mkdtempSync(join(tmpdir(), 'natter-journal-'))
after(() => rmSync(root, { recursive: true, force: true }))

const newFolder = () => mkdtempSync(join(root, 'store-'))

function openFile(folder: string, options: Partial<FileJournalOptions> = {}): Promise<FileJournal<TestFact>> {
  return FileJournal.open<TestFact>({ folder, durability: 'os', warn: () => {}, ...options })
}

journalContract('MemoryJournal', async () => new MemoryJournal<TestFact>({ keep: true }))
journalContract('FileJournal', () => openFile(newFolder(), { durability: 'fsync' }))
journalContract('FileJournal without syncs', () => openFile(newFolder()))

/** A store with the texts in its journal, closed again. */
async function written(texts: readonly string[], folder = newFolder()): Promise<string> {
  const journal = await openFile(folder)
  for (const text of texts) journal.append(newEntry(text))
  await journal.close()
  return folder
}

async function texts(folder: string, after = 0, options: Partial<FileJournalOptions> = {}): Promise<string[]> {
  const journal = await openFile(folder, options)
  try {
    return (await collect(journal.replay(after))).map(({ facts }) => facts[0]?.text ?? '')
  } finally {
    await journal.close()
  }
}

const active = (folder: string) => join(folder, 'journal.ndjson')
const letters = (count: number) => Array.from({ length: count }, (_, index) => `entry ${index} ü🦔`)

describe('MemoryJournal', () => {
  test('forgets at once unless asked to keep', async () => {
    const journal = new MemoryJournal<TestFact>()
    journal.append(newEntry('a'))
    assert.equal(journal.position, 1)
    assert.deepEqual(await collect(journal.replay(1)), [])
    await assert.rejects(collect(journal.replay(0)), JournalDamaged)
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
      /^\{"natter":"journal","format":1,"after":12\}\n\{"position":13,/,
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
      write: (fd, bytes, from, done) => realDisk.write(fd, bytes.subarray(0, from + 7), from, done),
    }
    const journal = await openFile(folder, { disk })
    await Promise.all(letters(20).map(text => journal.append(newEntry(text)).durable))
    await journal.close()
    assert.deepEqual(await texts(folder), letters(20))
  })

  for (const broken of ['write', 'sync'] as const)
    test(`a failed ${broken} refuses everybody who waits and every later append, and nothing more is written`, async () => {
      const folder = newFolder()
      const full = Object.assign(new Error('ENOSPC: no space left on device'), { code: 'ENOSPC' })
      let failing = false
      let calls = 0
      const disk: Disk = {
        write(fd, bytes, from, done) {
          calls++
          if (failing && broken === 'write') setImmediate(done, full, 0)
          else realDisk.write(fd, bytes, from, done)
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
      // Nobody waits for this one: it must not become an unhandled rejection.
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

describe('FileJournal: torn ends are cut', () => {
  test('a cut at any byte of the last entries recovers a prefix, says so, and can go on', async () => {
    const all = letters(4)
    const whole = readFileSync(active(await written(all)))
    const folder = newFolder()
    for (let size = whole.length; size >= 0; size--) {
      writeFileSync(active(folder), whole.subarray(0, size))
      const warnings: string[] = []
      const found = await texts(folder, 0, { warn: text => warnings.push(text) })
      assert.deepEqual(found, all.slice(0, found.length))
      // Every line that is still whole must be there.
      const lines = whole.subarray(0, size).toString('utf8').split('\n').length - 1
      assert.equal(found.length, Math.max(0, lines - 1))
      const clean = whole[size - 1] === 10 || lines === 0
      assert.equal(warnings.length, clean ? 0 : 1, `cut at byte ${size}`)
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
      const warnings: string[] = []
      assert.deepEqual(await texts(folder, 0, { warn: text => warnings.push(text) }), ['a', 'b', 'c'])
      assert.equal(warnings.length, 1)
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
    const whole = readFileSync(active(await written(letters(4))))
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
    // What nobody asks for is not read.
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
    renameSync(active(folder), join(folder, 'journal-3.tmp'))
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
    // Something in the way of the new segment stands in for a full disk.
    mkdirSync(join(folder, 'journal-1.tmp'))
    const seal = journal.seal()
    journal.append(newEntry('b'))
    await assert.rejects(seal)
    assert.equal(journal.failure, undefined)
    await journal.append(newEntry('c')).durable
    assert.equal(await journal.seal(), 3)
    rmdirSync(join(folder, 'journal-1.tmp'))
    await journal.append(newEntry('d')).durable
    await journal.close()
    assert.deepEqual(readdirSync(folder).sort(), ['journal-000000000003.ndjson', 'journal.ndjson'])
    assert.deepEqual(await texts(folder), ['a', 'b', 'c', 'd'])
  })

  test('boots after kill -9 at any moment, with everything that was acknowledged', async () => {
    const program = `
      import { FileJournal } from ${JSON.stringify(new URL('../daemon/journal/file-journal.ts', import.meta.url).href)}
      const journal = await FileJournal.open({ folder: process.argv[1], durability: 'fsync', warn() {} })
      const client = async () => {
        for (;;) {
          const { position, durable } = journal.append({ time: 1, actor: null, op: 'test', facts: [] })
          await durable
          process.stdout.write(position + '\\n')
        }
      }
      for (let i = 0; i < 8; i++) client()
      for (;;) await journal.forget((await journal.seal()) - 200)
    `
    await Promise.all(
      Array.from({ length: 4 }, async (_, round) => {
        const folder = newFolder()
        const child = spawn(process.execPath, ['--import', 'tsx', '--input-type=module', '-e', program, folder], {
          stdio: ['ignore', 'pipe', 'inherit'],
        })
        let told = ''
        child.stdout.on('data', text => {
          if (told === '') setTimeout(() => child.kill('SIGKILL'), 100 + round * 37)
          told += text
        })
        await once(child, 'close')
        const acknowledged = Math.max(...told.split('\n').slice(0, -1).map(Number))
        const journal = await openFile(folder)
        assert.ok(journal.position >= acknowledged, `${journal.position} of ${acknowledged}`)
        const rest = await collect(journal.replay(Math.max(0, acknowledged - 100)))
        assert.equal(rest.at(-1)?.position, journal.position)
        await journal.close()
      }),
    )
  })
})
