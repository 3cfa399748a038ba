// Finds what other users of the machine can read or change and should not: the folder of a store, files with secrets.

import { statSync } from 'node:fs'

interface OpenPath {
  /** A sentence without its full stop. */
  readonly says: string
  /** What closes it. */
  readonly command: string
}

export function findOpen(paths: readonly string[]): OpenPath[] {
  return paths.flatMap(path => {
    const what = othersCan(path)
    return what ? [{ says: `other users of this machine can ${what} ${path}`, command: `chmod go-rwx ${path}` }] : []
  })
}

/** undefined also where there is nothing, and on Windows, whose files have no such modes. */
export function othersCan(path: string): 'change' | 'read' | undefined {
  if (process.platform === 'win32') return undefined
  const mode = readMode(path)
  return mode & 0o022 ? 'change' : mode & 0o044 ? 'read' : undefined
}

function readMode(path: string): number {
  try {
    return statSync(path, { throwIfNoEntry: false })?.mode ?? 0
  } catch {
    // In a folder that this user cannot enter.
    return 0
  }
}
