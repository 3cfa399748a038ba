// `natter messages export`: messages as NDJSON and the files they link to, in a folder. A line is written when the files of its
// message are there, so that the last line says where a second run continues.

import { closeSync, constants, existsSync, fstatSync, fsyncSync, ftruncateSync, readSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { Endpoint } from '../../../daemon/api/define.ts'
import { events } from '../../../daemon/api/events.ts'
import { messages } from '../../../daemon/api/messages/messages.ts'
import { wasRestored } from '../../../daemon/api/queue-ids.ts'
import {
  abandonedMs,
  makeFolderSync,
  nameFile,
  removeUnfinished,
  writeFileAtomicallySync,
} from '../../../daemon/local/atomic-file.ts'
import { largeFile, readText, smallFile } from '../../../daemon/local/bounded-file.ts'
import { writeWholeSync } from '../../../daemon/local/durable-files.ts'
import { harmlessName } from '../../../daemon/local/harmless.ts'
import { isRecord } from '../../../daemon/local/json.ts'
import { isOfStranger, openPlainSync, whyNotPlain } from '../../../daemon/local/plain-files.ts'
import { exitCodes, Failure, usage } from '../../base/failure.ts'
import { note } from '../../base/note.ts'
import { type Account, accountFor, demandKey } from '../../base/profile.ts'
import type { Reply } from '../../base/reply.ts'
import type { Invocation } from '../../base/subcommand.ts'
import { countText } from '../../base/text-layout.ts'
import type { ReadNow } from '../../base/times.ts'
import { addSuggestion } from '../../catalogue/call.ts'
import { encodeRequest } from '../../catalogue/forms.ts'
import { pastTime } from '../../catalogue/history.ts'
import { readParams, sourcesFor } from '../../catalogue/params.ts'
import type { Given } from '../../input/flags.ts'
import { printReply } from '../../print/output.ts'
import { Progress } from '../../terminal/progress.ts'
import { type CallOptions, call } from '../../transport/client.ts'
import { sizeIn, UnfitFile } from '../../transport/download.ts'
import { nextAnchor } from '../../transport/pages.ts'
import { isLost, pathIdIn, saveFile } from '../../transport/uploaded-files.ts'

/** Messages per call. */
const page = 1000
/** Bytes at the end of a file that are read first: most often they hold its last whole line. */
const lastBytes = 1024 * 1024

/** What is exported. Relative times are fixed by the first run. */
interface Order {
  readonly site: string
  readonly account: string
  readonly flags: Readonly<Record<string, unknown>>
  readonly since: number | null
  readonly until: number | null
  /** Whether messages.md is of the export too. */
  readonly markdown: boolean
  /** ID of an event queue that the first run has registered; null where it could not. It shows whether the server was restored later. */
  readonly queue: string | null
}

type Ask = (endpoint: Endpoint, values: Readonly<Record<string, unknown>>) => Promise<Reply>

interface Counts {
  messages: number
  files: number
  skipped: number
}

export async function exportMessages({ args, flags, globals }: Invocation): Promise<void> {
  const folder = args[0]!
  const account = accountFor(globals, process.env)
  demandKey(account)
  const sources = sourcesFor(account, globals, globals, false)
  const { format = 'ndjson', ...wanted } = flags
  if (format !== 'ndjson' && format !== 'md') throw usage(`--format: "${format}" is not ndjson or md`)
  const given = Object.entries(wanted).filter(([name]) => !['since', 'until', 'skip-files', 'max-size'].includes(name))
  const named = given.map(([name, value]): [string, Given] => [name === 'narrow' ? name : `@${name}`, value as Given])
  const params = await readParams(messages.list, new Map(named), sources)
  const ask: Ask = async (endpoint, values) => {
    const { path, fields } = encodeRequest(endpoint, values)
    return call(account, { method: endpoint.method, path: `/api/v1${path}`, fields }, globals)
  }
  const fetch = (more: Reply) => ask(messages.list, { ...params, apply_markdown: false, ...more })
  // Asked before anything is written, so that a wrong name leaves no folder behind.
  const { messages: newest } = (await fetch({ anchor: 'newest', num_before: 1, num_after: 0 }).catch(error =>
    addSuggestion(error, messages.list, new Map(named), sources),
  )) as { messages: Reply[] }
  const queue = await findQueueId(ask)
  const order = await settleOrder(folder, account, wanted, { markdown: format === 'md', queue }, sources.now)
  const lock = await lockExport(folder)
  const file = join(folder, 'messages.ndjson')
  const fd = openPlainSync(file, constants.O_RDWR | constants.O_CREAT | constants.O_APPEND, 0o600)
  const counts: Counts = { messages: 0, files: 0, skipped: 0 }
  let progress: Progress | undefined
  try {
    const last = findLastSaved(fd, file)
    const most = sizeIn(flags['max-size'])
    if (last !== undefined) note(`continuing after message ${last}`)
    progress = new Progress(Math.max(1, Number(newest[0]?.id ?? 0) - (last ?? 0)), globals)
    let anchor: number | undefined = last
    // Every turn goes further forward, so it ends at the newest message.
    for (;;) {
      const position = { anchor: String(anchor ?? 'oldest'), include_anchor: anchor === undefined }
      const reply = await fetch({ ...position, num_before: 0, num_after: page })
      const found = checkMessages(reply.messages)
      const next = found.length === 0 ? anchor : nextAnchor(found, anchor, false)
      for (const message of found) {
        const time = Number(message.timestamp)
        if (time < (order.since ?? 0) || time > (order.until ?? Number.POSITIVE_INFINITY)) continue
        if (flags['skip-files'] !== true) await saveFiles(account, message, folder, counts, globals, most)
        writeWholeSync(fd, Buffer.from(`${JSON.stringify(message)}\n`))
        counts.messages++
        progress.reach(Number(message.id) - (last ?? 0), savedText(counts))
      }
      fsyncSync(fd)
      anchor = next
      const past = order.until !== null && Number(found.at(-1)?.timestamp) > order.until
      if (found.length === 0 || reply.found_newest === true || past) break
    }
  } catch (error) {
    throw nameFile(error, file)
  } finally {
    // The sentence after it has the same numbers.
    progress?.erase()
    closeSync(fd)
    await lock.release()
  }
  if (format === 'md') await (await import('./export-markdown.ts')).writeMarkdown(folder)
  const skipped = counts.skipped > 0 ? `; skipped ${countText(counts.skipped, 'file')}` : ''
  const done = `exported ${savedText(counts)} to ${folder}${skipped}`
  await printReply({ folder, ...counts }, { says: () => [], done }, globals)
}

/** Two at once would write each message twice. The lock goes with its process. */
async function lockExport(folder: string) {
  const { lockStore, StoreInUse } = await import('../../../daemon/maintenance/index.ts')
  return lockStore(folder).catch(error => {
    if (!(error instanceof StoreInUse)) throw error
    throw new Failure(exitCodes.refused, `another export to ${folder} is running`, {
      hint: 'Run it again when that has ended, or choose another folder.',
    })
  })
}

/** Before a line is written of them: a later run and messages.md read it again. */
function checkMessages(found: unknown): Reply[] {
  const refuse = (problem: string) =>
    new Failure(exitCodes.refused, `the server sent ${problem}`, { code: 'BAD_ANSWER' })
  if (!Array.isArray(found)) throw refuse('no list of messages')
  for (const message of found) {
    if (isMessage(message)) continue
    const name = Number.isSafeInteger(message?.id) ? `message ${message.id}` : 'a message'
    throw refuse(`${name} without an ID, a time, a conversation or a text that can be read`)
  }
  return found
}

function isMessage(value: unknown): boolean {
  if (!isRecord(value)) return false
  const { id, timestamp, display_recipient: to, content } = value
  const isPlace = typeof to === 'string' || (Array.isArray(to) && to.every(isRecord))
  const isTime = typeof timestamp === 'number' && Math.abs(timestamp) <= lastSecond
  return Number.isSafeInteger(id) && isTime && isPlace && typeof content === 'string'
}

/** Seconds from 1970 to the last time that a Date can hold. */
const lastSecond = 8.64e12

function savedText({ messages, files }: Counts): string {
  return `${countText(messages, 'message')} and ${countText(files, 'file')}`
}

/** A server that registers no queue can be exported, too. */
async function findQueueId(ask: Ask): Promise<string | null> {
  const wanted = { event_types: ['message'], fetch_event_types: ['message'] }
  const { queue_id } = await ask(events.register, wanted).catch((): Reply => ({}))
  if (typeof queue_id !== 'string') return null
  await ask(events.delete, { queue_id }).catch(() => {})
  return queue_id
}

/** Refuses to mix two exports in one folder, to continue one with other messages under the same IDs, and to replace a file that is not of one. */
async function settleOrder(
  folder: string,
  account: Account,
  flags: Order['flags'],
  { markdown, queue }: Pick<Order, 'markdown' | 'queue'>,
  now: ReadNow,
): Promise<Order> {
  const time = async (name: 'since' | 'until') =>
    flags[name] === undefined ? null : pastTime(name, String(flags[name]), now)
  const [since, until] = [await time('since'), await time('until')]
  const wanted = { site: account.site!, account: account.email!, flags, since, until, markdown, queue }
  const file = join(folder, 'export.json')
  if (existsSync(folder) && !statSync(folder).isDirectory()) throw usage(`${folder} is not a folder`)
  // They could exchange a folder for a link at any time, so looking for links would not be enough.
  if (existsSync(folder) && isOfStranger(folder))
    throw usage(`${folder} belongs to another user`, 'Choose another folder.')
  const odd = existsSync(folder) ? whyNotPlain(folder) : undefined
  if (odd) throw usage(`${folder} cannot hold an export: ${odd}`, 'Or choose another folder.')
  const before = existsSync(file) ? readOrder(file) : undefined
  const same = (order: Order) => JSON.stringify([order.site, order.account, Object.entries(order.flags).sort()])
  if (before && same(before) !== same(wanted))
    throw usage(
      `${folder} holds another export: ${before.account} at ${before.site}, ${flagsText(before.flags)}`,
      'Choose another folder, or give the same account, address and flags to continue.',
    )
  if (before?.queue && queue && wasRestored(before.queue, queue))
    throw new Failure(exitCodes.refused, `${folder} cannot be continued: the server was restored from a backup since`, {
      hint: 'Choose another folder: its newest messages are gone, and their IDs are used again.',
    })
  const documents = ['messages.md', 'messages.md.part']
  const foreign = !before ? ['messages.ndjson', ...documents] : markdown && !before.markdown ? documents : []
  const other = foreign.find(name => existsSync(join(folder, name)))
  if (other) throw usage(`${folder} has a ${other} that is not of an export`, 'Choose another folder.')
  const order = before ? { ...before, markdown: markdown || before.markdown, queue: before.queue ?? queue } : wanted
  makeFolderSync(folder)
  removeUnfinished(file, abandonedMs)
  writeFileAtomicallySync(file, `${JSON.stringify(order, null, 2)}\n`)
  return order
}

function readOrder(file: string): Order {
  try {
    const { site, account, flags, since, until, markdown, queue } = JSON.parse(readText(file, smallFile))
    const isTime = (value: unknown) => value === null || typeof value === 'number'
    if (typeof site === 'string' && typeof account === 'string' && isTime(since) && isTime(until) && flags)
      return {
        site,
        account,
        flags: { ...flags },
        since,
        until,
        markdown: markdown === true,
        queue: typeof queue === 'string' ? queue : null,
      }
  } catch {
    // Reported below.
  }
  throw usage(`${file} is not of an export`, 'Choose another folder.')
}

function flagsText(flags: Order['flags']): string {
  const words = Object.entries(flags).map(([name, value]) => (value === true ? `--${name}` : `--${name} ${value}`))
  return words.length === 0 ? 'all messages' : words.join(' ')
}

/** The ID in the last whole line. A line that a kill left torn is removed. */
function findLastSaved(fd: number, file: string): number | undefined {
  const { size } = fstatSync(fd)
  const { bytes, start, end } = readLastLine(fd, size, lastBytes)
  if (end + 1 < bytes.length) ftruncateSync(fd, size - bytes.length + end + 1)
  if (end < 0) return undefined
  try {
    return Number(JSON.parse(bytes.toString('utf8', start, end)).id)
  } catch {
    throw new Failure(exitCodes.refused, `${file} is damaged: its last line is not a message`, {
      hint: 'Remove that line, or start again in another folder.',
    })
  }
}

/** The end of a file, from at least `start` to `end`: its last whole line. With its earlier versions, a message can be long. */
function readLastLine(fd: number, size: number, most: number): { bytes: Buffer; start: number; end: number } {
  const bytes = Buffer.alloc(Math.min(size, most))
  readSync(fd, bytes, 0, bytes.length, size - bytes.length)
  const end = bytes.lastIndexOf('\n')
  const before = end > 0 ? bytes.lastIndexOf('\n', end - 1) : -1
  if (before < 0 && bytes.length < size && most < largeFile) return readLastLine(fd, size, 2 * most)
  return { bytes, start: before + 1, end }
}

/** The files of this server that a message links to. One that can never be had is skipped; anything else ends the export. */
async function saveFiles(
  account: Account,
  message: Reply,
  folder: string,
  counts: Counts,
  options: CallOptions,
  most: number,
): Promise<void> {
  const links = String(message.content).matchAll(/\/user_uploads\/\d+\/[^\s()<>"']+/g)
  for (const link of new Set([...links].map(([text]) => text))) {
    const pathId = pathIdIn(link, undefined)
    const target = pathId === undefined ? undefined : join(folder, 'files', harmlessName(pathId))
    if (target !== undefined && existsSync(target)) continue
    try {
      if (target === undefined) throw new UnfitFile(exitCodes.refused, 'the path is not safe')
      await saveFile(account, pathId!, target, { ...options, within: folder }, most)
      counts.files++
    } catch (error) {
      if (!isLost(error)) throw error
      counts.skipped++
      note(`skipped ${link} of message ${message.id}: ${error.message}`)
    }
  }
}
