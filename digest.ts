// A digest of files: whether a build has something to do.

import { createHash } from 'node:crypto'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'

/** Of the version of node, of the names and the content of all files of these files and folders, and of a word more. */
export function digestOf(
  word: string,
  roots: readonly string[],
  isLeftOut: (file: string) => boolean = () => false,
): string {
  const hash = createHash('sha256').update(`${process.version} ${process.arch} ${word}\n`)
  for (const root of roots)
    for (const file of filesIn(root).filter(path => !isLeftOut(path)))
      hash
        .update(`${file}\n`)
        .update(readIfThere(file) ?? '')
        .update('\n')
  return hash.digest('hex')
}

function filesIn(path: string): string[] {
  const stats = statSync(path, { throwIfNoEntry: false })
  if (!stats?.isDirectory()) return [path]
  return readdirSync(path)
    .sort()
    .flatMap(name => filesIn(join(path, name)))
}

export function readIfThere(file: string): string | undefined {
  const isThere = statSync(file, { throwIfNoEntry: false }) !== undefined
  return isThere ? readFileSync(file, 'latin1') : undefined
}
