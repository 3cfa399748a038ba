// In which order files get to the disk: a crash of the machine keeps only what was synced.

import assert from 'node:assert/strict'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { describe, test } from 'node:test'
import { openSnapshots, stateFormat } from '../../daemon/journal/snapshots.ts'
import { renameDurably, writeFileAtomically, writeFileAtomicallySync } from '../../daemon/local/atomic-file.ts'
import { newEntry } from '../support/journal-contract.ts'
import { active, newFolder, openFile, written } from '../support/journal-files.ts'
import { type Fault, watchDisk } from '../support/watched-disk.ts'

/** The calls of some work in a folder, with `FOLDER` for its name and `TMP` for a random one. */
async function callsIn(folder: string, work: () => unknown, fault?: Fault): Promise<string[]> {
  const calls = await watchDisk(folder, work, fault)
  return calls.map(call => call.replace(basename(folder), 'FOLDER').replace(/[0-9a-f-]{36}\.tmp/g, 'TMP'))
}

const snapshot = { format: stateFormat, position: 1, time: 1, sections: { users: [1, 2] } }

/** A journal is closed before its clean stop is on disk. */
const stopRecorded = [
  'open clean-stop.json.TMP',
  'write clean-stop.json.TMP',
  'sync clean-stop.json.TMP',
  'close clean-stop.json.TMP',
  'rename clean-stop.json.TMP clean-stop.json',
  'open FOLDER',
  'sync FOLDER',
  'close FOLDER',
]

// Windows does not sync folders.
describe('the order of writes', { skip: process.platform === 'win32' }, () => {
  test('a new journal has its header on disk before its name, and its name before the first entry', async () => {
    const folder = newFolder()
    const calls = await callsIn(folder, async () => {
      const journal = await openFile(folder, { durability: 'fsync' })
      await journal.append(newEntry('a')).durable
      await journal.close()
    })
    assert.deepEqual(calls, [
      'make FOLDER',
      'remove journal-000000000000.tmp',
      'open journal-000000000000.tmp',
      'write journal-000000000000.tmp',
      'sync journal-000000000000.tmp',
      'rename journal-000000000000.tmp journal.ndjson',
      'open FOLDER',
      'sync FOLDER',
      'close FOLDER',
      // From here on the folder stays open, for seals.
      'open FOLDER',
      'write journal-000000000000.tmp',
      'sync journal-000000000000.tmp',
      // The room after the entry.
      'truncate journal-000000000000.tmp',
      'sync journal-000000000000.tmp',
      'close journal-000000000000.tmp',
      ...stopRecorded,
      'close FOLDER',
    ])
  })

  for (const durability of ['fsync', 'os'] as const)
    test(`a seal cuts the room off the old segment, syncs it and gives it its name before the new one gets its own (${durability})`, async () => {
      const folder = newFolder()
      await written(['a'], folder)
      const calls = await callsIn(folder, async () => {
        const journal = await openFile(folder, { durability })
        await journal.append(newEntry('b')).durable
        await journal.seal()
        await journal.forget(2)
        await journal.close()
      })
      assert.deepEqual(calls, [
        'make FOLDER',
        'open journal.ndjson',
        'open FOLDER',
        'write journal.ndjson',
        ...(durability === 'fsync' ? ['sync journal.ndjson'] : []),
        'remove journal-000000000002.tmp',
        'open journal-000000000002.tmp',
        'write journal-000000000002.tmp',
        'sync journal-000000000002.tmp',
        'truncate journal.ndjson',
        'sync journal.ndjson',
        'rename journal.ndjson journal-000000000002.ndjson',
        'sync FOLDER',
        'rename journal-000000000002.tmp journal.ndjson',
        'sync FOLDER',
        'close journal.ndjson',
        'remove journal-000000000002.ndjson',
        'sync FOLDER',
        'sync journal-000000000002.tmp',
        'close journal-000000000002.tmp',
        ...stopRecorded,
        'close FOLDER',
      ])
    })

  test('a torn end is cut on disk before anything is appended', async () => {
    const folder = await written(['a'])
    writeFileSync(active(folder), 'torn', { flag: 'a' })
    const calls = await callsIn(folder, async () => (await openFile(folder)).close())
    assert.deepEqual(calls, [
      'make FOLDER',
      'open journal.ndjson',
      'truncate journal.ndjson',
      'sync journal.ndjson',
      'open FOLDER',
      'sync journal.ndjson',
      'close journal.ndjson',
      ...stopRecorded,
      'close FOLDER',
    ])
  })

  test('a whole file is on disk before it gets its name, and the name is on disk before the write resolves', async () => {
    const folder = newFolder()
    const calls = await callsIn(folder, () => writeFileAtomically(join(folder, 'secret'), 'text'))
    assert.deepEqual(calls, [
      'open secret.TMP',
      'write secret.TMP',
      'sync secret.TMP',
      'close secret.TMP',
      'rename secret.TMP secret',
      'open FOLDER',
      'sync FOLDER',
      'close FOLDER',
    ])
  })

  test('a large file is synced while the rest of it is made', async () => {
    const folder = newFolder()
    const piece = Buffer.alloc(1024 * 1024)
    const calls = await callsIn(folder, () =>
      writeFileAtomically(join(folder, 'large'), [piece, piece, piece].values()),
    )
    assert.deepEqual(
      calls.filter(call => /^(write|sync) large/.test(call)),
      ['write large.TMP', 'write large.TMP', 'sync large.TMP', 'write large.TMP', 'sync large.TMP'],
    )
  })

  test('pieces are written one after the other; empty ones are left out', async () => {
    const folder = newFolder()
    const path = join(folder, 'file')
    const pieces = ['a', '', 'b', 'c'].map(text => Buffer.from(text))
    const calls = await callsIn(folder, () => writeFileAtomically(path, pieces.values()))
    assert.deepEqual(
      calls.filter(call => /^(write|sync|rename)/.test(call)),
      ['write file.TMP', 'write file.TMP', 'write file.TMP', 'sync file.TMP', 'rename file.TMP file', 'sync FOLDER'],
    )
    assert.equal(readFileSync(path, 'utf8'), 'abc')
  })

  test('a piece that cannot be written fails the file, even if it is the last', async () => {
    const folder = newFolder()
    const full: Fault = call => (call.startsWith('write') ? 'ENOSPC' : undefined)
    for (const texts of [['a'], ['a', 'b', 'c']])
      await assert.rejects(
        callsIn(
          folder,
          () => writeFileAtomically(join(folder, 'file'), texts.map(text => Buffer.from(text)).values()),
          full,
        ),
        /ENOSPC/,
      )
    assert.deepEqual(readdirSync(folder), [])
  })

  for (const durable of [true, false, undefined])
    test(`before it returns, writeFileAtomicallySync ${durable === false ? 'renames, and leaves the disk alone' : 'syncs the file and its name'} (durable: ${durable})`, async () => {
      const folder = newFolder()
      const options = durable === undefined ? undefined : { durable }
      const calls = await callsIn(folder, () => writeFileAtomicallySync(join(folder, 'secret'), 'text', options))
      const order = calls.filter(call => /^(sync|rename)/.test(call))
      const renamed = 'rename secret.TMP secret'
      assert.deepEqual(order, durable === false ? [renamed] : ['sync secret.TMP', renamed, 'sync FOLDER'])
      const opened = calls.filter(call => call.startsWith('open')).length
      assert.equal(calls.filter(call => call.startsWith('close')).length, opened, calls.join('\n'))
    })

  test('a file that is renamed durably has its new name on disk', async () => {
    const folder = newFolder()
    writeFileSync(join(folder, 'a'), '')
    const calls = await callsIn(folder, () => renameDurably(join(folder, 'a'), join(folder, 'b')))
    assert.deepEqual(calls, ['rename a b', 'open FOLDER', 'sync FOLDER', 'close FOLDER'])
  })

  test('files beside a snapshot, and their folder, are on disk before the snapshot', async () => {
    const folder = newFolder()
    const snapshots = openSnapshots(folder)
    const files = ['m1', 'm2'].map(name => ({ name, pieces: () => [Buffer.from(name)] }))
    const calls = await callsIn(folder, () => snapshots.write({ ...snapshot, files }))
    assert.deepEqual(
      calls.filter(call => /^(make|sync|rename|remove)/.test(call)),
      [
        'make messages',
        'sync m1.TMP',
        'rename m1.TMP m1',
        'sync messages',
        'sync m2.TMP',
        'rename m2.TMP m2',
        'sync messages',
        'sync FOLDER',
        'sync state.json.TMP',
        'rename state.json.TMP state.json',
        'sync FOLDER',
      ],
    )
    // Files that are known are not written again; the folder is not made again.
    const more = await callsIn(folder, () => snapshots.write({ ...snapshot, position: 2, files: [{ name: 'm2' }] }))
    assert.deepEqual(
      more.filter(call => /^(make|sync|rename|remove)/.test(call)),
      ['sync state.json.TMP', 'rename state.json.TMP state.json', 'sync FOLDER', 'remove m1'],
    )
  })
})
