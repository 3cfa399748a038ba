// Putting bytes on disk so that they stay there: whole writes, syncs, and the folder that holds the names.
import { close, fdatasync, fsync, openSync, write, writeSync } from 'node:fs'

/** The two calls of the hot path. A port only so that tests can count them and make them fail. */
export interface Disk {
  /** `at`: a place in the file, or null for the file's own offset. */
  write(fd: number, bytes: Uint8Array, at: number | null, done: (error: Error | null, written: number) => void): void
  sync(fd: number, done: (error: Error | null) => void): void
}

export const realDisk: Disk = {
  write: (fd, bytes, at, done) => write(fd, bytes, 0, bytes.length, at, done),
  sync: (fd, done) => fdatasync(fd, done),
}

/** Writes everything at the file's own offset. */
export async function writeWhole(fd: number, bytes: Uint8Array, disk = realDisk): Promise<void> {
  await writeAt(fd, bytes, null, bytes.length, disk)
}

/**
 * Writes at a place, or at the file's own offset, until the first `needed` bytes are written: the system may take less than it was given,
 * and that is no error. Resolves to how many bytes were written.
 */
export function writeAt(fd: number, bytes: Uint8Array, at: number | null, needed: number, disk: Disk): Promise<number> {
  return new Promise((resolve, reject) => {
    let from = 0
    const proceed = () =>
      disk.write(fd, bytes.subarray(from), at === null ? null : at + from, (error, written) => {
        if (error) return reject(error)
        // A write that takes nothing and reports nothing would loop without end.
        if (written === 0) return reject(new Error('the disk took no bytes'))
        from += written
        if (from < needed) proceed()
        else resolve(from)
      })
    proceed()
  })
}

/** The same as `writeWhole`, before it returns. `at`: a place in the file, or null for the file's own offset. */
export function writeWholeSync(fd: number, bytes: Uint8Array, at: number | null = null): void {
  let from = 0
  while (from < bytes.length) {
    const written = writeSync(fd, bytes, from, bytes.length - from, at === null ? null : at + from)
    if (written === 0) throw new Error('the disk took no bytes')
    from += written
  }
}

export function sync(fd: number, disk = realDisk): Promise<void> {
  return new Promise((resolve, reject) => disk.sync(fd, error => (error ? reject(error) : resolve())))
}

export function closeFile(fd: number): Promise<void> {
  return new Promise((resolve, reject) => close(fd, error => (error ? reject(error) : resolve())))
}

/** A new name, or a renamed one, is only safe once its folder is synced. Windows cannot and need not. */
export async function syncFolder(folder: string): Promise<void> {
  const held = holdFolder(folder)
  try {
    await held.sync()
  } finally {
    await held.release()
  }
}

export interface HeldFolder {
  sync(): Promise<void>
  release(): Promise<void>
}

/** Keeps the folder's descriptor: who must sync it half-way through a change cannot run out of descriptors there. */
export function holdFolder(folder: string): HeldFolder {
  if (process.platform === 'win32') return { sync: async () => {}, release: async () => {} }
  const fd = openSync(folder, 'r')
  return {
    sync: () => new Promise((resolve, reject) => fsync(fd, error => (error ? reject(error) : resolve()))),
    release: () => closeFile(fd),
  }
}
