// `natter store check`, a backup and a start where single facts of the journal are good, and the rows that come of them are not.

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import type { Fact } from '../../daemon/domain/facts.ts'
import { collectRows } from '../../daemon/domain/model/saved-rows.ts'
import { FileJournal } from '../../daemon/journal/file-journal.ts'
import { openSnapshots } from '../../daemon/journal/snapshots.ts'
import { backupToFile } from '../../daemon/maintenance/backup.ts'
import { checkStore } from '../../daemon/maintenance/index.ts'
import { host, newStoreFolder } from '../support/daemon.ts'
import { World } from '../support/in-process.ts'

async function append(folder: string, ...facts: object[]): Promise<void> {
  const journal = await FileJournal.open<Fact>({ folder, durability: 'os' })
  await journal.append({ time: 0, op: 'test', actor: null, facts: facts as Fact[] }).durable
  await journal.close()
}

async function problemsOf(folder: string): Promise<string[]> {
  return (await checkStore(folder)).problems.map(({ message }) => message)
}

async function refuseBackup(folder: string, words: RegExp): Promise<void> {
  const file = join(newStoreFolder(), 'b.tar')
  await assert.rejects(backupToFile(file, { folder, withoutSecret: true, now: new Date() }), words)
}

test('a store without accounts may have no rows', async () => {
  const folder = newStoreFolder()
  await append(folder, { type: 'store.put-back', restoreId: '1-2-3' })
  assert.deepEqual(await problemsOf(folder), [])
  const linkifier = { id: 1, pattern: '(', template: 'https://example.com/', order: 1 }
  await append(folder, { type: 'linkifier.added', linkifier })
  const words = /users: there are rows of an organization, but no accounts/
  assert.match((await problemsOf(folder)).join(), words)
  await refuseBackup(folder, words)
  await assert.rejects(host(folder), /the store has rows but no accounts; run natter store check/)
})

test('a store that leaves no room for later IDs is found before a restore refuses its backup', async () => {
  const folder = newStoreFolder()
  const daemon = await host(folder)
  await daemon.stop()
  const draft = { userId: daemon.owner.id, kind: '', to: [], topic: '', content: 'x', timestamp: 1 }
  await append(folder, { type: 'drafts.created', drafts: [{ ...draft, id: 2 ** 28 }] })
  const words = /drafts: the highest ID, 268435456, leaves no room for later ones/
  assert.match((await problemsOf(folder)).join(), words)
  await refuseBackup(folder, words)

  const far = newStoreFolder()
  const sections = collectRows(new World().state.save(true))
  await openSnapshots(far).write({ format: 3, position: 2 ** 48, time: 0, sections })
  await (await FileJournal.open({ folder: far, durability: 'os', startAfter: 2 ** 48 })).close()
  assert.match((await problemsOf(far)).join(), /the journal is at position 281474976710656, which leaves no room/)
})
