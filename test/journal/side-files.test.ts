// Files beside a snapshot, and the small things around it: what is written comes back, and anything else is refused.

import assert from 'node:assert/strict'
import { existsSync, readdirSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { type SideFile, SideFiles } from '../../daemon/journal/side-files.ts'
import { openSnapshots, SnapshotDamaged, snapshotPosition, snapshotText } from '../../daemon/journal/snapshots.ts'
import { checkSums } from '../../daemon/journal/state-sums.ts'
import { newFolder } from '../support/journal-files.ts'
import { watchDisk } from '../support/watched-disk.ts'

const document = { format: 3, position: 12, time: 1, sections: { users: [1] } }

function file(name: string, ...pieces: string[]): SideFile {
  return { name, pieces: () => pieces.map(piece => Buffer.from(piece)) }
}

describe('files beside a snapshot', () => {
  test('come back after a restart, whole and in pieces', async () => {
    const folder = newFolder()
    await openSnapshots(folder).write({ ...document, files: [file('a', 'ü', 'b', 'c'), file('empty')] })
    const snapshots = openSnapshots(folder)
    const found = await snapshots.read()
    assert.deepEqual(
      found?.files?.map(({ name, bytes }) => [name, bytes]),
      [
        ['a', 4],
        ['empty', 0],
      ],
    )
    assert.equal(snapshots.file('a').toString(), 'übc')
    assert.equal(snapshots.file('empty').length, 0)
    if (process.platform !== 'win32') assert.equal(statSync(join(folder, 'messages')).mode & 0o777, 0o700)
  })

  test('are refused when they are missing, shorter, changed or unknown, with the name of the file', async () => {
    const folder = newFolder()
    const path = join(folder, 'messages', 'a')
    await openSnapshots(folder).write({ ...document, files: [file('a', 'content')] })
    const snapshots = openSnapshots(folder)
    await snapshots.read()
    const refuses = (name: string, reason: RegExp) =>
      assert.throws(
        () => snapshots.file(name),
        error => {
          assert.ok(error instanceof SnapshotDamaged)
          assert.deepEqual([error.file, error.line], [join('messages', name), 1])
          assert.match(error.message, reason)
          return true
        },
      )
    writeFileSync(join(folder, 'messages', 'b'), 'content')
    refuses('b', /the snapshot does not know this file/)
    writeFileSync(path, 'contents')
    refuses('a', /7 bytes were written, 8 are there/)
    writeFileSync(path, 'cantent')
    refuses('a', /its checksum does not fit/)
    rmSync(path)
    refuses('a', /the snapshot needs this file: ENOENT/)
    if (existsSync('/dev/zero')) {
      symlinkSync('/dev/zero', path)
      refuses('a', /the snapshot needs this file: it is not a plain file/)
      rmSync(path)
    }
    writeFileSync(path, 'content')
    assert.equal(snapshots.file('a').toString(), 'content')
  })

  test('have names that lead nowhere else', async () => {
    const folder = newFolder()
    for (const name of ['../a', '/dev/zero', '..', '', 'a/b', 7, null]) {
      const text = JSON.stringify({ ...document, files: [{ name, bytes: 0, sum: 0 }], sums: 'edited' })
      writeFileSync(join(folder, 'state.json'), text)
      await assert.rejects(openSnapshots(folder).read(), /a file has a name that natter does not give/)
    }
  })

  test('are kept while a snapshot or a reader needs them, and are removed after that', async () => {
    const folder = newFolder()
    const snapshots = openSnapshots(folder)
    const names = () => readdirSync(join(folder, 'messages')).sort()
    const kept: string[] = []
    const noted = (name: string): SideFile => ({ ...file(name, name), kept: () => kept.push(name) })
    await snapshots.write({ ...document, files: [noted('a'), noted('b'), noted('c')] })
    assert.deepEqual(kept, ['a', 'b', 'c'])
    await snapshots.write({ ...document, files: [{ name: 'c' }, file('d', 'd')] }, () => new Set(['b']))
    assert.deepEqual(names(), ['b', 'c', 'd'])
    assert.equal(snapshots.file('b').toString(), 'b')
    assert.throws(() => snapshots.file('a'), /the snapshot does not know this file/)
    const left = '000001.12.segment'
    for (const name of ['notes', 'c.bak', left, `${left}.${crypto.randomUUID()}.tmp`])
      writeFileSync(join(folder, 'messages', name), '')
    await snapshots.write({ ...document, files: [{ name: 'c' }] })
    assert.deepEqual(names(), ['c', 'c.bak', 'notes'], 'what a crash left is removed, files of the user are not')
  })

  test('a file that was never written fails the snapshot, and leaves the old one', async () => {
    const folder = newFolder()
    const snapshots = openSnapshots(folder)
    await snapshots.write(document)
    await assert.rejects(snapshots.write({ ...document, position: 13, files: [{ name: 'x' }] }), /x was never written/)
    assert.equal((await snapshots.read())?.position, 12)
    assert.ok(!existsSync(join(folder, 'messages')))
  })

  test('files that are known need no folder', async () => {
    const side = new SideFiles(newFolder())
    side.know([{ name: 'a', bytes: 1, sum: 2 }])
    assert.deepEqual(await side.write([{ name: 'a' }]), [{ name: 'a', bytes: 1, sum: 2 }])
    await side.prune([], new Set())
    assert.throws(() => side.read('a'), /does not know this file/)
  })

  test('a folder that is no longer ours gets no snapshot, at the beginning or at the end', async () => {
    const folder = newFolder()
    for (const failsAt of [1, 2]) {
      let checks = 0
      const snapshots = openSnapshots(folder, () => {
        if (++checks === failsAt) throw new Error('gone')
      })
      await assert.rejects(snapshots.write(document), /gone/)
      assert.deepEqual(readdirSync(folder), [])
    }
  })
})

describe('snapshotText', () => {
  /** Its pieces, and how often it gave way, by a clock that advances a millisecond with each reading. */
  async function collect(rows: readonly unknown[]): Promise<{ pieces: string[]; turns: number }> {
    const [realTime, realImmediate] = [process.hrtime, globalThis.setImmediate]
    let now = 0
    let turns = 0
    process.hrtime = Object.assign((): [number, number] => [0, now++ * 1e6], { bigint: realTime.bigint })
    globalThis.setImmediate = Object.assign((...args: Parameters<typeof setImmediate>) => {
      turns++
      return realImmediate(...args)
    }, realImmediate)
    try {
      const pieces: string[] = []
      for await (const piece of snapshotText({ ...document, sections: { users: rows } })) pieces.push(piece)
      return { pieces, turns }
    } finally {
      process.hrtime = realTime
      globalThis.setImmediate = realImmediate
    }
  }

  test('is what a snapshot without files holds', async () => {
    const { pieces } = await collect([1, 'ü'])
    assert.match(
      pieces.join(''),
      /^\{"format":3,"position":12,"time":1,"sections":\{\n"users":\[\n1,\n"ü"\n\]\n\},"sums":\{"head":"\w{8}","sections":\{"users":"\w{8}"\}\}\}\n$/,
    )
  })

  test('comes in pieces of 256 KiB, not smaller', async () => {
    const size = 256 * 1024
    const before = (await collect([''])).pieces[0]!.indexOf('""') + 2
    // The first row makes the piece exactly as long as that, and then one letter less.
    assert.deepEqual(
      (await collect(['x'.repeat(size - before)])).pieces.map(piece => piece.length >= size),
      [true, false],
    )
    assert.equal((await collect(['x'.repeat(size - before - 1)])).pieces.length, 1)
    assert.equal((await collect(Array.from({ length: 50 }, () => 'x'.repeat(10_000)))).pieces.length, 2)
  })

  test('gives way to other work after every 4 milliseconds', async () => {
    assert.equal((await collect(Array.from({ length: 12 }, (_, id) => id))).turns, 3)
    assert.equal((await collect([1, 2, 3])).turns, 0)
  })
})

describe('snapshotPosition', () => {
  test('is read from the first line, and the file is closed', async () => {
    const folder = newFolder()
    assert.equal(snapshotPosition(folder), 0)
    await openSnapshots(folder).write(document)
    let position = 0
    const calls = await watchDisk(folder, () => {
      position = snapshotPosition(folder)
    })
    assert.equal(position, 12)
    assert.deepEqual(calls, ['open state.json', 'close state.json'])
  })

  test('is 0 where the file has another beginning', () => {
    const folder = newFolder()
    for (const [text, position] of [
      ['{"format":10,"position":7,"time":1', 7],
      ['{"position":7,"format":3', 0],
      [' {"format":3,"position":7,', 0],
      ['{"format":x,"position":7,', 0],
      ['', 0],
    ] as const) {
      writeFileSync(join(folder, 'state.json'), text)
      assert.equal(snapshotPosition(folder), position, text)
    }
  })
})

describe('checkSums', () => {
  const wanted = { head: '01234567', sections: { users: '00000000' } }

  test('finds nothing wrong with sums that match', () => {
    assert.equal(checkSums(structuredClone(wanted), wanted), undefined)
  })

  test('names the section that is wrong; the head has none', () => {
    const cases: [unknown, string, RegExp][] = [
      [undefined, '', /the checksums are missing/],
      [{ ...wanted, head: 7 }, '', /the checksums are missing/],
      [{ ...wanted, sections: 'users' }, '', /the checksums are missing/],
      [{ ...wanted, sections: null }, '', /the checksums are missing/],
      [{ ...wanted, head: '' }, '', /format, position, time or files do not match/],
      [{ ...wanted, sections: { users: '00000001' } }, 'users', /section "users"/],
      [{ ...wanted, sections: {} }, 'users', /section "users"/],
      [{ ...wanted, sections: { ...wanted.sections, more: '00000000' } }, 'more', /section "more"/],
    ]
    for (const [found, section, reason] of cases) {
      const problem = checkSums(found, wanted)
      assert.equal(problem?.section, section)
      assert.match(problem.reason, reason)
    }
  })
})
