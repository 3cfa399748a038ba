// Writes the state as one JSON file, `state.json`, through lowdb with an adapter of our own: lowdb's does not sync, and builds the
// whole file as one string. Knows rows and sections, not what they mean.

import { closeSync, openSync, readSync } from 'node:fs'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { type Adapter, Low } from 'lowdb'
import { removeUnfinished, writeFileAtomically } from '../local/atomic-file.ts'
import { monotonicMs } from '../local/monotonic.ts'
import { type SideFile, SideFiles } from './side-files.ts'
import { readStateFile, type StateDocument } from './state-file.ts'
import { inHex, type Sums, sumOfHead } from './state-sums.ts'

export type { SideFile } from './side-files.ts'
export type { StateDocument } from './state-file.ts'
export { acceptDocument, readStateFile, SnapshotDamaged, stateFormat } from './state-file.ts'

const stateName = 'state.json'

export interface Snapshots {
  /** The newest snapshot, its sections as arrays; null when there is none. */
  read(): Promise<StateDocument<readonly any[]> | null>
  /** The bytes of a file that belongs to the snapshot read. */
  file(name: string): Buffer
  /**
   * Writes between requests, one snapshot at a time. The old snapshot is kept until the new one is on disk. Then files that only
   * old snapshots needed are deleted, except those that are in use.
   */
  write(document: StateDocument<Iterable<unknown>, SideFile>, inUse?: () => ReadonlySet<string>): Promise<void>
}

/** `check` throws when the folder was replaced: a snapshot must not be written into the store of another daemon. */
export function openSnapshots(folder: string, check: () => void = () => {}): Snapshots {
  const side = new SideFiles(folder)
  const low = new Low<StateDocument | null>(durableAdapter(folder, check), null)
  let previous: Promise<unknown> = Promise.resolve()
  // One at a time. lowdb keeps what it read or wrote, so it is made to drop that copy of the whole state.
  const inTurn = <T>(work: () => Promise<T>): Promise<T> => {
    const result = previous.then(work).finally(() => {
      low.data = null
    })
    previous = result.catch(() => {})
    return result
  }
  return {
    read: () =>
      inTurn(async () => {
        await low.read()
        const document = low.data as StateDocument<readonly any[]> | null
        side.know(document?.files ?? [])
        return document
      }),
    file: name => side.read(name),
    write: (document, inUse = () => new Set()) =>
      inTurn(async () => {
        check()
        const files = document.files ?? []
        const entries = await side.write(files)
        low.data = { ...document, files: entries }
        await low.write()
        for (const { kept } of files) kept?.()
        await side.prune(entries, inUse())
      }),
  }
}

function durableAdapter(folder: string, check: () => void): Adapter<StateDocument | null> {
  const path = join(folder, stateName)
  return {
    async read() {
      // A crash left it; the snapshot under the real name is complete.
      removeUnfinished(path)
      return readStateFile(path)
    },
    async write(document) {
      if (document) await writeFileAtomically(path, checkedAtEnd(statePieces(document), check))
    },
  }
}

async function* checkedAtEnd<T>(pieces: AsyncIterable<T>, check: () => void): AsyncGenerator<T> {
  yield* pieces
  check()
}

const pieceLength = 256 * 1024
/** Milliseconds of work between two turns of the event loop. It is checked after each row. */
const sliceTime = 4

/** The text of a snapshot without files beside it, in pieces. Rows can be read as they are written. */
export function snapshotText(document: Writable): AsyncIterable<string> {
  return statePieces(document)
}

type Writable = Omit<StateDocument, 'files' | 'sections'> & {
  readonly sections: Readonly<Record<string, Iterable<unknown> | AsyncIterable<unknown>>>
}

/** The text of the file in pieces, one row a line. Requests are served in between, whenever a slice of time is used up. */
async function* statePieces(document: Writable & Pick<StateDocument, 'files'>): AsyncGenerator<string> {
  const { format, position, time, sections, files = [] } = document
  // Otherwise a snapshot that cannot be read would replace one that can.
  if (!Number.isSafeInteger(format) || !Number.isSafeInteger(position) || !Number.isFinite(time))
    throw new TypeError('a snapshot needs a format, a position and a time')
  let piece = `{"format":${format},"position":${position},"time":${time},${head(files)}"sections":{`
  const sums: Sums = { head: sumOfHead(document), sections: {} }
  let since = monotonicMs()
  let sectionGap = '\n'
  for (const [name, rows] of Object.entries(sections)) {
    piece += `${sectionGap}${JSON.stringify(name)}:[`
    sectionGap = ',\n'
    let rowGap = ''
    let sum = 0
    const add = (row: unknown) => {
      const text = JSON.stringify(row)
      if (text === undefined) throw new TypeError(`a row of ${name} cannot be written as JSON`)
      piece += `${rowGap}\n${text}`
      sum = crc32(rowGap + text, sum)
      rowGap = ','
    }
    const isReady = Symbol.iterator in rows
    for (const row of isReady ? rows : []) {
      add(row)
      if (piece.length >= pieceLength) {
        yield piece
        piece = ''
      }
      if (monotonicMs() - since >= sliceTime) {
        await new Promise(resolve => setImmediate(resolve))
        since = monotonicMs()
      }
    }
    for await (const row of isReady ? [] : rows) {
      add(row)
      yield piece
      piece = ''
    }
    piece += '\n]'
    sums.sections[name] = inHex(sum)
  }
  yield `${piece}\n},"sums":${JSON.stringify(sums)}}\n`
}

function head(files: readonly unknown[]): string {
  return files.length > 0 ? `"files":${JSON.stringify(files)},` : ''
}

/** The position of the snapshot in a folder; 0 if there is none. Read from its first line. */
export function snapshotPosition(folder: string): number {
  let fd: number
  try {
    fd = openSync(join(folder, stateName), 'r')
  } catch {
    return 0
  }
  try {
    const start = Buffer.alloc(200)
    readSync(fd, start, 0, start.length, 0)
    return Number(/^\{"format":\d+,"position":(\d+),/.exec(start.toString())?.[1] ?? 0)
  } finally {
    closeSync(fd)
  }
}
