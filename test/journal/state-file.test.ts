// Reading `state.json` by lines and as a whole: what is accepted, and what is refused with which line.

import assert from 'node:assert/strict'
import { closeSync, openSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import { crc32 } from 'node:zlib'
import {
  acceptDocument,
  checkOpenState,
  readOpenState,
  readStateFile,
  readStateHead,
  SnapshotDamaged,
} from '../../daemon/journal/state-file.ts'
import { inHex, sumOfHead } from '../../daemon/journal/state-sums.ts'
import { newFolder } from '../support/journal-files.ts'
import { watchDisk } from '../support/watched-disk.ts'

const head = { position: 12, time: 5 }

/** A file in our layout, line by line, whose sums fit also where its rows are not JSON. */
function linesOf(sections: Readonly<Record<string, readonly string[]>>, format = 3): string[] {
  const names = Object.keys(sections)
  const sums = {
    head: sumOfHead({ format, ...head }),
    sections: Object.fromEntries(names.map(name => [name, inHex(crc32(sections[name]!.join(',')))])),
  }
  return [
    `{"format":${format},"position":12,"time":5,"sections":{`,
    ...names.flatMap((name, at) => [
      `"${name}":[`,
      ...sections[name]!.map((row, index) => (index < sections[name]!.length - 1 ? `${row},` : row)),
      at < names.length - 1 ? '],' : ']',
    ]),
    ...(format < 3 ? ['}}'] : [`},"sums":${JSON.stringify(sums)}}`]),
  ]
}

async function opened<T>(text: string, work: (fd: number) => Promise<T>): Promise<T> {
  const file = join(newFolder(), 'state.json')
  writeFileSync(file, text)
  const fd = openSync(file, 'r')
  try {
    return await work(fd)
  } finally {
    closeSync(fd)
  }
}

const read = (text: string) => opened(text, fd => readOpenState(fd, 'state.json'))
const check = (text: string) => opened(text, fd => checkOpenState(fd, 'state.json'))
const headOf = (text: string) => opened(text, fd => readStateHead(fd, 'state.json'))
const text = (lines: readonly string[]) => `${lines.join('\n')}\n`

/** The name, file, line and reason of what it is refused with. */
function damage(line: number, reason: RegExp) {
  return (error: unknown) => {
    assert.ok(error instanceof SnapshotDamaged, String(error))
    assert.deepEqual([error.name, error.file, error.line], ['SnapshotDamaged', 'state.json', line], error.message)
    assert.match(error.message, reason)
    return true
  }
}

describe('readStateFile', () => {
  test('closes the file, read or refused', async () => {
    const folder = newFolder()
    const file = join(folder, 'state.json')
    for (const content of [text(linesOf({ users: ['1'] })), 'no snapshot']) {
      writeFileSync(file, content)
      const calls = await watchDisk(folder, () => readStateFile(file).catch(() => {}))
      assert.deepEqual(calls, ['open state.json', 'close state.json'])
    }
  })

  test('is null where there is no file, and passes on any other reason that it cannot be opened', async () => {
    const folder = newFolder()
    assert.equal(await readStateFile(join(folder, 'state.json')), null)
    await watchDisk(
      folder,
      () => assert.rejects(readStateFile(join(folder, 'state.json')), { code: 'EACCES' }),
      call => (call === 'open state.json' ? 'EACCES' : undefined),
    )
  })
})

describe('checkOpenState', () => {
  // These cannot be parsed as a whole, so only the reading by lines can accept them.
  const sections = { users: ['{"id":1}', 'not JSON'], realm: [], queues: ['?'] }

  test('checks the sums without parsing the rows', async () => {
    for (const format of [2, 3]) {
      await check(text(linesOf(sections, format)))
      await check(linesOf(sections, format).join('\n'))
      await assert.rejects(read(text(linesOf(sections, format))), damage(4, /JSON/))
    }
    const changed = text(linesOf(sections)).replace('"id":1', '"id":2')
    await assert.rejects(check(changed), damage(2, /the rows of section "users" do not match their checksum/))
  })

  test('refuses every other layout of such a file', async () => {
    for (const format of [2, 3]) {
      const lines = linesOf(sections, format)
      const end = lines.length - 1
      const cases: [string[], number, RegExp][] = [
        [[...lines, '{}'], end + 2, /more after the end/],
        [[...lines, ''], end + 2, /more after the end/],
        [lines.slice(0, 3), 4, /the file ends too early/],
        [lines.slice(0, end), end + 1, /the file ends too early/],
        // A comma too many or too few.
        [lines.with(end - 1, '],'), end + 1, /neither a section nor the end/],
        [lines.with(4, ']'), 6, /neither a section nor the end/],
        [lines.with(2, '{"id":1}'), 4, /a comma is missing before this line/],
        [lines.with(4, ']]'), 5, /neither a row nor the end of the section/],
        [lines.with(5, '"realm"[['), 6, /neither a section nor the end/],
        [lines.with(5, '7:['), 6, /neither a section nor the end/],
        [lines.with(end, '},"sums":12'), end + 1, /neither a section nor the end/],
        [lines.with(end, '123456789{}}'), end + 1, /neither a section nor the end/],
        [lines.with(end, ''), end + 1, /neither a section nor the end/],
        [lines.with(end, '},"sums":x}'), end + 1, /JSON/],
      ]
      for (const [damaged, line, reason] of cases) await assert.rejects(check(text(damaged)), damage(line, reason))
    }
  })

  test('refuses a newer format for its format, whatever follows', async () => {
    const [, ...rest] = linesOf(sections)
    await assert.rejects(
      check(text(['{"format":4,"position":12,"time":5,"sections":{', ...rest, 'more'])),
      damage(1, /format 4, this natter reads 3; upgrade it/),
    )
  })
})

describe('readOpenState', () => {
  const document = { format: 2, ...head, sections: { users: [1, [2]], realm: [] } }

  test('reads old formats, which have no sums, in any layout', async () => {
    const lines = linesOf({ users: ['1', '[2]'], realm: [] }, 2)
    assert.deepEqual(await read(text(lines)), document)
    assert.deepEqual(await read(JSON.stringify(document)), document)
    // The first line as we write it, the rest not.
    assert.deepEqual(await read(`${lines[0]}\n${lines.slice(1).join('')}`), document)
    // A first line that only ends like ours.
    const { sections, ...others } = document
    const more = `{"more":[{"sections":{\n}}],${JSON.stringify({ ...others, sections }).slice(1)}`
    assert.deepEqual(await read(more), { more: [{ sections: {} }], ...document })
  })
})

describe('acceptDocument', () => {
  test('refuses what is no snapshot, with the reason', () => {
    const whole = { format: 2, ...head, sections: {} }
    assert.deepEqual(acceptDocument('state.json', whole), whole)
    const cases: [unknown, RegExp][] = [
      [null, /not a snapshot of natter/],
      ['text', /not a snapshot of natter/],
      [{ ...whole, format: 1.5 }, /not a snapshot of natter/],
      [{ ...whole, format: 4 }, /format 4, this natter reads 3; upgrade it/],
      [{ ...whole, position: undefined }, /the position or time is missing/],
      [{ ...whole, time: undefined }, /the position or time is missing/],
      [{ ...whole, time: '5' }, /the position or time is missing/],
      [{ ...whole, sections: undefined }, /the sections are missing/],
      [{ ...whole, sections: null }, /the sections are missing/],
      [{ ...whole, sections: 7 }, /the sections are missing/],
      [{ ...whole, sections: { users: {} } }, /a section is not a list of rows/],
      [{ ...whole, format: 3 }, /the checksums are missing/],
    ]
    for (const [found, reason] of cases)
      assert.throws(() => acceptDocument('state.json', found), damage(1, reason), String(reason))
  })
})

describe('readStateHead', () => {
  const lines = linesOf({ users: ['1'] })

  test('reads everything but the sections from the first line', async () => {
    assert.deepEqual(await headOf(text(lines)), { format: 3, ...head })
    // Nothing else is looked at.
    assert.deepEqual(await headOf(text([lines[0]!, 'not a section'])), { format: 3, ...head })
    assert.deepEqual(await headOf(text([lines[0]!.replace('"time":5', '"time":5,"note":"ü"')])), {
      format: 3,
      ...head,
      note: 'ü',
    })
  })

  test('reads a file in another layout as a whole', async () => {
    const document = { format: 2, ...head, sections: { users: [1] } }
    for (const indent of [undefined, 2]) {
      const { format, position, time } = (await headOf(JSON.stringify(document, null, indent))) as typeof document
      assert.deepEqual({ format, position, time }, { format: 2, ...head })
    }
    const more = '{"format":2,"position":12,"time":5,"more":{\n},"sections":{}}'
    assert.equal((await headOf(more)).position, 12)
  })

  test('refuses a damaged first line with a sentence', async () => {
    const [first, ...rest] = lines as [string, ...string[]]
    const cases: [string, RegExp][] = [
      [first.replace('12', 'x'), /JSON/],
      [first.replace('"format":3', '"format":4'), /format 4, this natter reads 3/],
      [first.replace('"position":12,', ''), /the position or time is missing/],
      ['', /JSON/],
    ]
    for (const [damaged, reason] of cases)
      await assert.rejects(headOf(text([damaged, ...rest])), error => {
        assert.ok(error instanceof SnapshotDamaged, String(error))
        assert.match(error.message, reason)
        return true
      })
    await assert.rejects(headOf(''), SnapshotDamaged)
  })
})
