// The mark that a clean stop leaves in the folder: the position up to which the journal was on disk. A journal that ends before it has lost
// entries, so its end is damage and not a write that a crash interrupted.
import { existsSync, readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { crc32 } from 'node:zlib'
import { writeFileAtomically } from '../local/atomic-file.ts'
import { readText, smallFile } from '../local/bounded-file.ts'
import { JournalDamaged } from './journal.ts'
import { lineBlocks, newline } from './line-blocks.ts'
import { activeName, sealedLast } from './segment-format.ts'

export const cleanStopName = 'clean-stop.json'

/** To be called when everything up to the position is on disk, and nothing will be written after it. */
export function recordCleanStop(folder: string, position: number): Promise<void> {
  return writeFileAtomically(join(folder, cleanStopName), writeText(position))
}

/**
 * Position of the stop; undefined if the store is in use, was not stopped cleanly, or was written by a version that does not record it.
 * A reader beside a daemon calls this before it reads the journal.
 */
export function readCleanStop(folder: string): number | undefined {
  const file = join(folder, cleanStopName)
  if (!existsSync(file)) return undefined
  try {
    const text = readText(file, smallFile)
    const position = Number(JSON.parse(text).position)
    return text === writeText(position) ? position : undefined
  } catch {
    return undefined
  }
}

/** Whether a file of the journal was written after the stop: by a person, or because the folder was copied. */
export function isEdited(folder: string): boolean {
  const writtenAt = (name: string) => statSync(join(folder, name), { throwIfNoEntry: false })?.mtimeMs
  const stopped = writtenAt(cleanStopName)
  if (stopped === undefined) return false
  const journals = readdirSync(folder).filter(name => name === activeName || sealedLast(name) !== undefined)
  return journals.some(name => writtenAt(name)! > stopped)
}

/**
 * To be called before anything is appended. It need not be on disk then: the position stays true, because entries up to it are never
 * written again.
 */
export function forgetCleanStop(folder: string): void {
  rmSync(join(folder, cleanStopName), { force: true })
}

/** Throws if the journal ends before the stop. `end` is where the line of its last whole entry ends in the active segment. */
export async function refuseLostEnd(
  stop: number | undefined,
  position: number,
  fd: number,
  end: number,
): Promise<void> {
  if (stop === undefined || position >= stop) return
  let line = 1
  for await (const block of lineBlocks(fd, end))
    for (let at = block.indexOf(newline); at >= 0; at = block.indexOf(newline, at + 1)) line++
  throw new JournalDamaged(
    activeName,
    line,
    `the journal ends at position ${position}, but natterd stopped cleanly at position ${stop}: entries are damaged or missing. ` +
      `Restore a backup. To start without these entries, delete ${cleanStopName}`,
  )
}

function writeText(position: number): string {
  const text = `{"natter":"clean-stop","position":${position}`
  return `${text},"sum":${crc32(text)}}\n`
}
