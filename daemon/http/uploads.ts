// Downloads of uploaded files, in ranges: with a key, at a temporary address without one, or in public channels that the web may read.

import { Readable } from 'node:stream'
import { attachmentAt, attachmentOnTheWeb, decodedPath } from '../domain/files/attachments.ts'
import { temporaryReader } from '../domain/files/temporary-addresses.ts'
import type { Attachment } from '../domain/model/rows/messages.ts'
import type { User } from '../domain/model/state.ts'
import { exportAt, isExportAddress } from '../domain/organization/exports/address.ts'
import { needed, Refusal } from '../domain/refusal.ts'
import type { Keys } from '../domain/resource.ts'
import type { Engine } from '../engine.ts'

/** Types that a browser shows without running anything in them. Everything else is offered for saving. */
const shown =
  /^(?:image\/(?:apng|avif|gif|jpeg|png|webp)|audio\/(?:aac|flac|mp4|mpeg|wav|webm)|video\/(?:mp4|webm)|text\/plain|application\/pdf)(?:;|$)/

interface Parts {
  readonly engine: Engine
  readonly now: () => number
  readonly keys: Keys
  readonly findFile: (name: string) => Promise<StoredFile | undefined>
}

export interface StoredFile {
  readonly size: number
  /** The bytes from the first up to and including the last. */
  read(first: number, last: number): Readable
}

interface UploadRequest {
  readonly path: string
  /** Without an account. */
  readonly anonymous: boolean
  readonly authenticate: () => User
  /** Whether only the headers are wanted. */
  readonly head: boolean
  /** The header Range; undefined: the whole file. */
  readonly range: string | undefined
}

export interface UploadAnswer {
  readonly status: 200 | 206
  readonly body: Readable
  readonly headers: Readonly<Record<string, string | number>>
}

const uploadPath = /^\/user_uploads\/(?:download\/|temporary\/([^/]+)\/)?(.*)$/s
/** A picture in one of the sizes of the public server, for which the picture itself is served. */
const thumbnail = /^\/user_uploads\/thumbnail\/(.*)\/(?:840x560|300x200)(?:-anim)?\.(?:webp|jpg)$/s

/** The part of an upload, or of the archive of an export, that an answer needs. */
type Served = Pick<Attachment, 'file' | 'name' | 'contentType'>

/** A file that the caller may not see is answered as one that does not exist. */
export async function uploadFor(parts: Parts, request: UploadRequest): Promise<UploadAnswer> {
  const attachment = attachmentFor(parts, request)
  // The link may not be on disk yet, and a crash would undo it.
  await parts.engine.settled()
  const file = attachment && (await parts.findFile(attachment.file))
  if (!attachment || !file) throw new FileMissing()
  return answerWith(attachment, file, request)
}

export class FileMissing extends Refusal {
  constructor() {
    super('This file does not exist or has been deleted.', { kind: 'not-found', status: 404 })
  }
}

/** The path that an address of the older thumbnails names: the file itself. Undefined for a file elsewhere. */
export function thumbnailPath(query: string): string | undefined {
  const fields = new URLSearchParams(query)
  const [size, url] = [fields.get('size'), fields.get('url')]
  if (size === null || url === null) throw missingField(size === null ? 'size' : 'url')
  return /^user_uploads\/\d+\//.test(url) ? `/${url}` : undefined
}

function missingField(name: string): Refusal {
  return needed(name, undefined, { code: 'REQUEST_VARIABLE_MISSING', fields: { var_name: name } })
}

function attachmentFor(
  { engine: { state }, now, keys }: Parts,
  { path: url, anonymous, authenticate }: UploadRequest,
): Served | undefined {
  if (isExportAddress(url)) return exportAt({ state, actor: authenticate() }, url)
  const [, token, path] = uploadPath.exec(url.replace(thumbnail, '/user_uploads/$1')) ?? []
  const address = `/user_uploads/${path}`
  if (token === undefined) {
    const open = anonymous ? attachmentOnTheWeb(state, address) : undefined
    return open ?? attachmentAt({ state, actor: authenticate() }, address)
  }
  const actor = temporaryReader({ state, now: now(), keys }, token, decodedPath(path!))
  const found = actor && attachmentAt({ state, actor }, address)
  if (!found) throw new Refusal('This temporary address is not valid, or no longer.', { kind: 'invalid' })
  return found
}

const scripts = /(?:java|ecma|live|j)script/i

function typeToSend(contentType: string): string {
  // A script of this origin would run in the page at /, whose policy allows those; with nosniff, text does not.
  if (scripts.test(contentType)) return 'text/plain; charset=utf-8'
  // Rows of a file that a stranger made may have more than a header can.
  return /^[\x20-\x7e\xa0-\xff]*$/.test(contentType) ? contentType : 'application/octet-stream'
}

function answerWith({ contentType, name }: Served, file: StoredFile, request: UploadRequest): UploadAnswer {
  const { path, head, range } = request
  const { size } = file
  const part = range === undefined ? undefined : parseRange(range, size)
  const { first, last } = part ?? { first: 0, last: size - 1 }
  const inline = shown.test(contentType) && !path.startsWith('/user_uploads/download/')
  return {
    status: part ? 206 : 200,
    body: head ? Readable.from([]) : file.read(first, last),
    headers: {
      'Content-Type': typeToSend(contentType),
      'Content-Length': last - first + 1,
      ...(part && { 'Content-Range': `bytes ${first}-${last}/${size}` }),
      'Accept-Ranges': 'bytes',
      'Content-Disposition': `${inline ? 'inline' : 'attachment'}; ${filenameField(name)}`,
      'Cache-Control': 'private, immutable',
      'X-Content-Type-Options': 'nosniff',
      'Content-Security-Policy':
        "default-src 'none'; img-src 'self'; media-src 'self'; style-src 'unsafe-inline'; sandbox",
    },
  }
}

/** The part that a Range asks for. Several parts at once, and other units, are answered with the whole file, as HTTP permits. */
function parseRange(range: string, size: number): { first: number; last: number } | undefined {
  const [, from, to] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(range) ?? []
  if (from === undefined || to === undefined || from + to === '') return undefined
  const first = from === '' ? Math.max(0, size - Number(to)) : Number(from)
  const last = from === '' || to === '' ? size - 1 : Math.min(Number(to), size - 1)
  if (from !== '' && to !== '' && Number(to) < Number(from)) return undefined
  if (first > last) throw new RangeRefused(size)
  return { first, last }
}

/** Names the size of the file, which a client needs for the next attempt. */
export class RangeRefused extends Refusal {
  readonly size: number

  constructor(size: number) {
    super(`The file has ${size} bytes, and the range is outside of them.`, { kind: 'invalid', status: 416 })
    this.size = size
  }
}

/** Names of printable ASCII as they are, all others encoded. */
function filenameField(name: string): string {
  if (/^[\x20-\x7e]*$/.test(name)) return `filename="${name.replace(/[\\"]/g, '\\$&')}"`
  // Half of a surrogate pair has no encoding.
  const encoded = encodeURIComponent(name.toWellFormed()).replace(
    /['()*!]/g,
    char => `%${char.charCodeAt(0).toString(16).toUpperCase()}`,
  )
  return `filename*=utf-8''${encoded}`
}
