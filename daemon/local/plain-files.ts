// A folder that a stranger handed over has files and folders only: a link in it could lead to any file of the user, and a pipe or a device
// would keep the reader waiting. A leaf: the daemon and the command line both use it.

import { closeSync, constants, fstatSync, lstatSync, mkdirSync, openSync, readdirSync, statSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import { makeFolderSync } from './atomic-file.ts'

/** Why natter does not write to this folder, with advice; undefined where everything in it is a file or a folder. */
export function whyNotPlain(folder: string): string | undefined {
  const odd = readdirSync(folder, { withFileTypes: true }).find(entry => !entry.isFile() && !entry.isDirectory())
  if (!odd) return undefined
  const advice = odd.isSymbolicLink()
    ? 'is a link; move what it leads to into the folder, or mount it there'
    : 'is a pipe, a socket or a device; remove it'
  return `${JSON.stringify(odd.name)} ${advice}`
}

/** Whether a user other than you or root owns it. Windows does not tell. */
export function isOfStranger(folder: string): boolean {
  return process.getuid !== undefined && ![0, process.getuid()].includes(statSync(folder).uid)
}

/** Opens a file in such a folder, to read it unless there are other flags. */
export function openPlainSync(path: string, flags = constants.O_RDONLY, mode?: number): number {
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (found && !found.isFile()) throw notPlain(path)
  // Windows does not have the flag.
  const fd = openSync(path, flags | (constants.O_NOFOLLOW ?? 0), mode)
  if (fstatSync(fd).isFile()) return fd
  closeSync(fd)
  throw notPlain(path)
}

function notPlain(path: string): Error {
  const code = 'it is not a plain file'
  return Object.assign(new Error(`${path} is a link, a pipe or a device; put a plain file there`), {
    code,
    syscall: 'open',
  })
}

/** Makes the folders on the way from a folder that the user named to one inside it. None of them may be a link. */
export function makeFolderInside(folder: string, inside: string, mode?: number): void {
  makeFolderSync(folder, 0o777)
  let path = folder
  for (const part of relative(folder, inside).split(sep).filter(Boolean)) {
    path = join(path, part)
    try {
      mkdirSync(path, { mode })
    } catch (error) {
      const found = lstatSync(path, { throwIfNoEntry: false })
      if (found?.isDirectory()) continue
      if (found) (error as Error).message = `${path} is a link or a file; put a folder there`
      throw error
    }
  }
}
