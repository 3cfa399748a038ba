// `natter org export`: asks for an export of the organization, waits until it is complete, and downloads the archive.

import { pipeline } from 'node:stream/promises'
import { dataExports } from '../../../daemon/api/organization/exports.ts'
import { exitCodes, Failure } from '../../base/failure.ts'
import { refuseExisting } from '../../base/files.ts'
import { readDuration } from '../../base/flag-values.ts'
import { note } from '../../base/note.ts'
import { accountFor, demandKey } from '../../base/profile.ts'
import type { Reply } from '../../base/reply.ts'
import type { Invocation } from '../../base/subcommand.ts'
import { printBytes } from '../../base/writer.ts'
import { printReply } from '../../print/output.ts'
import { Connection } from '../../transport/connection.ts'
import { archiveOutline, demandOutline, downloadAs, limitSize, saveWhole, sizeIn } from '../../transport/download.ts'
import { Follower } from '../follow/tail/follow.ts'

/** One row of `GET /export/realm`, and of the event. */
interface ExportRow {
  readonly id: number
  readonly pending: boolean
  readonly failed_timestamp: number | null
  readonly export_url: string | null
}

const defaultWait = '10m'

export async function exportOrganization({ args, flags, globals }: Invocation): Promise<void> {
  const account = accountFor(globals, process.env)
  demandKey(account)
  const within = readDuration('within', flags.within ?? defaultWait)
  const most = sizeIn(flags['max-size'])
  const [target] = args
  if (target !== undefined && target !== '-' && !globals.yes) refuseExisting(target)
  const connection = await Connection.open(account)
  const stop = new AbortController()
  const timer = setTimeout(() => stop.abort(), within)
  // Registered first: the export may be complete before the reply is read.
  const follower = new Follower(
    connection,
    { types: ['realm_export'], narrow: [], queueNarrow: [], allPublic: false },
    stop.signal,
  )
  let row: ExportRow | undefined
  try {
    await follower.begin()
    const fields = { export_type: flags.private === true ? 2 : 1 }
    const { id } = await connection.call('POST', dataExports.create.path, fields, { timeout: globals.timeout })
    note(`export ${id} has begun`)
    row = await waitForExport(follower, Number(id), () =>
      connection.call('GET', dataExports.list.path, {}, { timeout: globals.timeout }),
    )
  } catch (error) {
    if (!stop.signal.aborted) throw error
  } finally {
    clearTimeout(timer)
    await follower.leave()
    connection.close()
  }
  if (!row) throw new Failure(exitCodes.unmet, `the export was not complete within ${within / 1000} s`)
  if (row.export_url === null)
    throw new Failure(exitCodes.refused, `the export ${row.id} failed`, { hint: 'The log of the server says why.' })
  const path = pathIn(row.export_url)
  const content = demandOutline(
    limitSize(downloadAs(account, path, { timeout: globals.timeout }), most),
    archiveOutline,
  )
  if (target === '-') {
    for await (const bytes of content) await printBytes(bytes)
    return
  }
  const file = target ?? nameIn(path)
  // Not even with --yes: a file of yours may have this name.
  if (target === undefined)
    refuseExisting(file, 'The server chose this name. Name a file, and add --yes if it may be replaced.')
  // It may hold what only one person has seen so far.
  await saveWhole(file, stream => pipeline(content, stream), 0o600)
  await printReply({ id: row.id, file }, { shows: 'file' }, globals)
}

/** The row of an export that is no longer pending. After a gap in the events, the list says what they would have. */
async function waitForExport(
  follower: Follower,
  id: number,
  list: () => Promise<Reply>,
): Promise<ExportRow | undefined> {
  for await (const { items } of follower.follow())
    for (const { event } of items) {
      const { exports } = event.type === '_gap' ? await list() : (event as Reply)
      const row = (exports as ExportRow[] | undefined)?.find(one => one.id === id)
      if (row && !row.pending) return row
    }
  return undefined
}

/** From the root of the site. The key goes to the site of the account, whatever host the address names. */
function pathIn(url: string): string {
  if (!URL.canParse(url, 'http://here'))
    throw new Failure(exitCodes.refused, 'the server sent an address that is not one of a file', { code: 'BAD_ANSWER' })
  const { pathname } = new URL(url, 'http://here')
  return pathname.slice(Math.max(0, pathname.search(/\/user_(?:uploads|avatars)\//)))
}

/** The name of the archive, as a file of this folder. */
function nameIn(path: string): string {
  const name = path
    .split('/')
    .at(-1)!
    .replace(/[^\w.-]/g, '-')
  // Not one that `ls` hides or that `rm *` takes for a flag.
  return /^\w/.test(name) ? name : 'export.tar.gz'
}
