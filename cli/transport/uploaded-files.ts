// Fetches uploaded files: asks for a temporary address, which needs no key, and streams what is there to a file.

import { mkdir } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import { dirname } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { uploads } from '../../daemon/api/files/uploads.ts'
import { encode } from '../../daemon/api/wire.ts'
import { exitCodes, Failure, refusal } from '../base/failure.ts'
import type { Account } from '../base/profile.ts'
import { addressFor, type CallOptions, call, defaultTimeout, requireSite, unreachable } from './client.ts'
import { limitSize, openAnswer, saveWhole } from './download.ts'
import { decodePart } from './routes.ts'

const mostRedirects = 5

/** `1/4f/report.pdf` in a link to a file of this site, in its path, or in the path_id of `uploads list`; or undefined. */
export function pathIdIn(text: string, site: string | undefined): string | undefined {
  const local = site && text.startsWith(`${site}/`) ? text.slice(site.length) : text
  const [, path] = /^(?:\/user_uploads\/)?(\d+\/[^?#]+)$/.exec(local) ?? []
  if (path === undefined) return undefined
  const plain = decodePart(path)
  // A path that leaves its folder would be written elsewhere on this machine.
  const safe = plain.split('/').every(part => part !== '' && part !== '.' && part !== '..') && !/[\\\0]/.test(plain)
  return safe ? plain : undefined
}

/** What a system says of a name that it cannot give to a file, or gave to a folder. */
const wrongNames = ['ENAMETOOLONG', 'ENOTDIR', 'EEXIST', 'EISDIR', 'EINVAL', 'ENOTEMPTY']

/** Writes the file whole or not at all. Folders are made when the server has the file: its path may be in the text of any message. */
export async function saveFile(
  account: Account,
  pathId: string,
  target: string,
  options: CallOptions,
  most: number,
): Promise<void> {
  const file = await openFile(account, pathId, options)
  try {
    await mkdir(dirname(target), { recursive: true })
    await saveWhole(target, stream => pipeline(limitSize(file, most), stream))
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (!wrongNames.includes(code ?? '')) throw error
    throw new Failure(exitCodes.refused, `cannot write ${target}: ${code}`)
  } finally {
    file.destroy()
  }
}

/** The content of the file, piece by piece. */
export async function openFile(account: Account, pathId: string, options: CallOptions): Promise<IncomingMessage> {
  const at = pathId.indexOf('/')
  const where = { realm_id_str: pathId.slice(0, at), filename: pathId.slice(at + 1) }
  const { path, fields } = encode(uploads.temporary, where)
  const { url } = await call(account, { method: 'GET', path: `/api/v1${path}`, fields }, options)
  const site = requireSite(account)
  const timeout = options.timeout ?? defaultTimeout
  return open(temporaryAddress(site, String(url)), timeout, mostRedirects).catch(error => {
    throw error instanceof Failure ? error : unreachable(site, error)
  })
}

/** On this server, or on another one that keeps its files. */
function temporaryAddress(site: string, url: string): URL {
  return /^https?:/i.test(url) ? elsewhere(url, site) : addressFor(site, url)
}

function elsewhere(address: string, from: string): URL {
  const url = URL.canParse(address, from) ? new URL(address, from) : undefined
  if (url && /^https?:$/.test(url.protocol) && !url.username && !url.password) return url
  throw new Failure(exitCodes.refused, `the server sent an address that is not one of a file`, { code: 'BAD_ANSWER' })
}

/** Resolves to the answer with the content; nothing secret is sent, since the address is enough. */
async function open(url: URL, timeout: number, redirects: number): Promise<IncomingMessage> {
  const incoming = await openAnswer(url, {}, timeout)
  const { statusCode = 0, headers } = incoming
  if (statusCode < 300) return incoming
  incoming.resume()
  if (headers.location === undefined) throw refusal(statusCode, {})
  if (redirects > 0) return open(elsewhere(headers.location, url.href), timeout, redirects - 1)
  throw new Failure(exitCodes.refused, `${url.origin} redirects more than ${mostRedirects} times`)
}
