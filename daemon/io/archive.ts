// Archives of an organization as bytes: a gzipped tar file that begins with what it is and ends with the checksums of
// everything in it. docs/export.md describes it. What the rows mean is not known here.

import { createHash } from 'node:crypto'
import { createReadStream } from 'node:fs'
import { pipeline } from 'node:stream/promises'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { createGunzip, createGzip } from 'node:zlib'
import { hashFile, type StoredFile } from './files.ts'
import { packTar, TarDamaged, type TarEntry, type TarFile, unpackTar, readWhole as wholeOf } from './tar.ts'

export const archiveFormat = 1

/** The first entry: what this is. */
export const headName = 'export.json'
/** The last entry: the checksum of every other. Without it, the archive was cut short. */
export const sumsName = 'checksums.json'
/** Rows are in these folders, in parts of about this size; one row a line. */
const sectionsFolder = 'sections'
const partBytes = 1024 * 1024
export const filesFolder = 'files'

export interface ArchiveHead {
  readonly natter: 'export'
  readonly format: number
  /** The version of natterd that wrote it. */
  readonly version: string
  readonly organization: string
  readonly export_type: number
  /** ISO 8601. */
  readonly exported_at: string
}

export interface ArchiveSums {
  /** SHA-256 by the name of the entry. */
  readonly sums: Readonly<Record<string, string>>
  /** Files that rows name and that the store had lost, or had with other bytes. */
  readonly missing_files: readonly string[]
}

interface ArchiveSource {
  readonly head: ArchiveHead
  readonly sections: Iterable<{
    readonly name: string
    readonly head?: object
    readonly rows: Iterable<unknown>
    readonly keep: (row: never) => Iterable<unknown>
  }>
  readonly files: Iterable<string>
  readonly find: (name: string) => Promise<StoredFile | undefined>
  /** Checked between two pieces of work: throws when the archive is no longer wanted. */
  readonly check: () => void
}

/** Milliseconds of work after which requests get their turn. */
const slice = 5

/** For people, after "lacks". */
export function describeMissing(names: readonly string[]): string {
  return `${names.length} of the files that its rows name, such as ${names[0]}; ${sumsName} in it lists them as missing_files`
}

/** Writes the archive piece by piece. Returns the names of files that are missing in it. */
export async function writeArchive(
  source: ArchiveSource,
  write: (chunk: Uint8Array) => Promise<void>,
): Promise<readonly string[]> {
  const missing: string[] = []
  const tar = packTar(new Date(source.head.exported_at), tar => fill(tar, source, missing))
  await pipeline(tar, createGzip(), async chunks => {
    for await (const chunk of chunks) await write(chunk)
  })
  return missing
}

async function fill(tar: TarFile, source: ArchiveSource, missing: string[]): Promise<void> {
  const sums: Record<string, string> = {}
  const add = async (name: string, size: number, chunks: AsyncIterable<Uint8Array> | Iterable<Uint8Array>) => {
    const hash = createHash('sha256')
    await tar.add(name, size, chunks, chunk => {
      source.check()
      hash.update(chunk)
    })
    sums[name] = hash.digest('hex')
  }
  const addText = (name: string, text: string) => {
    const bytes = Buffer.from(text)
    return add(name, bytes.length, [bytes])
  }
  await addText(headName, `${JSON.stringify(source.head)}\n`)
  for (const section of source.sections)
    for await (const { name, text } of splitSection(section, source.check)) await addText(name, text)
  // Bounded by what the rows name.
  for (const name of source.files) {
    const file = await source.find(name)
    // An archive with other bytes under this name could not be imported.
    if (file && (await hashFile(file, source.check)) === name)
      await add(`${filesFolder}/${name}`, file.size, file.read(0, file.size - 1))
    else missing.push(name)
  }
  await addText(sumsName, `${JSON.stringify({ sums, missing_files: missing } satisfies ArchiveSums)}\n`)
}

/** The rows of a section as texts of about a mebibyte, made a few milliseconds at a time. */
async function* splitSection(
  { name, head, rows, keep }: ArchiveSource['sections'] extends Iterable<infer S> ? S : never,
  check: () => void,
): AsyncGenerator<{ readonly name: string; readonly text: string }> {
  const beginning = head ? `${JSON.stringify(head)}\n` : ''
  let text = beginning
  let number = 1
  const part = () => ({ name: `${sectionsFolder}/${name}/${String(number++).padStart(6, '0')}.ndjson`, text })
  let until = performance.now() + slice
  for (const row of rows) {
    for (const kept of keep(row as never)) text += `${JSON.stringify(kept)}\n`
    if (text.length >= partBytes) {
      yield part()
      text = beginning
    }
    if (performance.now() < until) continue
    await nextTurn()
    check()
    until = performance.now() + slice
  }
  // A section without rows has a part too if it has a head: the highest ID ever given is in it.
  if (number === 1 ? text !== '' : text !== beginning) yield part()
}

// --- reading ----------------------------------------------------------------------------------------------------

/** Something is wrong with the archive: a sentence that goes on after its name. */
export class ArchiveMistake extends Error {}

export type ArchiveEntry = TarEntry

/** The entries in their order. Each must be read to its end before the next. */
export async function* readArchive(file: string): AsyncGenerator<ArchiveEntry> {
  const source = createReadStream(file)
  const unzipped = createGunzip()
  source.once('error', error => unzipped.destroy(error))
  try {
    for await (const entry of unpackTar(source.pipe(unzipped))) yield { ...entry, chunks: explaining(entry.chunks) }
  } catch (error) {
    throw explain(error)
  } finally {
    source.destroy()
    unzipped.destroy()
  }
}

async function* explaining(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  try {
    yield* chunks
  } catch (error) {
    throw explain(error)
  }
}

/** Reads an entry that must fit in memory. */
export async function readWhole(entry: ArchiveEntry, largest: number): Promise<Buffer> {
  const bytes = await wholeOf(entry, largest)
  if (!bytes) throw new ArchiveMistake(`has an entry that is too large: ${entry.name}`)
  return bytes
}

/** The section of an entry with rows; undefined for other entries. */
export function sectionIn(entry: string): string | undefined {
  return /^sections\/(\w+)\/\d{6}\.ndjson$/.exec(entry)?.[1]
}

/** What is wrong with bytes that cannot be read, for people. */
function explain(error: unknown): unknown {
  if (error instanceof ArchiveMistake) return error
  if (error instanceof TarDamaged)
    return new ArchiveMistake(error.isCutShort ? 'is cut short' : 'is not a tar archive, or is damaged')
  const { code = '', message } = error as NodeJS.ErrnoException
  if (code === 'Z_BUF_ERROR') return new ArchiveMistake('is cut short')
  if (code === 'Z_DATA_ERROR' && /header/.test(message)) return new ArchiveMistake('is not a gzip file')
  if (code.startsWith('Z_')) return new ArchiveMistake('is damaged: its bytes have changed since it was written')
  return code === '' ? error : new ArchiveMistake(`cannot be read: ${code}`)
}
