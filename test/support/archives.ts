// Archives of an organization for tests: made by a daemon, taken apart, and put together again with changes.

import assert from 'node:assert/strict'
import { createHash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { gzipSync } from 'node:zlib'
import { packTar } from 'modern-tar'
import { dataExports } from '../../daemon/api/organization/exports.ts'
import { readArchive, readWhole } from '../../daemon/io/archive.ts'
import type { Caller } from './daemon.ts'
import { until } from './until.ts'

/** Entries by name, in their order. */
export type Entries = Map<string, Buffer>

/** Asks for an export and waits for it; gives its row. */
export async function exported(caller: Caller, export_type: 1 | 2 = 1) {
  const { id } = await caller.call(dataExports.create, { export_type })
  const row = await until(async () =>
    (await caller.call(dataExports.list, {})).exports.find(one => one.id === id && !one.pending),
  )
  assert.equal(row.failed_timestamp, null)
  return row
}

/** Downloads the archive of a new export to a file. */
export async function saveExport(caller: Caller, file: string, export_type: 1 | 2 = 1): Promise<void> {
  const { export_url } = await exported(caller, export_type)
  writeFileSync(file, Buffer.from(await (await fetchAs(caller, export_url!)).arrayBuffer()))
}

export function fetchAs(caller: Caller, url: string): Promise<Response> {
  const headers = caller.auth === undefined ? {} : { Authorization: `Basic ${btoa(caller.auth)}` }
  return fetch(url, { headers })
}

export async function entriesOf(file: string): Promise<Entries> {
  const entries: Entries = new Map()
  for await (const entry of readArchive(file)) entries.set(entry.name, await readWhole(entry, 1e8))
  return entries
}

/** The rows of a section, without its head. */
export function rowsIn(entries: Entries, section: string): Record<string, any>[] {
  const rows: Record<string, any>[] = []
  for (const [name, bytes] of entries)
    if (name.startsWith(`sections/${section}/`))
      for (const line of bytes.toString().trimEnd().split('\n')) {
        const row = JSON.parse(line)
        if (row.last_id === undefined) rows.push(row)
      }
  return rows
}

/** Writes an archive with these entries; the checksums are those of the entries, unless `sums` is false. */
export async function pack(entries: Entries, file: string, sums = true): Promise<void> {
  const all: Entries = new Map(entries)
  if (sums && all.has('checksums.json')) {
    all.delete('checksums.json')
    const digests = [...all].map(([name, bytes]) => [name, createHash('sha256').update(bytes).digest('hex')])
    const text = JSON.stringify({ sums: Object.fromEntries(digests), missing_files: [] })
    all.set('checksums.json', Buffer.from(text))
  }
  const tar = await packTar([...all].map(([name, body]) => ({ header: { name, size: body.length }, body })))
  writeFileSync(file, gzipSync(tar, { level: 1 }))
}
