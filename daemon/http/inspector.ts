// The inspector: files that the build made of daemon/inspector. They are read when a browser first asks for them, so that
// a start does not pay for them.

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Refusal } from '../domain/refusal.ts'

declare const NATTER_VERSION: string | undefined

/** Beside the bundle, or where the build puts it when the daemon runs from its sources. */
const folder =
  typeof NATTER_VERSION === 'string'
    ? join(import.meta.dirname, 'inspector')
    : join(import.meta.dirname, '../../dist/inspector')

/** In the single executable the files are part of it; see `bin/single.js`. */
function inExecutable(name: string): Buffer | undefined {
  const read = (globalThis as { [key: symbol]: ((name: string) => Buffer | undefined) | undefined })[assets]
  return read?.(name)
}

const assets = Symbol.for('natter.asset')

const types: Readonly<Record<string, string>> = {
  'index.html': 'text/html; charset=utf-8',
  'app.js': 'text/javascript; charset=utf-8',
  'app.css': 'text/css; charset=utf-8',
}

/** No script or style but our own files, no request to another server, and no frame around the page. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' blob: data:",
  "media-src 'self' blob:",
  "connect-src 'self'",
  "form-action 'none'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join('; ')

const headers = {
  'Content-Security-Policy': policy,
  'Referrer-Policy': 'no-referrer',
  'X-Content-Type-Options': 'nosniff',
  'Cross-Origin-Opener-Policy': 'same-origin',
  'Cache-Control': 'no-cache',
  Vary: 'Accept-Encoding',
}

const encodings = [
  ['br', '.br'],
  ['gzip', '.gz'],
] as const

export async function serveInspector(request: FastifyRequest, reply: FastifyReply, name: string): Promise<void> {
  const type = Object.hasOwn(types, name) ? types[name] : undefined
  if (type === undefined) return reply.callNotFound()
  const accepted = String(request.headers['accept-encoding'] ?? '')
  const [encoding, ending] = encodings.find(([word]) => accepted.includes(word)) ?? [undefined, '']
  let bytes: Buffer
  try {
    bytes = inExecutable(`inspector/${name}${ending}`) ?? (await readFile(join(folder, `${name}${ending}`)))
  } catch {
    throw new Refusal('The inspector is not built. Run `npm run build`.', { kind: 'not-found', status: 404 })
  }
  if (encoding) reply.header('Content-Encoding', encoding)
  return reply.headers(headers).type(type).send(bytes)
}
