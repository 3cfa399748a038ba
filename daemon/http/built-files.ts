// Pages that the build made: the inspector and the documentation. Files are read when a browser asks for them, so that a start does not
// pay for them.

import { createHash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { Refusal } from '../domain/refusal.ts'

declare const NATTER_VERSION: string | undefined

/** The folder of the bundle, or where the build puts it when the daemon runs from its sources. */
const dist = typeof NATTER_VERSION === 'string' ? import.meta.dirname : join(import.meta.dirname, '../../dist')

/** Files inside the single executable; see `bin/single.js`. */
function inExecutable(name: string): Buffer | undefined {
  const read = (globalThis as { [key: symbol]: ((name: string) => Buffer | undefined) | undefined })[assets]
  return read?.(name)
}

const assets = Symbol.for('natter.asset')

const types: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.json': 'application/json',
  '.svg': 'image/svg+xml',
}

/** Names of files. No other names are looked up, so that none leads out of the folder. */
const safeName = /^(?:[\w-]+\/)?[\w-]+(\.[a-z]+)$/

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

/** A file of the inspector or of the documentation. */
export async function serveBuiltFile(
  request: FastifyRequest,
  reply: FastifyReply,
  folder: 'inspector' | 'site',
  name: string,
): Promise<void> {
  const type = types[safeName.exec(name)?.[1] ?? '']
  if (type === undefined) return reply.callNotFound()
  const found = await findFile(`${folder}/${name}`, String(request.headers['accept-encoding'] ?? ''))
  if (!found) return refuseMissing(reply, folder, name)
  const { bytes, encoding } = found
  const tag = `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"`
  reply.headers(headers).header('ETag', tag)
  if (request.headers['if-none-match'] === tag) return reply.code(304).send()
  if (encoding) reply.header('Content-Encoding', encoding)
  return reply.type(type).send(bytes)
}

interface Found {
  readonly bytes: Buffer
  readonly encoding?: string
}

/** The smallest copy that the browser takes. */
async function findFile(path: string, accepted: string): Promise<Found | undefined> {
  for (const [encoding, ending] of encodings) {
    const bytes = accepted.includes(encoding) ? await read(`${path}${ending}`) : undefined
    if (bytes) return { bytes, encoding }
  }
  const bytes = await read(path)
  return bytes && { bytes }
}

async function read(path: string): Promise<Buffer | undefined> {
  try {
    return inExecutable(path) ?? (await readFile(join(dist, path)))
  } catch {
    return undefined
  }
}

/** A page that the documentation does not have, or a clone without a build. */
async function refuseMissing(reply: FastifyReply, folder: 'inspector' | 'site', name: string): Promise<void> {
  if (await read(`${folder}/index.html`)) return folder === 'site' ? sendNoPage(reply, name) : reply.callNotFound()
  throw new Refusal('The page is not built. Run `npm run build`.', { kind: 'not-found', status: 404 })
}

/** For a person who followed an old link. */
function sendNoPage(reply: FastifyReply, name: string): void {
  const start = name.includes('/') ? '../' : './'
  const body = `<h1>There is no such page</h1>\n<p>The <a href="${start}">first page of the documentation</a> has a search.</p>`
  const html = `<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n<title>Not found</title>\n${body}\n</html>\n`
  reply.code(404).headers(headers).type('text/html; charset=utf-8').send(html)
}
