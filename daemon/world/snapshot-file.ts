// Snapshots as files: written by `snapshot export` and `--snapshot-on-exit`, and read by `--from`, which also takes the folder of a
// store. They have neither secrets nor keys.

import { existsSync } from 'node:fs'
import { stat } from 'node:fs/promises'
import { join } from 'node:path'
import { setImmediate as nextTurn } from 'node:timers/promises'
import type { Clock, ClockSetting } from '../clock.ts'
import type { Sections, Snapshot, SnapshotFiles, WorldTime } from '../control/snapshots.ts'
import { collectRows, rowsForCopy } from '../domain/model/saved-rows.ts'
import type { State } from '../domain/model/state.ts'
import { invalid } from '../domain/refusal.ts'
import type { Engine } from '../engine.ts'
import { type Files, folderFiles } from '../io/files.ts'
import { keepUploads, type SavedUpload } from '../io/saved-uploads.ts'
import { namedFiles } from '../io/unneeded-files.ts'
import { acceptDocument, readStateFile, snapshotText, stateFormat } from '../journal/snapshots.ts'
import { StoreHold } from '../journal/store-hold.ts'
import { writeFileAtomically } from '../local/atomic-file.ts'
import { resumeCommand, snapshotName } from '../local/failure-files.ts'
import { tooDeep } from '../local/nesting.ts'
import { splitSections } from '../replay.ts'

export function snapshotFiles(files: Files): SnapshotFiles {
  return {
    write: (time, state) => writeWorld(time, state, files),
    seed: state => seedText(state, files),
    async read(text) {
      try {
        return await readWorld(acceptDocument('the file', parse(text)).sections, files, true)
      } catch (error) {
        throw invalid('document', (error as Error).message)
      }
    },
  }
}

function parse(text: string): unknown {
  if (tooDeep(text)) throw new Error('is nested too deeply')
  try {
    return JSON.parse(text)
  } catch {
    throw new Error('not a snapshot of natter: it is not valid JSON, or was cut off')
  }
}

/** Writes the present state, for `--snapshot-on-exit`. */
export async function writeSnapshot(path: string, engine: Engine, clock: Clock, files: Files): Promise<void> {
  await writeFileAtomically(path, writeWorld({ time: clock.now(), clock: clock.setting }, engine.state, files))
}

/** Reads what `--from` names: a file of `snapshot export`, or the folder of a store, which is not changed. */
export async function readBase(path: string, files: Files): Promise<Snapshot> {
  const found = await stat(path).catch(() => undefined)
  if (!found) throw new Error(`--from: there is no ${path}`)
  if (found.isDirectory()) return readStore(path, files)
  const document = await readStateFile(path)
  return readWorld(document!.sections, files)
}

/** A seed that founds the same organization: one row a line, so that it can be read and compared. */
export async function* seedText(state: State, files: Files): AsyncGenerator<string> {
  // Taken at once, written while requests are served.
  const sections = Object.entries(rowsForCopy(state.save(true)))
  const named = new Set(namedFiles(state))
  yield '{"rows":{'
  for (const [index, [name, rows]] of sections.entries()) {
    yield `${index === 0 ? '' : ','}\n${JSON.stringify(name)}:[`
    yield* writeLines(rows)
    yield ']'
  }
  yield '\n},"uploads":['
  yield* writeLines(readUploads(files, named))
  yield ']}\n'
}

const pieceLength = 64 * 1024

/** In pieces, between which requests are served. */
async function* writeLines(rows: Iterable<unknown> | AsyncIterable<unknown>): AsyncGenerator<string> {
  let piece = ''
  let gap = '\n'
  for await (const row of rows) {
    piece += gap + JSON.stringify(row)
    gap = ',\n'
    if (piece.length < pieceLength) continue
    yield piece
    piece = ''
    await nextTurn()
  }
  yield piece
}

/**
 * By name, not by a list of what there is: a space reads those that it began with from the store of the main world. One after the other:
 * together they can be larger than the memory for texts.
 */
async function* readUploads(files: Files, names: Iterable<string>): AsyncGenerator<SavedUpload> {
  for (const name of names) {
    const bytes = await files.read(name)
    if (bytes) yield { name, content: Buffer.from(bytes).toString('base64') }
  }
}

async function* writeWorld({ time, clock }: WorldTime, state: State, files: Files): AsyncGenerator<string> {
  // Taken at once, written while requests are served.
  const sections = rowsForCopy(state.save(true))
  const uploads = readUploads(files, new Set(namedFiles(state)))
  yield* snapshotText({ format: stateFormat, position: 0, time, sections: { clock: [clock], ...sections, uploads } })
}

/** Checks the rows: checksums do not help against the author of the file, who wrote them too. */
async function readWorld(found: Readonly<Record<string, unknown[]>>, files: Files, isSent = false): Promise<Snapshot> {
  const { rows } = splitSections(found)
  const { clock: [clock] = [], uploads = [], ...sections } = rows
  const state = await checkSections(rows, isSent)
  await keepUploads(uploads as SavedUpload[], state, files.keep)
  const setting = (clock as ClockSetting | undefined) ?? { ahead: 0 }
  return {
    time: 'frozenAt' in setting ? setting.frozenAt : Date.now() + setting.ahead,
    clock: setting,
    sections: rowsForCopy(sections),
  }
}

/** The checks are loaded when a file is read, which most daemons never do. */
async function checkSections(sections: Sections, isSent = false): Promise<State> {
  const { loadChecked } = await import('../domain/row-checks/index.ts')
  return loadChecked(sections, nextTurn, { isSent })
}

// --- a store as the base ------------------------------------------------------------------------------------------

/** Does not write to the folder, except for a mark that keeps a daemon there from deleting uploads, as for a backup. */
async function readStore(folder: string, files: Files): Promise<Snapshot> {
  const [{ NoStore, StoreView }, { rebuildState }] = await Promise.all([
    import('../maintenance/store-view.ts'),
    import('../maintenance/rebuild.ts'),
  ])
  const hold = StoreHold.takeBesideDaemon(folder)
  try {
    const view = await StoreView.open(folder).catch(error => {
      throw error instanceof NoStore ? notAStore(folder) : error
    })
    try {
      const { state } = await rebuildState(view)
      if (state.users.size === 0) throw notAStore(folder)
      // Messages are read from the files of the view when they are asked for.
      const sections = collectRows(rowsForCopy(state.save(true)))
      await copyFiles(folderFiles(join(folder, 'files')), files)
      await checkSections(sections)
      return { time: Date.now(), clock: { ahead: 0 }, sections }
    } finally {
      view.close()
    }
  } finally {
    hold?.release()
  }
}

function notAStore(folder: string): Error {
  const isKept = existsSync(join(folder, snapshotName))
  const instead = isKept ? `; ${resumeCommand(folder)} starts with what natter keep has written there` : ''
  return new Error(`--from: ${folder} is not the store of a natterd${instead}`)
}

async function copyFiles(from: Files, to: Files): Promise<void> {
  for (const name of await from.list()) {
    const bytes = await from.read(name)
    if (bytes) await to.keep(bytes)
  }
}
