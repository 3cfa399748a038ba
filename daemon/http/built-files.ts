// Pages that the build made: the inspector and the documentation. Files are read when a browser first asks for them, so that a start does
// not pay for them, and then kept: clients that ask and read nothing share the bytes.

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
  const { bytes, tag, encoding } = found
  reply.headers(headers).header('ETag', tag)
  if (request.headers['if-none-match'] === tag) return reply.code(304).send()
  if (encoding) reply.header('Content-Encoding', encoding)
  return reply.type(type).send(bytes)
}

interface BuiltFile {
  readonly bytes: Buffer
  /** Its ETag. */
  readonly tag: string
}

/** The smallest copy that the browser takes. */
async function findFile(path: string, accepted: string): Promise<(BuiltFile & { encoding?: string }) | undefined> {
  for (const [encoding, ending] of encodings) {
    const file = accepted.includes(encoding) ? await read(`${path}${ending}`) : undefined
    if (file) return { ...file, encoding }
  }
  return read(path)
}

// Shared by all worlds: they serve the same files. Bounded by what the build made: 6 MB.
const kept = new Map<string, BuiltFile>()

async function read(path: string): Promise<BuiltFile | undefined> {
  const known = kept.get(path)
  if (known) return known
  try {
    const bytes = inExecutable(path) ?? (await readFile(join(dist, path)))
    const file = { bytes, tag: `"${createHash('sha256').update(bytes).digest('base64url').slice(0, 22)}"` }
    kept.set(path, file)
    return file
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
