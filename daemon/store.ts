// Where everything is kept: a folder with its lock, journal, snapshots, secret and files, or memory alone.

import { rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Config } from './config.ts'
import type { Fact } from './domain/facts.ts'
import { type Files, folderFiles, memoryFiles } from './io/files.ts'
import { newSecret } from './io/keys.ts'
import { givenSecret, type Secret, storedSecret } from './io/secret.ts'
import { FileJournal } from './journal/file-journal.ts'
import type { Journal } from './journal/journal.ts'
import { MemoryJournal } from './journal/memory-journal.ts'
import { openSnapshots, type Snapshots } from './journal/snapshots.ts'
import { prepareFolder } from './journal/store-folder.ts'
import { lockStore } from './journal/store-lock.ts'

export interface Store {
  readonly journal: Journal<Fact>
  readonly snapshots: Snapshots | null
  readonly secret: Secret
  readonly files: Files
  /** Whether the journal has grown enough for a new snapshot. */
  worthCompacting(): boolean
  /** Lets somebody else have the folder. */
  release(): Promise<void>
}

/** Snapshots are rewritten whole, so only when the journal has outgrown the last one: each byte is written twice at most. */
const compactAfter = 8 * 1024 * 1024

export async function openStore(config: Config, warn: (text: string) => void): Promise<Store> {
  if (config.memory) {
    return {
      journal: new MemoryJournal<Fact>(),
      snapshots: null,
      secret: givenSecret(config.secret ?? newSecret()),
      worthCompacting: () => false,
      files: memoryFiles(),
      release: async () => {},
    }
  }
  const folder = config.data
  await prepareFolder(folder)
  const lock = await lockStore(folder)
  try {
    const snapshots = openSnapshots(folder)
    const journal = await FileJournal.open<Fact>({ folder, durability: config.durability, warn })
    const release = async () => {
      rmSync(join(folder, 'daemon.json'), { force: true })
      await lock.release()
    }
    return {
      journal,
      snapshots,
      secret: config.secret === undefined ? storedSecret(folder, config.newSecret) : givenSecret(config.secret),
      files: folderFiles(join(folder, 'files')),
      worthCompacting: () =>
        sizeOf(join(folder, 'journal.ndjson')) > Math.max(compactAfter, sizeOf(join(folder, 'state.json'))),
      release,
    }
  } catch (error) {
    await lock.release()
    throw error
  }
}

function sizeOf(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0
}
