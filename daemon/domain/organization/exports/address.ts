// The download address of the archive of an export, and who may use it.

import { type Asker, administer } from '../../rules/index.ts'

const prefix = '/user_uploads/'

export function exportUrl(site: string, path: string): string {
  return site + prefix + path
}

export function isExportAddress(url: string): boolean {
  return url.startsWith(`${prefix}exports/`)
}

/** The archive at an address (`/user_uploads/exports/…`), if the asker may fetch it: a file like those that people upload. */
export function exportAt(asker: Asker, url: string) {
  const found = administer.allows(asker) ? asker.state.exports.find('path', url.slice(prefix.length)) : undefined
  return found?.file === undefined
    ? undefined
    : { file: found.file, name: found.path!.split('/').at(-1)!, contentType: 'application/gzip' }
}
