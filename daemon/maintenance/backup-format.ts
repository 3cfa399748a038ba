// The format of a backup: a tar file whose first entry says what it is and whose last one has the checksums of all the others.
// Must never change unless `backupFormat` grows: old backups have to be restored.

import { crc32 } from 'node:zlib'
import { jsonOr } from '../local/json.ts'

export const backupFormat = 1
export const headName = 'natter-backup.json'
export const manifestName = 'natter-manifest.json'

/** Nothing that we write is longer; what is, is not a backup. */
export const longestHead = 64 * 1024
export const longestManifest = 256 * 1024 * 1024

export interface BackupHead {
  readonly natter: 'backup'
  readonly format: number
  /** Of the natter that made it. */
  readonly version: string
  /** ISO 8601. */
  readonly made: string
}

export interface BackedUpFile {
  readonly name: string
  readonly bytes: number
  /** CRC-32. */
  readonly sum: number
}

export interface Manifest {
  /** Of the newest entry of the journal. */
  readonly position: number
  /** CRC-32 of the first entry; absent in older backups. */
  readonly head?: number
  readonly files: readonly BackedUpFile[]
}

/** It has a checksum of its own, as its last line. */
export function manifestText(manifest: Manifest): string {
  return withSum(`${JSON.stringify(manifest)}\n`)
}

function withSum(text: string): string {
  return `${text}${crc32(text)}\n`
}

export class BackupRefused extends Error {
  override readonly name = 'BackupRefused'
}

export function readHead(text: string): BackupHead {
  const head = Object(jsonOr(text))
  if (head?.natter !== 'backup') throw notABackup()
  if (!Number.isSafeInteger(head.format) || (head.format as number) > backupFormat)
    throw new BackupRefused(
      `natter ${head.version} made this backup in format ${head.format}; this natter reads format ${backupFormat}. ` +
        'Install that version, or a newer one',
    )
  return head as unknown as BackupHead
}

export function readManifest(text: string): Manifest {
  const body = text.slice(0, text.indexOf('\n') + 1)
  const manifest = text === withSum(body) ? Object(jsonOr(body)) : undefined
  const { files, position } = manifest ?? {}
  if (!Array.isArray(files) || !files.every(isListed) || !Number.isSafeInteger(position))
    throw new BackupRefused('the backup is damaged: its list of files does not match its checksum')
  return manifest as unknown as Manifest
}

function isListed(file: unknown): boolean {
  const { name, bytes, sum } = Object(file)
  return typeof name === 'string' && Number.isSafeInteger(bytes) && Number.isSafeInteger(sum)
}

export function notABackup(): BackupRefused {
  return new BackupRefused(
    'this is not a backup of natter; decompress it if you compressed one, or make one with `natter backup FILE`',
  )
}

/** The names that a backup may hold. Nothing in it can lead out of the folder. */
export function isBackedUp(name: string): boolean {
  return /^(state\.json|secret|journal(-\d{12,})?\.ndjson|(messages|outbox)\/[\w-][\w.-]{0,200}|files\/[0-9a-f]{64})$/.test(
    name,
  )
}
