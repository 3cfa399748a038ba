// Reads files that other programs may have written. Every read has a bound, so that a device or a huge file is an error instead of
// filling the memory.

import { closeSync, existsSync, openSync, readSync, statSync } from 'node:fs'
import { othersCan } from '../../daemon/local/open-files.ts'
import { exitCodes, Failure, usage } from './failure.ts'
import { note } from './note.ts'

const mebibyte = 1024 * 1024
/** Bytes of a file with settings, an account or a position. */
export const smallFile = mebibyte
/** Bytes of a file with data. */
export const largeFile = 512 * mebibyte

/** Throws an error whose `code` says why the file cannot be read. */
export function readBytes(file: string, most: number): Buffer {
  const handle = openSync(file, 'r')
  try {
    const pieces: Buffer[] = []
    for (let size = 0; ; ) {
      const piece = Buffer.allocUnsafe(64 * 1024)
      const read = readSync(handle, piece)
      if (read === 0) return Buffer.concat(pieces)
      size += read
      if (size > most) throw Object.assign(new Error('too large'), { code: `more than ${most / mebibyte} MiB` })
      pieces.push(piece.subarray(0, read))
    }
  } finally {
    closeSync(handle)
  }
}

export function readText(file: string, most: number): string {
  return readBytes(file, most).toString('utf8')
}

/** The text of a small file; undefined if there is none. `what` names it in the error. */
export function readIfThere(file: string, what = file, absent: readonly string[] = ['ENOENT']): string | undefined {
  try {
    return readText(file, smallFile)
  } catch (error) {
    const code = String((error as NodeJS.ErrnoException).code)
    if (absent.includes(code)) return undefined
    throw new Failure(exitCodes.refused, `cannot read ${what}: ${code}`)
  }
}

/** A file that the user names. `label`: the flag or argument that names it, with a colon. */
export function readGiven(file: string, label = ''): Buffer {
  try {
    return readBytes(file, largeFile)
  } catch (error) {
    throw usage(`${label}cannot read ${file}: ${(error as NodeJS.ErrnoException).code}`)
  }
}

/** Refuses to replace a file. */
export function refuseExisting(file: string, hint: string): void {
  if (existsSync(file)) throw new Failure(exitCodes.refused, `${file} exists`, { hint })
}

const warned = new Set<string>()

/** Says once that other users of the machine can read a key. */
export function warnIfOpen(file: string): void {
  if (warned.has(file) || !othersCan(file) || !statSync(file).isFile()) return
  warned.add(file)
  note(`warning: other users of this machine can read the key in ${file}; run chmod go-rwx on it`)
}
