// Reads files that a person names or that other programs may have written. Every read has a bound, so that a device or a huge file is an
// error instead of filling the memory.

import { closeSync, fstatSync, openSync, readSync } from 'node:fs'

const mebibyte = 1024 * 1024
/** Bytes of a file with settings, an account or a position. */
export const smallFile = mebibyte
/** Bytes of a file with data. */
export const largeFile = 512 * mebibyte

/** Throws an error whose `code` says why the file cannot be read. */
export function readBytes(file: string, most: number): Buffer {
  const code = `more than ${most / mebibyte} MiB`
  const tooLarge = () => Object.assign(new Error(`${file} has ${code}`), { code })
  const handle = openSync(file, 'r')
  try {
    // Devices and pipes have no size, so the buffer grows with what comes.
    const known = fstatSync(handle).size
    if (known > most) throw tooLarge()
    let buffer = Buffer.allocUnsafe(known + 64 * 1024)
    for (let size = 0; ; ) {
      const read = readSync(handle, buffer, size, buffer.length - size, null)
      if (read === 0) return buffer.subarray(0, size)
      size += read
      if (size > most) throw tooLarge()
      if (size === buffer.length) buffer = Buffer.concat([buffer], 2 * size)
    }
  } finally {
    closeSync(handle)
  }
}

export function readText(file: string, most: number): string {
  return readBytes(file, most).toString('utf8')
}
