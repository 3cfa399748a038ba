// Uploaded files, for those who may see them: with a key, at a temporary address without one, or where all the web may look.

import { attachmentAt, attachmentOnTheWeb } from '../domain/files/attachments.ts'
import { temporaryReader } from '../domain/files/temporary-addresses.ts'
import type { Attachment } from '../domain/model/personal-records.ts'
import type { User } from '../domain/model/state.ts'
import { exportAt, isExportAddress } from '../domain/organization/exports/address.ts'
import { Refusal } from '../domain/refusal.ts'
import type { Keys } from '../domain/resource.ts'
import type { Engine } from '../engine.ts'

/** Types that a browser shows without running anything in them. Everything else is offered for saving. */
const shown = /^(?:image\/(?:png|jpeg|gif|webp|avif|bmp)|audio\/[\w.+-]+|video\/[\w.+-]+|text\/plain|application\/pdf)$/

interface Parts {
  readonly engine: Engine
  readonly now: () => number
  readonly keys: Keys
  readonly readFile: (name: string) => Promise<Uint8Array | undefined>
}

export interface UploadAnswer {
  readonly bytes: Buffer
  readonly headers: Readonly<Record<string, string>>
}

/** What an answer needs of an upload, or of the archive of an export. */
type Served = Pick<Attachment, 'file' | 'name' | 'contentType'>

/** What there is and may not be seen looks like what there is not. */
export async function uploadFor(
  parts: Parts,
  url: string,
  anonymous: boolean,
  authenticate: () => User,
): Promise<UploadAnswer> {
  const attachment = attachmentFor(parts, url, anonymous, authenticate)
  // A link may be on its way to the disk: nobody may see by it what a crash would hide again.
  await parts.engine.settled()
  const bytes = attachment && (await parts.readFile(attachment.file))
  if (!attachment || !bytes) throw new Refusal('There is no such file.', { kind: 'not-found', status: 404 })
  return answerWith(attachment, bytes)
}

function attachmentFor(
  { engine: { state }, now, keys }: Parts,
  url: string,
  anonymous: boolean,
  authenticate: () => User,
): Served | undefined {
  if (isExportAddress(url)) return exportAt({ state, actor: authenticate() }, url)
  const [, token, path] = /^\/user_uploads\/(?:temporary\/([^/]+)\/)?(.*)$/s.exec(url) ?? []
  const address = `/user_uploads/${path}`
  const open = anonymous && token === undefined ? attachmentOnTheWeb(state, address) : undefined
  if (open) return open
  const actor = token === undefined ? authenticate() : temporaryReader({ state, now: now(), keys }, token, path!)
  return actor && attachmentAt({ state, actor }, address)
}

function answerWith({ contentType, name }: Served, bytes: Uint8Array): UploadAnswer {
  const inline = shown.test(contentType)
  return {
    bytes: Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength),
    headers: {
      'Content-Type': contentType.startsWith('text/') ? `${contentType}; charset=utf-8` : contentType,
      'Content-Disposition': `${inline ? 'inline' : 'attachment'}; filename*=UTF-8''${encodeName(name)}`,
      'Cache-Control': 'private, no-cache',
      'X-Content-Type-Options': 'nosniff',
      'Content-Security-Policy':
        "default-src 'none'; img-src 'self'; media-src 'self'; style-src 'unsafe-inline'; sandbox",
    },
  }
}

function encodeName(name: string): string {
  return encodeURIComponent(name).replace(/['()*]/g, char => `%${char.charCodeAt(0).toString(16).toUpperCase()}`)
}
