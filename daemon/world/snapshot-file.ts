// Snapshots as files: written by `snapshot export` and `--snapshot-on-exit`, and read by `--from`, which also takes the folder of a
// store. They have neither secrets nor keys.

import { existsSync } from 'node:fs'
import { copyFile, cp, mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join, relative, sep } from 'node:path'
import { setImmediate as nextTurn, setTimeout as sleep } from 'node:timers/promises'
import type { Clock, ClockSetting } from '../clock.ts'
import type { Sections, Snapshot, SnapshotFiles, WorldTime } from '../control/snapshots.ts'
import type { Fact } from '../domain/facts.ts'
import { collectRows, rowsForCopy } from '../domain/model/saved-rows.ts'
import type { State } from '../domain/model/state.ts'
import { invalid } from '../domain/refusal.ts'
import type { Engine } from '../engine.ts'
import { type Files, folderFiles } from '../io/files.ts'
import { keepUploads, type SavedUpload } from '../io/saved-uploads.ts'
import { namedFiles } from '../io/unneeded-files.ts'
import { cleanStopName } from '../journal/clean-stop.ts'
import { FileJournal } from '../journal/file-journal.ts'
import { acceptDocument, openSnapshots, readStateFile, snapshotText, stateFormat } from '../journal/snapshots.ts'
import { StoreHold } from '../journal/store-hold.ts'
import { writeFileAtomically } from '../local/atomic-file.ts'
import { tooDeep } from '../local/nesting.ts'
import { runningFileName } from '../local/ready-file.ts'
import { Replay, splitSections } from '../replay.ts'

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
  yield* writeLines(await readUploads(files, named))
  yield ']}\n'
}

const pieceLength = 64 * 1024

/** In pieces, between which requests are served. */
async function* writeLines(rows: Iterable<unknown>): AsyncGenerator<string> {
  let piece = ''
  let gap = '\n'
  for (const row of rows) {
    piece += gap + JSON.stringify(row)
    gap = ',\n'
    if (piece.length < pieceLength) continue
    yield piece
    piece = ''
    await nextTurn()
  }
  yield piece
}

/** By name, not by a list of what there is: a space reads those that it began with from the store of the main world. */
async function readUploads(files: Files, names: Iterable<string>): Promise<SavedUpload[]> {
  const uploads: SavedUpload[] = []
  for (const name of names) {
    const bytes = await files.read(name)
    if (bytes) uploads.push({ name, content: Buffer.from(bytes).toString('base64') })
  }
  return uploads
}

async function* writeWorld({ time, clock }: WorldTime, state: State, files: Files): AsyncGenerator<string> {
  // Taken at once, written while requests are served.
  const sections = rowsForCopy(state.save(true))
  const uploads = await readUploads(files, new Set(namedFiles(state)))
  yield* snapshotText({ format: stateFormat, position: 0, time, sections: { clock: [clock], ...sections, uploads } })
}

/** Checks the rows: checksums do not help against the author of the file, who wrote them too. */
async function readWorld(found: Readonly<Record<string, unknown[]>>, files: Files, isSent = false): Promise<Snapshot> {
  const { rows } = splitSections(found)
  const { clock: [clock] = [], uploads = [], ...sections } = rows
  await checkSections(rows, isSent)
  await keepUploads(uploads as SavedUpload[], files.keep)
  const setting = (clock as ClockSetting | undefined) ?? { ahead: 0 }
  return {
    time: 'frozenAt' in setting ? setting.frozenAt : Date.now() + setting.ahead,
    clock: setting,
    sections: rowsForCopy(sections),
  }
}

/** The checks are loaded when a file is read, which most daemons never do. */
async function checkSections(sections: Sections, isSent = false): Promise<void> {
  const { loadChecked } = await import('../domain/row-checks/index.ts')
  await loadChecked(sections, nextTurn, { isSent })
}

/** Attempts to copy a store that a daemon uses, and milliseconds between the first two: then it takes longer each time. */
const mostAttempts = 10
const firstPause = 20

// --- a store as the base ------------------------------------------------------------------------------------------

/** Does not write to the folder, except for a mark that keeps a daemon there from deleting uploads, as for a backup. */
async function readStore(folder: string, files: Files): Promise<Snapshot> {
  const hold = existsSync(join(folder, runningFileName)) ? StoreHold.take(folder) : undefined
  try {
    for (let attempt = 1; ; attempt++)
      try {
        return await readCopy(folder, files)
      } catch (error) {
        // The daemon may have replaced some of the files by a new snapshot while they were copied.
        if (!hold || attempt === mostAttempts) throw error
        await sleep(attempt * firstPause)
      }
  } finally {
    hold?.release()
  }
}

/** Works on a copy: a daemon may be writing the store, and opening a journal repairs its end. */
async function readCopy(folder: string, files: Files): Promise<Snapshot> {
  const copy = await mkdtemp(join(tmpdir(), 'natter-from-'))
  try {
    // Before the journal: a stop that is recorded meanwhile would name entries that the copy does not have.
    const stop = join(folder, cleanStopName)
    await copyFile(stop, join(copy, cleanStopName)).catch(() => {})
    await cp(folder, copy, { recursive: true, filter: source => source === folder || isHistory(folder, source) })
    const state = await loadState(copy)
    if (state.users.size === 0) throw new Error(`--from: ${folder} is not the store of a natterd`)
    await copyFiles(folderFiles(join(folder, 'files')), files)
    const sections = collectRows(rowsForCopy(state.save(true)))
    await checkSections(sections)
    return { time: Date.now(), clock: { ahead: 0 }, sections }
  } finally {
    await rm(copy, { recursive: true, force: true })
  }
}

function isHistory(folder: string, source: string): boolean {
  const [top] = relative(folder, source).split(sep, 1)
  return /^(state\.json|journal.*\.ndjson|messages)$/.test(top!) && !basename(source).endsWith('.tmp')
}

async function loadState(folder: string): Promise<State> {
  const snapshots = openSnapshots(folder)
  const saved = await snapshots.read()
  const replay = new Replay({ sections: saved?.sections ?? {}, readFile: name => snapshots.file(name) })
  const journal = await FileJournal.open<Fact>({ folder, durability: 'os' })
  try {
    for await (const entries of journal.replayFacts(saved?.position ?? 0))
      for (const { facts } of entries) replay.take(facts)
  } finally {
    await journal.close()
  }
  return replay.state
}

async function copyFiles(from: Files, to: Files): Promise<void> {
  for (const name of await from.list()) {
    const bytes = await from.read(name)
    if (bytes) await to.keep(bytes)
  }
}
