// Reads everything that a store holds and reports what is wrong, and where. Changes nothing.

import { createHash } from 'node:crypto'
import { createReadStream, existsSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import type { State } from '../domain/model/state.ts'
import { checkRows, checkState, RowsRefused } from '../domain/row-checks/index.ts'
import { checkSecret, givenSecret, noSecret, storedSecret } from '../io/secret.ts'
import { namedFiles } from '../io/unneeded-files.ts'
import { JournalDamaged } from '../journal/journal.ts'
import type { Segment } from '../journal/segment-reader.ts'
import { readOpenState, SnapshotDamaged, type StateDocument } from '../journal/state-file.ts'
import { StoreHold } from '../journal/store-hold.ts'
import { findOpen } from '../local/open-files.ts'
import { openPlainSync } from '../local/plain-files.ts'
import { rebuildState } from './rebuild.ts'
import { type HeldFile, type SideFile, StoreView } from './store-view.ts'
import { walkSegment } from './sums.ts'

export interface Problem {
  /** Its path in the folder. */
  readonly file: string
  readonly line?: number
  /** A sentence that also names the place. */
  readonly message: string
}

export interface StoreReport {
  /** Of the newest entry of the journal. */
  readonly position: number
  /** Files that were read, and their bytes. */
  readonly files: number
  readonly bytes: number
  /** Without any of these a daemon starts on the store. */
  readonly problems: readonly Problem[]
  /** Whether the daemon that used it last recorded that everything is on disk. False while one uses it. */
  readonly stopped_cleanly: boolean
  /** What an operator should know, but nothing that is wrong. */
  readonly notes: readonly string[]
}

interface CheckOptions {
  /** In place of the one in the folder. */
  readonly secret?: string | undefined
}

/** Everything, as far as it can be read: one problem does not hide the others. */
export async function checkStore(folder: string, options: CheckOptions = {}): Promise<StoreReport> {
  const hold = StoreHold.takeBesideDaemon(folder)
  try {
    return await checkHeld(folder, new Checking(options))
  } finally {
    hold?.release()
  }
}

async function checkHeld(folder: string, checking: Checking): Promise<StoreReport> {
  let view: StoreView
  try {
    view = await StoreView.open(folder)
  } catch (error) {
    if (!checking.note(error)) throw error
    return checking.report(0, false)
  }
  try {
    const document = await checking.files(view)
    await checking.uploads(view)
    // What cannot be read cannot be rebuilt.
    if (checking.isClean) await checking.state(view, document)
    checking.modes(folder)
    return checking.report(view.position, view.cleanStop === view.position)
  } finally {
    view.close()
  }
}

/** The files that the state of the store names, by their paths in the folder. `checked`: throws if its rows are not as they should be. */
export async function findNeeded(view: StoreView, checked: boolean): Promise<readonly string[]> {
  const { state } = await rebuildState(view)
  if (checked) checkState(state, view.position)
  return listNeeded(state)
}

/** For a start: throws if the journal, which a person may have edited, makes rows that cannot be used. */
export async function checkEdited(folder: string): Promise<void> {
  const view = await StoreView.open(folder)
  try {
    await findNeeded(view, true)
  } catch (error) {
    if (!(error instanceof RowsRefused)) throw error
    throw new Error(`the journal was edited and cannot be used: ${error.message}. Undo the edit, or restore a backup`)
  } finally {
    view.close()
  }
}

function listNeeded(state: State): string[] {
  return [...new Set(namedFiles(state))].map(name => `files/${name}`)
}

function describeUnfinished({ file, unfinished, last }: Segment): string {
  return `${file}: ${unfinished} bytes after position ${last} are no entry: a write in progress, or one that was not finished, which the next start cuts off`
}

type Document = StateDocument<unknown[]> | undefined

class Checking {
  readonly #options: CheckOptions
  readonly #problems: Problem[] = []
  readonly #notes: string[] = []
  #files = 0
  #bytes = 0

  constructor(options: CheckOptions) {
    this.#options = options
  }

  get isClean(): boolean {
    return this.#problems.length === 0
  }

  report(position: number, stoppedCleanly: boolean): StoreReport {
    return {
      position,
      files: this.#files,
      bytes: this.#bytes,
      stopped_cleanly: stoppedCleanly,
      problems: this.#problems,
      notes: this.#notes,
    }
  }

  /** Whether the error is about the store; anything else is for the caller. */
  note(error: unknown): boolean {
    if (!(error instanceof JournalDamaged || error instanceof SnapshotDamaged)) return false
    const { file, line, message } = error
    this.#problems.push({ file, line, message })
    return true
  }

  async files(view: StoreView): Promise<Document> {
    const document = await this.#snapshot(view.state)
    for (const file of view.sideFiles) await this.#sideFile(file)
    let previous: number | undefined
    for (const segment of view.segments) {
      this.#count(segment.size)
      await this.#guard(() => walkSegment(segment, view.snapshot.position, previous))
      previous = segment.last
      if (segment.unfinished) this.#notes.push(describeUnfinished(segment))
    }
    return document
  }

  async #snapshot(state: HeldFile | undefined): Promise<Document> {
    if (!state) return undefined
    this.#count(state.size)
    let document: Document
    await this.#guard(async () => {
      document = await readOpenState(state.fd, state.name)
    })
    return document
  }

  async #sideFile({ name, fd, size, entry }: SideFile): Promise<void> {
    this.#count(size)
    let sum = 0
    for await (const chunk of createReadStream('', { fd, start: 0, autoClose: false, highWaterMark: 1024 * 1024 }))
      sum = crc32(chunk, sum)
    if (size !== entry.bytes) this.#add(name, `has ${size} bytes, but ${entry.bytes} were written`)
    else if (sum !== entry.sum) this.#add(name, 'does not match its checksum in state.json')
  }

  /** Uploads are named by their content. */
  async uploads(view: StoreView): Promise<void> {
    for (const name of view.looseFiles()) {
      const hash = createHash('sha256')
      try {
        for await (const chunk of createReadStream('', { fd: openPlainSync(join(view.folder, name)) })) {
          hash.update(chunk)
          this.#bytes += chunk.length
        }
      } catch (error) {
        // A daemon that runs deletes what is no longer needed.
        if ((error as NodeJS.ErrnoException).code === 'ENOENT') continue
        this.#add(name, (error as Error).message)
        continue
      }
      this.#files++
      if (name.startsWith('files/') && name !== `files/${hash.digest('hex')}`)
        this.#add(name, 'does not have the content that its name says')
    }
  }

  /** Checks the rows of the snapshot, loads them and applies the journal, as a start does, and checks what comes of it. */
  async state(view: StoreView, document: Document): Promise<void> {
    let rebuilt: Awaited<ReturnType<typeof rebuildState>>
    try {
      if (document) for (const _ of checkRows(document.sections));
    } catch (error) {
      this.#add('state.json', (error as Error).message)
      return
    }
    try {
      rebuilt = await rebuildState(view, document)
      checkState(rebuilt.state, view.position)
    } catch (error) {
      if (!this.note(error)) this.#add('journal.ndjson', `cannot be applied: ${(error as Error).message}`)
      return
    }
    if (rebuilt.ownerlessQueues > 0)
      this.#notes.push(
        `event queues of accounts that do not exist: ${rebuilt.ownerlessQueues}. They cannot be read, and a daemon deletes them when they expire`,
      )
    this.#secret(view.folder, rebuilt.secretVerifier, rebuilt.state)
    for (const file of listNeeded(rebuilt.state))
      if (!existsSync(join(view.folder, file)))
        this.#add(file, 'is missing; an upload, avatar, emoji or export needs it')
  }

  #secret(folder: string, verifier: string | undefined, state: State): void {
    if (this.#options.secret !== undefined) {
      if (verifier !== undefined && verifier !== givenSecret(this.#options.secret).verifier)
        this.#add('secret', 'the store was used with another secret; give that one with --secret-file, to all daemons')
      return
    }
    const file = statSync(join(folder, 'secret'), { throwIfNoEntry: false })
    if (!file) {
      this.#notes.push(noSecret)
      return
    }
    this.#count(file.size)
    try {
      checkSecret(storedSecret(folder, false), verifier, state.users.size > 0)
    } catch (error) {
      this.#add('secret', (error as Error).message)
    }
  }

  modes(folder: string): void {
    const open = findOpen([folder, join(folder, 'secret')])
    this.#notes.push(...open.map(({ says, command }) => `${says}; run ${command}`))
  }

  async #guard(work: () => Promise<void>): Promise<void> {
    try {
      await work()
    } catch (error) {
      if (!this.note(error)) throw error
    }
  }

  #add(file: string, what: string): void {
    this.#problems.push({ file, message: `${file}: ${what}` })
  }

  #count(bytes: number): void {
    this.#files++
    this.#bytes += bytes
  }
}
