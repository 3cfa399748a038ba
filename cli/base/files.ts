// Files that the user names or that other programs may have written: what is said when one cannot be read, or should not be.

import { isUtf8 } from 'node:buffer'
import { accessSync, constants, existsSync, statSync } from 'node:fs'
import { largeFile, readBytes, readText, smallFile } from '../../daemon/local/bounded-file.ts'
import { othersCan } from '../../daemon/local/open-files.ts'
import { exitCodes, Failure, usage } from './failure.ts'
import { note } from './note.ts'

/** The text of a file; undefined if there is none. `what` names it in the error. */
export function readIfThere(
  file: string,
  what = file,
  absent: readonly string[] = ['ENOENT'],
  most = smallFile,
): string | undefined {
  try {
    return readText(file, most)
  } catch (error) {
    const code = String((error as NodeJS.ErrnoException).code)
    if (absent.includes(code)) return undefined
    throw new Failure(exitCodes.refused, `cannot read ${what}: ${code}`)
  }
}

/**
 * A file that the user names. `label`: the flag or argument that names it, with a colon. `plainOnly`: it may not be a pipe or a device, which
 * could keep the reader waiting.
 */
export function readGiven(file: string, label = '', plainOnly = false): Buffer {
  try {
    demandReadable(file, plainOnly)
    return readBytes(file, largeFile)
  } catch (error) {
    throw unreadable(file, label, error)
  }
}

/** The same, for a text. */
export function readGivenText(file: string, label = '', plainOnly = false): string {
  return decodeText(readGiven(file, label, plainOnly), `${label}${file}`)
}

/** Fails where `readGiven` would, without reading the file. */
export function checkGiven(file: string, label = '', plainOnly = false): void {
  try {
    demandReadable(file, plainOnly)
  } catch (error) {
    throw unreadable(file, label, error)
  }
}

/** Does not open the file: opening a pipe waits for its writer. */
function demandReadable(file: string, plainOnly: boolean): void {
  const found = statSync(file)
  const code = plainOnly && !found.isFile() ? 'it is not a plain file' : found.isDirectory() ? 'EISDIR' : undefined
  if (code !== undefined) throw Object.assign(new Error(`${file}: ${code}`), { code })
  accessSync(file, constants.R_OK)
}

function unreadable(file: string, label: string, error: unknown): Failure {
  return usage(`${label}cannot read ${file}: ${(error as NodeJS.ErrnoException).code}`)
}

/**
 * Refuses other encodings, whose characters would be sent as U+FFFD. `from` names the file in the error; `firstLine` is the number of the
 * line that the bytes begin with.
 */
export function decodeText(bytes: Buffer, from: string, firstLine = 1): string {
  if (isUtf8(bytes)) return bytes.toString()
  const lines = bytes.toString('latin1').split('\n')
  const line = firstLine + lines.findIndex(text => !isUtf8(Buffer.from(text, 'latin1')))
  throw usage(
    `${from}: line ${line} is not UTF-8`,
    'Save the text as UTF-8, or convert it: iconv -f WINDOWS-1252 -t UTF-8',
  )
}

/** Refuses to replace a file. */
export function refuseExisting(file: string, hint = 'Choose another name, or add --yes to replace it.'): void {
  if (existsSync(file)) throw usage(`${file} exists`, hint)
}

const warned = new Set<string>()

/** Says once that other users of the machine can read a key. */
export function warnIfOpen(file: string): void {
  if (warned.has(file) || !othersCan(file) || !statSync(file).isFile()) return
  warned.add(file)
  note(`warning: other users of this machine can read the key in ${file}; run chmod go-rwx on it`)
}
