// A store as its maintenance sees it: whole where a start takes it for whole, and refused where a start refuses it.

import assert from 'node:assert/strict'
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, test } from 'node:test'
import type { Fact } from '../../daemon/domain/facts.ts'
import { recordCleanStop } from '../../daemon/journal/clean-stop.ts'
import { FileJournal } from '../../daemon/journal/file-journal.ts'
import { headerLine, sealedName, unfinishedName } from '../../daemon/journal/segment-format.ts'
import { restoringName } from '../../daemon/journal/store-folder.ts'
import { backupToFile } from '../../daemon/maintenance/backup.ts'
import { checkBackup, checkStore, openBackup, readStats } from '../../daemon/maintenance/index.ts'
import { host, newStoreFolder } from '../support/daemon.ts'

const openJournal = (folder: string) => FileJournal.open<Fact>({ folder, durability: 'os' })

/** A store with two entries that was not stopped. */
async function storeOfTwo(): Promise<string> {
  const folder = newStoreFolder()
  const journal = await openJournal(folder)
  for (const restoreId of ['1', '2'])
    await journal.append({ time: 0, op: 'test', actor: null, facts: [{ type: 'store.put-back', restoreId }] }).durable
  await journal.close()
  rmSync(join(folder, 'clean-stop.json'))
  return folder
}

async function backUp(folder: string): Promise<string> {
  const file = join(newStoreFolder(), 'b.tar')
  await backupToFile(file, { folder, withoutSecret: true, now: new Date() })
  return file
}

describe('a store whose daemon was killed between the two renames of a seal', () => {
  const active = (folder: string) => join(folder, 'journal.ndjson')
  const left: Record<string, (folder: string) => void> = {
    'has no active segment': folder => writeFileSync(join(folder, unfinishedName(2)), headerLine(2)),
    'has one without a byte': folder => writeFileSync(active(folder), ''),
    'has half a header': folder => writeFileSync(active(folder), headerLine(2).slice(0, 9)),
  }
  for (const [name, leave] of Object.entries(left))
    test(`is whole if it ${name}`, async () => {
      const folder = await storeOfTwo()
      renameSync(active(folder), join(folder, sealedName(2)))
      leave(folder)
      const { position, problems } = await checkStore(folder)
      assert.deepEqual([position, problems], [2, []])
      assert.equal((await readStats(folder)).journal_entries, 2)
      assert.equal((await checkBackup(openBackup(await backUp(folder)))).position, 2)
      const journal = await openJournal(folder)
      assert.equal(journal.position, 2)
      await journal.close()
    })

  test('is damaged if it was stopped cleanly after the seal', async () => {
    const folder = await storeOfTwo()
    renameSync(active(folder), join(folder, sealedName(2)))
    await recordCleanStop(folder, 3)
    const [problem] = (await checkStore(folder)).problems
    assert.match(problem!.message, /line 1: the journal ends at position 2, but natterd stopped cleanly at position 3/)
  })
})

test('a sealed segment of an older copy is found by every check, as a start finds it', async () => {
  const folder = newStoreFolder()
  const daemon = await host(folder)
  await daemon.compact()
  await daemon.stop()
  assert.deepEqual((await checkStore(folder)).problems, [])
  writeFileSync(join(folder, sealedName(1)), headerLine(0))
  const words = /but journal-000000000001\.ndjson goes before it: .* Remove that one/
  assert.match((await checkStore(folder)).problems[0]!.message, words)
  await assert.rejects(backUp(folder), words)
  await assert.rejects(host(folder), words)
})

test('a folder that a restore has half replaced is refused by everything, whatever is in it', async () => {
  const folder = await storeOfTwo()
  mkdirSync(join(folder, restoringName()))
  const words =
    /a restore into it was interrupted, or has not ended; if it was interrupted, run `natter restore` again, with --replace/
  for (const part of ['journal.ndjson', 'state.json']) {
    for (const work of [checkStore, readStats, backUp, host]) await assert.rejects(work(folder), words)
    rmSync(join(folder, part), { force: true })
    writeFileSync(join(folder, 'state.json'), '{}')
  }
  assert.ok(!existsSync(join(folder, 'journal.ndjson')))
})
