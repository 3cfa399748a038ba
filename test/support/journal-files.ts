// Journals in folders of their own, gone after the tests.

import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { forgetCleanStop } from '../../daemon/journal/clean-stop.ts'
import { FileJournal, type FileJournalOptions } from '../../daemon/journal/file-journal.ts'
import { collect, newEntry, type TestFact } from './journal-contract.ts'

const root = mkdtempSync(join(tmpdir(), 'natter-journal-'))
// Several test files of one process use it, so that it goes with the process and not with the first of them.
process.once('exit', () => rmSync(root, { recursive: true, force: true }))

export const newFolder = () => mkdtempSync(join(root, 'store-'))

/** Closing it leaves the folder as a crash does: without the record of a clean stop. */
export async function openFile(
  folder: string,
  options: Partial<FileJournalOptions> = {},
): Promise<FileJournal<TestFact>> {
  const journal = await FileJournal.open<TestFact>({ folder, durability: 'os', ...options })
  const close = journal.close.bind(journal)
  journal.close = () => close().then(() => forgetCleanStop(folder))
  return journal
}

/** A store with the texts in its journal, closed again. */
export async function written(texts: readonly string[], folder = newFolder()): Promise<string> {
  const journal = await openFile(folder)
  for (const text of texts) journal.append(newEntry(text))
  await journal.close()
  return folder
}

export async function texts(folder: string, after = 0, options: Partial<FileJournalOptions> = {}): Promise<string[]> {
  const journal = await openFile(folder, options)
  try {
    return (await collect(journal.replay(after))).map(({ facts }) => facts[0]?.text ?? '')
  } finally {
    await journal.close()
  }
}

export const active = (folder: string) => join(folder, 'journal.ndjson')
export const letters = (count: number) => Array.from({ length: count }, (_, index) => `entry ${index} ü🦔`)
