// A file of the server, piece by piece: it can be larger than memory.

import { createHash } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import type { LookupFunction } from 'node:net'
import { basename, dirname, join } from 'node:path'
import {
  abandonedMs,
  nameFile,
  refuseDevice,
  removeUnfinished,
  unfinishedPath,
  writeFileAtomically,
} from '../../daemon/local/atomic-file.ts'
import { refuseUpgrade } from '../../daemon/local/refuse-upgrade.ts'
import { exitCodes, Failure, refusal, usage } from '../base/failure.ts'
import type { Globals } from '../base/globals.ts'
import { type Account, accountFor, demandControlToken } from '../base/profile.ts'
import {
  addressFor,
  type CallOptions,
  defaultTimeout,
  headersFor,
  late,
  loadGuard,
  parseBody,
  readText,
  requireSite,
  unreachable,
} from './client.ts'

/** Milliseconds. The daemon may have to write a large organization. */
export const downloadTimeout = 600_000

/** `path` begins with `/control/v1`. */
export async function* downloadControl(
  globals: Partial<Globals>,
  path: string,
  options: CallOptions,
): AsyncGenerator<Uint8Array> {
  const account = accountFor(globals, process.env)
  const headers = { Authorization: `Bearer ${demandControlToken(globals, process.env, account)}` }
  await (await loadGuard(account))?.check({ method: 'GET', path, form: [] })
  yield* download(requireSite(account), path, () => headers, options)
}

/** A file that the account may fetch with its key. `path` begins at the root of the site. */
export async function* downloadAs(account: Account, path: string, options: CallOptions): AsyncGenerator<Uint8Array> {
  await (await loadGuard(account))?.check({ method: 'GET', path, form: [] })
  yield* download(requireSite(account), path, url => headersFor(account, url), options)
}

/** Mebibytes of one file, unless --max-size says otherwise. */
const usualSize = 1024
const mebibyte = 1024 * 1024

export const maxSize = {
  name: 'max-size',
  value: 'MIB',
  about: `the largest file to save (default ${usualSize})`,
} as const

/** Bytes, by --max-size. */
export function sizeIn(flag: unknown): number {
  const size = Number(flag ?? usualSize)
  if (Number.isSafeInteger(size) && size >= 1 && size <= 1_000_000) return size * mebibyte
  throw usage(`--max-size: "${flag}" is not a number of MiB from 1 to 1000000`)
}

/** A file that cannot be saved here, wherever it comes from. A class of its own, so that an export can go on without it. */
export class UnfitFile extends Failure {}

/** The content, as long as it is not larger than that: a server must not fill the disk. */
export async function* limitSize(content: AsyncIterable<Uint8Array>, most: number): AsyncGenerator<Uint8Array> {
  let size = 0
  for await (const bytes of content) {
    size += bytes.length
    if (size > most)
      throw new UnfitFile(exitCodes.refused, `the file is larger than ${most / mebibyte} MiB`, {
        code: 'ANSWER_TOO_LARGE',
        hint: 'To save a larger one, add --max-size MIB.',
      })
    yield bytes
  }
}

/** How the bytes of a kind of file begin and end. */
interface Outline {
  readonly what: string
  readonly begin: string
  readonly end?: string
}

export const snapshotOutline: Outline = { what: 'a snapshot', begin: '{"format":', end: '}}\n' }
export const seedOutline: Outline = { what: 'a seed', begin: '{"rows":{', end: ']}\n' }
export const recordingOutline: Outline = { what: 'a recording', begin: '{"natter_recording":' }
/** The first bytes of gzip. */
export const archiveOutline: Outline = { what: 'an archive', begin: '\x1f\x8b' }

/** The content, if it begins and ends as such a file does: the page of a proxy can have status 200, too. */
export async function* demandOutline(
  content: AsyncIterable<Uint8Array>,
  { what, begin, end = '' }: Outline,
): AsyncGenerator<Uint8Array> {
  const demand = (isRight: boolean) => {
    if (isRight) return
    throw new Failure(exitCodes.refused, `the server did not answer with ${what}`, {
      code: 'BAD_ANSWER',
      hint: 'Make sure that --site is the address of a daemon, and that nothing answers in its place.',
    })
  }
  let [head, tail] = ['', '']
  for await (const bytes of content) {
    const piece = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length)
    head += piece.toString('latin1', 0, begin.length - head.length)
    demand(begin.startsWith(head))
    if (end !== '') tail = (tail + piece.subarray(-end.length).toString('latin1')).slice(-end.length)
    yield bytes
  }
  demand(head === begin && tail.endsWith(end))
}

/** Gives `write` a stream to a file that gets its name when it is complete. */
export async function saveWhole(
  target: string,
  write: (stream: NodeJS.WritableStream) => Promise<void>,
  mode = 0o666,
): Promise<void> {
  refuseDevice(target)
  // Not the name with something after it: that may be longer than a file system allows.
  const digest = createHash('sha256').update(basename(target)).digest('hex').slice(0, 16)
  const short = join(dirname(target), `natter-${digest}`)
  removeUnfinished(short, abandonedMs)
  const unfinished = unfinishedPath(short)
  try {
    await write(createWriteStream(unfinished, { mode, flags: 'wx' }))
    await rename(unfinished, target)
  } catch (error) {
    await rm(unfinished, { force: true })
    throw nameFile(error, target)
  }
}

/** Writes a file whole or not at all. */
export async function saveAs(file: string, content: AsyncIterable<Uint8Array>): Promise<void> {
  removeUnfinished(file, abandonedMs)
  await writeFileAtomically(file, content).catch(error => {
    if (error instanceof Failure) throw error
    throw new Failure(exitCodes.refused, `cannot write ${file}: ${(error as Error).message}`)
  })
}

/** Resolves when an answer begins, before `timeout`. From then on that limits silence, not the whole: a large file may take longer. */
export async function openAnswer(
  url: URL,
  headers: Readonly<Record<string, string>>,
  timeout: number,
  lookup?: LookupFunction,
): Promise<IncomingMessage> {
  const { get } = url.protocol === 'https:' ? await import('node:https') : await import('node:http')
  return new Promise((resolve, reject) => {
    const outgoing = get(url, { headers, agent: false, ...(lookup && { lookup }) }, resolve)
    const end = () => outgoing.destroy(late(url.origin, timeout))
    const timer = setTimeout(end, timeout)
    outgoing.on('response', () => {
      clearTimeout(timer)
      outgoing.setTimeout(timeout, end)
    })
    const fail = (error: Error) => {
      clearTimeout(timer)
      reject(error)
    }
    outgoing.on('error', fail)
    refuseUpgrade(outgoing, fail)
  })
}

/** Fails if the answer is a refusal, or ends before it is complete. */
async function* download(
  site: string,
  path: string,
  headersTo: (url: URL) => Readonly<Record<string, string>>,
  { timeout = defaultTimeout }: CallOptions,
): AsyncGenerator<Uint8Array> {
  const url = addressFor(site, path)
  try {
    const answer = await openAnswer(url, headersTo(url), timeout)
    if (answer.statusCode !== 200) await refuse(answer, site)
    yield* answer
  } catch (error) {
    throw error instanceof Failure ? error : unreachable(site, error as NodeJS.ErrnoException)
  }
}

async function refuse(answer: IncomingMessage, site: string): Promise<never> {
  const text = await readText(answer, site)
  const status = answer.statusCode ?? 0
  const found = { status, reason: answer.statusMessage ?? '', headers: answer.rawHeaders, text }
  throw refusal(status, parseBody(found, site), answer.rawHeaders)
}
