// The first start of a store from an archive that `POST /export/realm` made: read twice, to be checked and then to be
// taken, so that an archive that cannot be used changes nothing.

import { isUtf8 } from 'node:buffer'
import { createHash } from 'node:crypto'
import { setImmediate as rest } from 'node:timers/promises'
import { limits } from '../domain/limits.ts'
import { type Section, State } from '../domain/model/state.ts'
import { checkTogether, RowChecks, RowsRefused } from '../domain/row-checks/index.ts'
import {
  type ArchiveEntry,
  type ArchiveHead,
  ArchiveMistake,
  type ArchiveSums,
  archiveFormat,
  describeMissing,
  filesFolder,
  headName,
  readArchive,
  readWhole,
  sectionIn,
  sumsName,
} from '../io/archive.ts'
import type { Files } from '../io/files.ts'
import { parseJson } from '../local/nesting.ts'
import { warn } from '../local/warnings.ts'

const mebibyte = 1024 * 1024
/** Parts of sections are about a mebibyte; the last row of one can be a message with a history for moves too, six bytes a character. */
const largestPart = 16 * mebibyte + 6 * 2 * limits.messageHistory
const largestFile = limits.fileUploadMiB * mebibyte
/** A checksum is 64 characters, and there is one for each part and each file. */
const largestSums = 256 * mebibyte

const sections: ReadonlySet<string> = new Set(Object.keys(new State().save()))

/** Reads the whole archive and throws a sentence if it cannot be imported. */
export async function checkArchive(file: string): Promise<void> {
  await nameArchive(file, async () => {
    const sums: Record<string, string> = {}
    let end: ArchiveSums | undefined
    let first = true
    for await (const entry of readArchive(file)) {
      if (entry.type !== 'file') throw new ArchiveMistake(`has an entry that is not a file: ${entry.name}`)
      if (Object.hasOwn(sums, entry.name)) throw new ArchiveMistake(`has an entry more than once: ${entry.name}`)
      if (end) throw new ArchiveMistake(`goes on after its end: ${entry.name}`)
      if (first) {
        const bytes = entry.name === headName ? await readWhole(entry, mebibyte) : Buffer.alloc(0)
        checkHead(entry, bytes)
        sums[entry.name] = hashBytes(bytes)
      } else if (entry.name === sumsName) end = parse<ArchiveSums>(entry, await readWhole(entry, largestSums))
      else sums[entry.name] = await checkEntry(entry)
      first = false
    }
    if (!end) throw new ArchiveMistake('is cut short')
    compare(sums, end.sums ?? {})
    const missing = [end.missing_files].flat().filter(name => typeof name === 'string' && /^[0-9a-f]{64}$/.test(name))
    if (missing.length > 0) warn(`the archive ${file} lacks ${describeMissing(missing)}`)
  })
}

/** The organization in an archive that was checked; its files are kept beside the store. */
export async function loadArchive(file: string, files: Files): Promise<State> {
  return nameArchive(file, async () => {
    const state = new State()
    const checks = new RowChecks()
    for await (const entry of readArchive(file)) {
      const section = sectionIn(entry.name)
      if (section !== undefined)
        takeRows(state, section as Section, rowsIn(entry, await readWhole(entry, largestPart)), checks)
      else if (entry.name.startsWith(`${filesFolder}/`)) await keepFile(entry, files)
      else await readWhole(entry, largestSums)
    }
    checks.finish()
    const turns = checkTogether(state, 'new')
    while (!turns.next().done) await rest()
    return state
  })
}

/** A mistake in the archive, as a sentence with its name. */
async function nameArchive<T>(file: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof ArchiveMistake) throw new Error(`the archive ${file} ${error.message}`)
    throw error instanceof RowsRefused ? new Error(`the archive ${file} cannot be used: ${error.message}`) : error
  }
}

// --- checking ---------------------------------------------------------------------------------------------------

function checkHead(entry: ArchiveEntry, bytes: Buffer): void {
  if (entry.name !== headName)
    throw new ArchiveMistake('is not an export of natterd. Archives of other servers cannot be imported')
  const { natter, format, version } = parse<ArchiveHead>(entry, bytes)
  if (natter !== 'export' || !Number.isSafeInteger(format)) throw new ArchiveMistake('is not an export of natterd')
  if (format !== archiveFormat)
    throw new ArchiveMistake(
      `has format ${format}, and this version reads format ${archiveFormat}. Import it with natterd ${version}`,
    )
}

async function checkEntry(entry: ArchiveEntry): Promise<string> {
  const section = sectionIn(entry.name)
  if (section !== undefined && sections.has(section)) {
    const bytes = await readWhole(entry, largestPart)
    return hashBytes(bytes)
  }
  const [, name] = /^files\/([0-9a-f]{64})$/.exec(entry.name) ?? []
  if (name === undefined) throw new ArchiveMistake(`has an unknown entry: ${entry.name}`)
  if (entry.size > largestFile) throw new ArchiveMistake(`has a file that is too large: ${entry.name}`)
  const hash = createHash('sha256')
  for await (const chunk of entry.chunks) hash.update(chunk)
  const sum = hash.digest('hex')
  if (sum !== name) throw refuseChanged(entry.name)
  return sum
}

function compare(found: Readonly<Record<string, string>>, wanted: Readonly<Record<string, string>>): void {
  for (const name of Object.keys(wanted)) if (found[name] === undefined) throw new ArchiveMistake(`lacks ${name}`)
  for (const [name, sum] of Object.entries(found)) if (wanted[name] !== sum) throw refuseChanged(name)
}

function refuseChanged(name: string): ArchiveMistake {
  return new ArchiveMistake(`is damaged: ${name} has changed since it was written`)
}

function hashBytes(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}

function parse<T>({ name }: ArchiveEntry, bytes: Buffer): T {
  try {
    const value = parseJson(bytes.toString())
    if (typeof value === 'object' && value !== null) return value
  } catch {
    // Reported below.
  }
  throw new ArchiveMistake(`is damaged: ${name} is not a JSON object, or is nested too deeply`)
}

// --- taking -----------------------------------------------------------------------------------------------------

function rowsIn(entry: ArchiveEntry, bytes: Buffer): object[] {
  if (!isUtf8(bytes)) throw new ArchiveMistake(`is damaged: ${entry.name} is not UTF-8`)
  const lines = bytes.toString().split('\n')
  if (lines.at(-1) === '') lines.pop()
  return lines.map(line => parse<object>(entry, Buffer.from(line)))
}

/** The rows of one part. Each is checked before it is taken: the author of the archive wrote its checksums too. */
function takeRows(state: State, section: Section, rows: readonly object[], checks: RowChecks): void {
  checks.beginPart(section)
  for (const row of rows) checks.check(section, row)
  state.take(section, rows)
}

async function keepFile(entry: ArchiveEntry, files: Files): Promise<void> {
  const receiving = files.receive()
  try {
    // An empty file is written too: only what was written has a name.
    await receiving.write(new Uint8Array(0))
    for await (const chunk of entry.chunks) await receiving.write(chunk)
    await receiving.keep()
  } finally {
    await receiving.discard()
  }
}
