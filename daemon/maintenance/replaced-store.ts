// The folder inside that of a restored store where the replaced one goes. Its parts are moved one after the other,
// and what was unpacked has a note that says where to, so that a restore after one that was killed puts the rest there, too.

import { readdirSync, readFileSync, renameSync } from 'node:fs'
import { basename, join } from 'node:path'
import { writeFileAtomicallySync } from '../local/atomic-file.ts'

export interface ReplacedStore {
  readonly folder: string
  /** Whether all of it is there: other parts in the folder of the new store are those of a backup then. */
  readonly isWhole: boolean
}

/** To be written before the first part is moved. */
export function noteReplaced(unpacked: string, { folder, isWhole }: ReplacedStore): void {
  writeFileAtomicallySync(join(unpacked, noteName(isWhole)), basename(folder))
}

/** A rename, which a full disk does not prevent. */
export function changeNote(unpacked: string, isWhole: boolean): void {
  renameSync(join(unpacked, noteName(!isWhole)), join(unpacked, noteName(isWhole)))
}

/** The note in a folder that a restore has unpacked and that was killed. */
export function readNote(unpacked: string): ReplacedStore | undefined {
  for (const name of readdirSync(unpacked).filter(name => [noteName(true), noteName(false)].includes(name))) {
    const folder = readFileSync(join(unpacked, name), 'utf8')
    if (/^replaced-[\w-]+$/.test(folder))
      return { folder: join(unpacked, '..', folder), isWhole: name === noteName(true) }
  }
  return undefined
}

function noteName(isWhole: boolean): string {
  return isWhole ? 'replaced' : 'replacing'
}
