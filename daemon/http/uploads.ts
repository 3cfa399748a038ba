// Uploaded files, for whoever may see them: with a key, or at a temporary address without one.

import { attachmentAt } from '../domain/attachments.ts'
import { Refusal } from '../domain/refusal.ts'
import type { User } from '../domain/state.ts'
import { temporaryReader } from '../domain/temporary-addresses.ts'
import type { ServerParts } from './server.ts'

/** Types that a browser shows without running anything in them. Everything else is offered for saving. */
const shown = /^(?:image\/(?:png|jpeg|gif|webp|avif|bmp)|audio\/[\w.+-]+|video\/[\w.+-]+|text\/plain|application\/pdf)$/

type Parts = Pick<ServerParts, 'engine' | 'now' | 'keyOf' | 'sameSecret' | 'readFile'>

/** What there is and may not be seen looks like what there is not. */
export async function uploadFor(parts: Parts, url: string, authenticate: () => User) {
  const { engine, now, keyOf, sameSecret, readFile } = parts
  const { state } = engine
  const [, token, path] = /^\/user_uploads\/(?:temporary\/([^/]+)\/)?(.*)$/s.exec(url) ?? []
  const actor =
    token === undefined ? authenticate() : temporaryReader({ state, now: now(), keyOf }, token, path!, sameSecret)
  const attachment = actor && attachmentAt({ state, actor }, `/user_uploads/${path}`)
  // A link may be on its way to the disk: nobody may see by it what a crash would hide again.
  await engine.settled()
  const bytes = attachment && (await readFile(attachment.file))
  if (!attachment || !bytes) throw new Refusal('BAD_REQUEST', 'No such file', {}, 404)
  const { contentType, name } = attachment
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
