// Reading files of lines in large pieces. A file may be larger than the longest string V8 can hold.
import { read } from 'node:fs'

export const newline = 10
const blockSize = 4 * 1024 * 1024

/**
 * The first `size` bytes of a file in blocks of whole lines; only the last block may end without a newline.
 * The memory of a block is used again for the next one: finish with it before asking on.
 */
export async function* lineBlocks(fd: number, size: number): AsyncGenerator<Buffer> {
  let buffer = Buffer.allocUnsafe(Math.min(blockSize, Math.max(size, 1)))
  let kept = 0
  for (let at = 0; at < size; ) {
    if (kept === buffer.length) {
      // One line fills the whole block.
      const larger = Buffer.allocUnsafe(buffer.length * 2)
      buffer.copy(larger, 0, 0, kept)
      buffer = larger
    }
    const got = await readAt(fd, buffer, kept, Math.min(buffer.length - kept, size - at), at)
    if (got === 0) break
    at += got
    const filled = kept + got
    const whole = buffer.lastIndexOf(newline, filled - 1) + 1
    if (whole > 0) yield buffer.subarray(0, whole)
    buffer.copyWithin(0, whole, filled)
    kept = filled - whole
  }
  if (kept > 0) yield buffer.subarray(0, kept)
}

export function readAt(fd: number, into: Buffer, offset: number, length: number, at: number): Promise<number> {
  return new Promise((resolve, reject) =>
    read(fd, into, offset, length, at, (error, got) => (error ? reject(error) : resolve(got))),
  )
}
