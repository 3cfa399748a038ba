// The store of a world: a folder with journal, snapshots, secret and files, or memory alone. The folder has one process.

import { existsSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Fact } from './domain/facts.ts'
import { type Files, folderFiles, memoryFiles } from './io/files.ts'
import { newSecret } from './io/keys.ts'
import { givenSecret, type Secret, storedSecret } from './io/secret.ts'
import { cleanStopName, isEdited } from './journal/clean-stop.ts'
import { FileJournal, type FileJournalOptions } from './journal/file-journal.ts'
import type { Journal } from './journal/journal.ts'
import { MemoryJournal } from './journal/memory-journal.ts'
import { ReplicatedJournal } from './journal/replicated-journal.ts'
import { openSnapshots, type Snapshots, snapshotPosition } from './journal/snapshots.ts'
import { prepareFolder, refuseFilesAlone } from './journal/store-folder.ts'
import { StoreHolds } from './journal/store-hold.ts'
import { lockStore } from './journal/store-lock.ts'
import { removeUnfinished } from './local/atomic-file.ts'
import { clusterFileName, readyFileName, runningFileName } from './local/ready-file.ts'
import { warn } from './local/warnings.ts'
import type { Config } from './start/config.ts'

/** The parts of the store of one world. */
export interface Store {
  readonly journal: Journal<Fact>
  readonly snapshots: Snapshots | null
  readonly secret: Secret
  readonly files: Files
  /** Folder for mails; null where they are not kept. */
  readonly outbox: string | null
  /** Whether a backup is reading it. Then no file is deleted. */
  readonly isHeld: () => boolean
  /** Bytes of the journal; null where nothing is written. */
  journalSize(): number | null
  /** Whether the journal has grown enough for a new snapshot. */
  worthCompacting(): boolean
}

export interface ReplicaStore extends Store {
  readonly journal: ReplicatedJournal<Fact>
}

/** A folder that this process alone may write to. It outlives the worlds that are opened in it. */
export interface StoreFolder {
  open(): Promise<Store>
  /** The same for a daemon of a cluster: the log of the cluster decides what the journal takes. */
  openReplica(): Promise<ReplicaStore>
  /** Gives the folder up, so that another process can use it. */
  release(): Promise<void>
}

/** Called for every batch that was written to the journal. */
type OnFlush = ((milliseconds: number, bytes: number) => void) | undefined

type Settings = Pick<Config, 'data' | 'durability' | 'memory' | 'newSecret' | 'secret'>

/** A snapshot is written when the journal has outgrown the last one, so that each byte is written twice at most. */
const compactAfter = 8 * 1024 * 1024

/** What other programs read about the daemon that runs. */
const announcements = [runningFileName, readyFileName]

/** Files that a crash can leave unfinished. The snapshot sees to its own. */
const smallFiles = [...announcements, clusterFileName, cleanStopName, 'secret']

export async function claimFolder(settings: Settings, onFlush?: OnFlush): Promise<StoreFolder> {
  if (settings.memory)
    return {
      open: async () => memoryStore(settings.secret),
      openReplica: () => Promise.reject(new Error('a daemon in memory cannot join a cluster')),
      release: async () => {},
    }
  const folder = settings.data
  await prepareFolder(folder)
  // Waited for before the folder is read: asking another program for the lock takes a few milliseconds.
  const locked = lockStore(folder)
  locked.then(
    ({ warning }) => warning && warn(warning),
    () => {},
  )
  // Once: later, this process writes them itself.
  const tidied = locked.then(() => {
    for (const name of smallFiles) removeUnfinished(join(folder, name))
  })
  tidied.catch(() => {})
  let isOpen = false
  return {
    async open() {
      await tidied
      refuseReplica(folder)
      refuseFilesAlone(folder)
      if (isEdited(folder)) await refuseWrongRows(folder)
      const journal = await openJournal({ folder, durability: settings.durability, onFlush })
      isOpen = true
      return openStore(settings, journal)
    },
    async openReplica() {
      await tidied
      // The log is on the disks of etcd: the file need not be synced for every entry.
      const file = await openJournal({
        folder,
        durability: 'os',
        onFlush,
        startAfter: snapshotPosition(folder),
      })
      isOpen = true
      const journal = new ReplicatedJournal(file)
      return { ...openStore(settings, journal), journal }
    },
    async release() {
      const lock = await locked.catch(() => undefined)
      if (!lock) return
      try {
        // In a folder that was refused they are files of the user.
        if (isOpen) for (const name of announcements) rmSync(join(folder, name), { force: true })
      } finally {
        // Even if the disk refuses everything, because this process may go on.
        await lock.release()
      }
    },
  }
}

/** Before the journal is opened, which forgets the stop. */
async function refuseWrongRows(folder: string): Promise<void> {
  const { checkEdited } = await import('./maintenance/check.ts')
  await checkEdited(folder)
}

async function openJournal(options: FileJournalOptions): Promise<FileJournal<Fact>> {
  const journal = await FileJournal.open<Fact>(options)
  if (journal.repair) warn(journal.repair)
  return journal
}

/** A store that ends with its world. */
export function memoryStore(secret: string | undefined, files = memoryFiles()): Store {
  return {
    journal: new MemoryJournal<Fact>(),
    snapshots: null,
    secret: givenSecret(secret ?? newSecret()),
    files,
    outbox: null,
    isHeld: () => false,
    journalSize: () => null,
    worthCompacting: () => false,
  }
}

/** A daemon outside of its cluster would add entries to the folder that the cluster does not have. */
function refuseReplica(folder: string): void {
  const file = join(folder, clusterFileName)
  if (existsSync(file))
    throw new Error(
      `${folder} belongs to a cluster. Start natterd with --cluster, or, to leave the cluster for good, delete ${file} first`,
    )
}

function openStore({ data: folder, secret, newSecret }: Settings, journal: Journal<Fact>): Store {
  const holds = new StoreHolds(folder)
  const journalSize = () => readSize(join(folder, 'journal.ndjson'))
  const stateSize = () => readSize(join(folder, 'state.json'))
  return {
    journal,
    snapshots: openSnapshots(folder, () => {
      const error = journal.lost()
      if (error) throw error
    }),
    secret: secret === undefined ? storedSecret(folder, newSecret) : givenSecret(secret, folder),
    files: folderFiles(join(folder, 'files'), () => journalSize() + stateSize()),
    outbox: join(folder, 'outbox'),
    isHeld: () => holds.any(),
    journalSize,
    worthCompacting: () => journalSize() > Math.max(compactAfter, stateSize()),
  }
}

function readSize(file: string): number {
  return statSync(file, { throwIfNoEntry: false })?.size ?? 0
}
