// Notices that the reader of stdout is gone, as in `natter tail -n 3 | head -1`: a tail then ends and deletes its queue.

import { fstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs'

const interval = 500

/** Calls `end` as soon as a write fails, or, on Linux, soon after the last reader of the pipe has ended. */
export function onClosedOutput(end: () => void): { end(): void } {
  // In place of the listener that ends the process at once.
  process.stdout.removeAllListeners('error')
  process.stdout.on('error', error => {
    if ((error as NodeJS.ErrnoException).code !== 'EPIPE') throw error
    end()
  })
  // Node cannot ask the system for the end of a reader: it learns of it at the next write, which may be never.
  const stat = fstatSync(1)
  let reader = process.platform === 'linux' && stat.isFIFO() ? findReader(stat.ino) : undefined
  // A reader that cannot be seen, such as one of another user, cannot be missed either.
  if (!reader) return { end() {} }
  const timer = setInterval(() => {
    if (reader && isReader(reader, stat.ino)) return
    reader = findReader(stat.ino)
    if (!reader) end()
  }, interval).unref()
  return { end: () => clearInterval(timer) }
}

interface Reader {
  /** `/proc/4711` */
  readonly process: string
  readonly fd: string
}

/**
 * Any process that can read from the pipe. Usually it is the parent, or was started together with us, and looking through
 * all of them takes tens of milliseconds. Bounded by the processes of this user and their open files.
 */
function findReader(pipe: number): Reader | undefined {
  const parent = readerIn(process.ppid, pipe)
  if (parent) return parent
  for (const pid of nearestFirst()) {
    const reader = readerIn(pid, pipe)
    if (reader) return reader
  }
  return undefined
}

function readerIn(pid: number, pipe: number): Reader | undefined {
  const process = `/proc/${pid}`
  const fd = openFiles(process).find(fd => isReader({ process, fd }, pipe))
  return fd === undefined ? undefined : { process, fd }
}

function nearestFirst(): number[] {
  const pids = readdirSync('/proc')
    .filter(name => /^\d+$/.test(name))
    .map(Number)
  return pids.sort((a, b) => Math.abs(a - process.pid) - Math.abs(b - process.pid))
}

/** None for a process that has ended or belongs to somebody else. */
function openFiles(process: string): string[] {
  try {
    return readdirSync(`${process}/fd`)
  } catch {
    return []
  }
}

function isReader({ process, fd }: Reader, pipe: number): boolean {
  try {
    if (readlinkSync(`${process}/fd/${fd}`) !== `pipe:[${pipe}]`) return false
    // The last octal digit: 0 to read, 1 to write, 2 for both.
    return !/^flags:\s+\d*1$/m.test(readFileSync(`${process}/fdinfo/${fd}`, 'utf8'))
  } catch {
    return false
  }
}
