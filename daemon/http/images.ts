// Pictures kept beside the store: avatars, emoji, the icon and the logos of the organization. They need no account.

import type { FastifyReply } from 'fastify'
import { imageType } from '../domain/files/images.ts'
import type { Site } from './site.ts'
import type { StoredFile } from './uploads.ts'

/** Only images are sent, even if another kind of file has such a name. In pieces: a client that takes nothing has one of them. */
export async function serveImage(
  site: Pick<Site, 'findFile' | 'pictureFile'>,
  url: string,
  reply: FastifyReply,
): Promise<void> {
  const account = /^[^?]*\/user_avatars\/(\d+)\/jdenticon\.svg(\?|$)/.exec(url)?.[1]
  if (account !== undefined)
    return reply
      .type('image/svg+xml')
      .header('Cache-Control', 'max-age=86400')
      .send(jdenticon(Number(account)))
  const name = site.pictureFile(url.split('?', 1)[0]!)
  const file = name === undefined ? undefined : await site.findFile(name)
  const type = file && imageType(await readHead(file))
  if (!file || !type) return reply.callNotFound()
  return reply
    .type(`image/${type}`)
    .header('Cache-Control', 'public, max-age=31536000, immutable')
    .header('Content-Length', file.size)
    .header('X-Content-Type-Options', 'nosniff')
    .send(file.read(0, file.size - 1))
}

async function readHead(file: StoredFile): Promise<Buffer> {
  return Buffer.concat(await file.read(0, Math.min(12, file.size) - 1).toArray())
}

/** A pattern that differs from account to account: five by five squares, the same on the left and on the right. */
function jdenticon(id: number): string {
  let bits = (id * 2_654_435_761) >>> 0
  const hue = bits % 360
  const squares: string[] = []
  for (let at = 0; at < 15; at++, bits >>>= 1) {
    if (bits % 2 === 0) continue
    const [column, row] = [at % 3, Math.floor(at / 3)]
    for (const x of new Set([column, 4 - column])) squares.push(`M${x} ${row}h1v1h-1z`)
  }
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="-1 -1 7 7"><path d="${squares.join('')}" fill="hsl(${hue},50%,50%)"/></svg>`
}

/** The picture of users that the reader cannot see. */
export const unknownUser =
  '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 64 64"><rect width="64" height="64" fill="#ccc"/><circle cx="32" cy="24" r="12" fill="#888"/><path d="M8 60a24 24 0 0 1 48 0z" fill="#888"/></svg>'
