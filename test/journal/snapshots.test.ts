// Snapshots of the state: what is written comes back, what is damaged is refused, and the loop is never held.
import assert from 'node:assert/strict'
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, describe, test } from 'node:test'
import fc from 'fast-check'
import { openSnapshots, SnapshotDamaged, type StateDocument, stateFormat } from '../../daemon/journal/snapshots.ts'
import { unfinishedPath } from '../../daemon/local/atomic-file.ts'
import { cases } from '../support/cases.ts'

const root = mkdtempSync(join(tmpdir(), 'natter-snapshots-'))
after(() => rmSync(root, { recursive: true, force: true }))

const newFolder = () => mkdtempSync(join(root, 'store-'))
const state = (folder: string) => join(folder, 'state.json')

const sample: StateDocument = {
  format: stateFormat,
  position: 12,
  time: 1_700_000_000_000,
  sections: {
    users: [
      { id: 1, name: 'Ämy 🦔' },
      { id: 2, name: 'Bo' },
    ],
    realm: [],
    queues: [[], ']', '],', null, 4],
  },
}

describe('snapshots', () => {
  test('null is read where there is no snapshot', async () => {
    assert.equal(await openSnapshots(newFolder()).read(), null)
  })

  test('the file is JSON, a row a line, for its owner alone', async () => {
    const folder = newFolder()
    await openSnapshots(folder).write(sample)
    const text = readFileSync(state(folder), 'utf8')
    assert.equal(
      text,
      [
        '{"format":3,"position":12,"time":1700000000000,"sections":{',
        '"users":[',
        '{"id":1,"name":"Ämy 🦔"},',
        '{"id":2,"name":"Bo"}',
        '],',
        '"realm":[',
        '],',
        '"queues":[',
        '[],',
        '"]",',
        '"],",',
        'null,',
        '4',
        ']',
        '},"sums":{"head":"970caa20","sections":{"users":"afba48e8","realm":"00000000","queues":"f618a390"}}}',
        '',
      ].join('\n'),
    )
    const { sums, ...document } = JSON.parse(text)
    assert.deepEqual(document, sample)
    assert.equal(statSync(state(folder)).mode & 0o777, 0o600)
    assert.deepEqual(readdirSync(folder), ['state.json'])
  })

  test('what is written comes back, sections in their order', async () => {
    const folder = newFolder()
    const name = fc.stringMatching(/^[a-z][a-z_-]{0,8}$/)
    const json = fc.jsonValue().map(value => JSON.parse(JSON.stringify(value)))
    const documents = fc.record(
      {
        format: fc.constant(1),
        position: fc.nat(),
        time: fc.nat(),
        sections: fc.dictionary(name, fc.array(json), { noNullPrototype: true }),
      },
      { noNullPrototype: true },
    )
    await fc.assert(
      fc.asyncProperty(documents, async document => {
        await openSnapshots(folder).write(document)
        const found = await openSnapshots(folder).read()
        assert.deepEqual(found, document)
        assert.deepEqual(Object.keys(found!.sections), Object.keys(document.sections))
      }),
      { numRuns: cases(100) },
    )
  })

  test('rows may come from a generator, and the loop turns while they are written and read', async () => {
    const folder = newFolder()
    function* rows() {
      for (let id = 0; id < 50_000; id++) yield { id, content: 'x'.repeat(300) }
    }
    let turns = 0
    let writing = true
    const turn = () => {
      turns++
      if (writing) setImmediate(turn)
    }
    setImmediate(turn)
    await openSnapshots(folder).write({ ...sample, sections: { messages: rows() } })
    writing = false
    assert.ok(turns > 10, `${turns} turns`)
    const found = await openSnapshots(folder).read()
    assert.equal(found?.sections.messages?.length, 50_000)
    assert.deepEqual(found?.sections.messages?.[49_999], { id: 49_999, content: 'x'.repeat(300) })
  })

  test('two writes asked for at once happen one after the other', async () => {
    const folder = newFolder()
    const snapshots = openSnapshots(folder)
    await Promise.all([snapshots.write(sample), snapshots.write({ ...sample, position: 13 })])
    assert.equal((await snapshots.read())?.position, 13)
  })

  test('a write that fails leaves the old snapshot and no rest, and the next one works', async () => {
    const folder = newFolder()
    const snapshots = openSnapshots(folder)
    await snapshots.write(sample)
    await assert.rejects(snapshots.write({ ...sample, sections: { users: [1n] } }), TypeError)
    await assert.rejects(snapshots.write({ ...sample, sections: { users: [undefined] } }), TypeError)
    await assert.rejects(snapshots.write({ ...sample, position: Number.NaN }), TypeError)
    assert.deepEqual(readdirSync(folder), ['state.json'])
    assert.deepEqual(await snapshots.read(), sample)
    await snapshots.write({ ...sample, position: 14 })
    assert.equal((await snapshots.read())?.position, 14)
  })

  test('what a crash left unfinished is removed', async () => {
    const folder = newFolder()
    await openSnapshots(folder).write(sample)
    const unfinished = unfinishedPath(state(folder))
    writeFileSync(unfinished, '{"format":3,"posi')
    assert.deepEqual(await openSnapshots(folder).read(), sample)
    assert.ok(!existsSync(unfinished))
  })

  test('a file that someone reformatted is still read', async () => {
    const folder = newFolder()
    for (const indent of [undefined, 2, '\t']) {
      await openSnapshots(folder).write(sample)
      writeFileSync(state(folder), JSON.stringify(JSON.parse(readFileSync(state(folder), 'utf8')), null, indent))
      assert.deepEqual(await openSnapshots(folder).read(), sample)
    }
    await openSnapshots(folder).write(sample)
    const text = readFileSync(state(folder), 'utf8')
    writeFileSync(state(folder), text.replaceAll('\n', '\r\n'))
    assert.deepEqual(await openSnapshots(folder).read(), sample)
  })

  test('a file cut short anywhere is refused', async () => {
    const folder = newFolder()
    await openSnapshots(folder).write(sample)
    const { size } = statSync(state(folder))
    // Without its last newline it is still whole.
    for (let length = size - 2; length >= 0; length--) {
      truncateSync(state(folder), length)
      await assert.rejects(openSnapshots(folder).read(), SnapshotDamaged, `at ${length}`)
    }
  })

  test('damage is reported with its line', async () => {
    const folder = newFolder()
    await openSnapshots(folder).write(sample)
    const text = readFileSync(state(folder), 'utf8')
    const cases: [string, number][] = [
      [text.replace('{"id":2', '{"id":'), 4],
      [text.replace('},\n', '}\n'), 4],
      [text.replace('"realm":[', '"realm":'), 6],
      [JSON.stringify(sample, null, 1).replace('"name": "Bo"', '"name" "Bo"'), 13],
      [JSON.stringify(sample, null, 1).replace('"Bo"', 'Bo'), 13],
      // Each is reported by JSON.parse in a way of its own.
      [JSON.stringify(sample, null, 1).slice(0, -1), JSON.stringify(sample, null, 1).split('\n').length],
      [`${JSON.stringify(sample, null, 1).split('"Bo"')[0]}\n`, 14],
      [`x${JSON.stringify(sample, null, 1)}`, 1],
      [text.replace('"position":12', '"position":x'), 1],
      [text.replace('"format"', 'format'), 1],
    ]
    for (const [damaged, line] of cases) {
      writeFileSync(state(folder), damaged)
      await assert.rejects(openSnapshots(folder).read(), error => {
        assert.ok(error instanceof SnapshotDamaged, String(error))
        assert.equal(error.file, 'state.json')
        assert.equal(error.line, line, error.message)
        return true
      })
    }
  })

  test('a changed letter, a changed digit, a lost row or section is refused, with file, line and section', async () => {
    const folder = newFolder()
    await openSnapshots(folder).write(sample)
    const text = readFileSync(state(folder), 'utf8')
    const cases: [string, number, RegExp][] = [
      [text.replace('Bo', 'Ba'), 2, /section "users" do not match their checksum/],
      [text.replace('"id":2', '"id":3'), 2, /section "users"/],
      [text.replace('{"id":1,"name":"Ämy 🦔"},\n', ''), 2, /section "users"/],
      [text.replace('"realm":[\n],\n', ''), 1, /section "realm"/],
      [text.replace('"realm"', '"realms"'), 6, /section "realms"/],
      [text.replace('null,\n4', '4,\nnull'), 8, /section "queues"/],
      [text.replace('"position":12', '"position":13'), 1, /position, time or files/],
      [text.replace(/,"sums":.*\}/, '}'), 1, /the checksums are missing/],
      [text.replace(/"sums":.*/, '"sums":7}'), 1, /the checksums are missing/],
    ]
    for (const [changed, line, words] of cases)
      for (const layout of [changed, JSON.stringify(JSON.parse(changed), null, 2)]) {
        assert.notEqual(layout, text)
        writeFileSync(state(folder), layout)
        await assert.rejects(openSnapshots(folder).read(), error => {
          assert.ok(error instanceof SnapshotDamaged, String(error))
          assert.match(error.message, words)
          assert.match(error.message, /replace the value of "sums" at its end with "edited"/)
          assert.equal(error.line, layout === changed ? line : 1)
          return true
        })
      }
  })

  test('an edit is accepted when the checksums are replaced by "edited", and the next snapshot has checksums again', async () => {
    const folder = newFolder()
    const snapshots = openSnapshots(folder)
    await snapshots.write(sample)
    const text = readFileSync(state(folder), 'utf8')
    const edited = text.replace('"Bo"', '"Bob"').replace(/"sums":.*/, '"sums":"edited"}')
    for (const layout of [edited, JSON.stringify(JSON.parse(edited), null, 2)]) {
      writeFileSync(state(folder), layout)
      assert.deepEqual((await snapshots.read())?.sections.users?.[1], { id: 2, name: 'Bob' })
    }
    await snapshots.write(sample)
    assert.equal(readFileSync(state(folder), 'utf8'), text)
  })

  test('a newer format and another file are refused with a sentence', async () => {
    const folder = newFolder()
    await openSnapshots(folder).write({ ...sample, format: stateFormat + 1 })
    await assert.rejects(openSnapshots(folder).read(), /state.json, line 1: format 4, this natter reads 3/)
    writeFileSync(state(folder), JSON.stringify({ ...sample, format: stateFormat + 1 }, null, 2))
    await assert.rejects(openSnapshots(folder).read(), /format 4, this natter reads 3/)
    writeFileSync(state(folder), '{"something": "else"}')
    await assert.rejects(openSnapshots(folder).read(), /not a snapshot of natter/)
    writeFileSync(state(folder), JSON.stringify({ ...sample, sections: { users: 3 } }))
    await assert.rejects(openSnapshots(folder).read(), /not a list of rows/)
  })
})
