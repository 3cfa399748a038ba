// Fetches uploaded files: asks for a temporary address, which needs no key, and streams what is there to a file.

import { lookup } from 'node:dns/promises'
import type { IncomingMessage } from 'node:http'
import type { LookupFunction } from 'node:net'
import { dirname } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { isSameOrigin } from '../../daemon/api/address.ts'
import { uploads } from '../../daemon/api/files/uploads.ts'
import { encode } from '../../daemon/api/wire.ts'
import { type Network, networkOf } from '../../daemon/local/networks.ts'
import { makeFolderInside } from '../../daemon/local/plain-files.ts'
import { exitCodes, Failure, refusal } from '../base/failure.ts'
import type { Account } from '../base/profile.ts'
import { addressFor, type CallOptions, call, defaultTimeout, requireSite, unreachable } from './client.ts'
import { limitSize, openAnswer, saveWhole, UnfitFile } from './download.ts'
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

/** What a server answers if this file cannot be had. */
const fileStatuses: ReadonlySet<number> = new Set([400, 403, 404, 410, 414])

/** Whether the next attempt would fail in the same way, unlike after an error of the server or of the network. */
export function isLost(error: unknown): error is Failure {
  return error instanceof UnfitFile || (error instanceof Failure && fileStatuses.has(error.http ?? 0))
}

/** What a system says of a name that it cannot give to a file, or gave to a folder. */
const wrongNames = ['ENAMETOOLONG', 'ENOTDIR', 'EEXIST', 'EISDIR', 'EINVAL', 'ENOTEMPTY']

/**
 * Writes the file whole or not at all. Folders are made when the server has the file: its path may be in the text of any message.
 * `within`: the folder that the user named, in which all that is made is for its owner alone; without it, the user named the target.
 */
export async function saveFile(
  account: Account,
  pathId: string,
  target: string,
  { within, ...options }: CallOptions & { readonly within?: string },
  most: number,
): Promise<void> {
  const file = await openFile(account, pathId, options)
  try {
    makeFolderInside(within ?? dirname(target), dirname(target), 0o700)
    const mode = within === undefined ? undefined : 0o600
    await saveWhole(target, stream => pipeline(limitSize(file, most), stream), mode)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (!wrongNames.includes(code ?? '')) throw error
    throw new UnfitFile(exitCodes.refused, `cannot write ${target}: ${code}`)
  } finally {
    file.destroy()
  }
}

/** The content of the file, piece by piece. */
export async function openFile(account: Account, pathId: string, options: CallOptions): Promise<IncomingMessage> {
  const at = pathId.indexOf('/')
  const where = { realm_id_str: pathId.slice(0, at), filename: pathId.slice(at + 1) }
  const { path, fields } = encode(uploads.temporary, where)
  const { url } = await call(account, { method: 'GET', path: `/api/v1${path}`, fields }, options).catch(error => {
    // Public servers answer with a page.
    throw isLost(error) && error.code === 'BAD_ANSWER' ? refusal(error.http!, {}) : error
  })
  const site = requireSite(account)
  const timeout = options.timeout ?? defaultTimeout
  return open(temporaryAddress(site, String(url)), site, timeout, mostRedirects).catch(error => {
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
async function open(url: URL, site: string, timeout: number, redirects: number): Promise<IncomingMessage> {
  const look = isSameOrigin(url, site) ? undefined : await checkedLookup(url, await networkAt(site))
  const incoming = await openAnswer(url, {}, timeout, look)
  const { statusCode = 0, headers } = incoming
  if (statusCode < 300) return incoming
  // Its body is not needed, and may have no end.
  incoming.destroy()
  if (headers.location === undefined) throw refusal(statusCode, {})
  if (redirects > 0) return open(elsewhere(headers.location, url.href), site, timeout, redirects - 1)
  throw new Failure(exitCodes.refused, `${url.origin} redirects more than ${mostRedirects} times`)
}

const fromOutside: readonly Network[] = ['internet', 'private', 'loopback']

/**
 * Finds only the addresses of the URL that were checked: a server must not make this machine call what only this machine, or its network,
 * can reach. A server in a private network may keep its files there.
 */
export async function checkedLookup(url: URL, server: Network): Promise<LookupFunction> {
  const found = await lookup(plainHost(url), { all: true })
  for (const { address } of found)
    if (fromOutside.indexOf(networkOf(address)) > fromOutside.indexOf(server))
      throw new Failure(exitCodes.refused, `the server sent the address ${url.origin}, which is not on the internet`, {
        code: 'BAD_ANSWER',
        hint: 'If the file is really there, fetch it with another program.',
      })
  return (_host, { all }, done) => (all ? done(null, found) : done(null, found[0]!.address, found[0]!.family))
}

async function networkAt(site: string): Promise<Network> {
  return networkOf((await lookup(plainHost(addressFor(site, '/')))).address)
}

function plainHost({ hostname }: URL): string {
  return hostname.replace(/^\[|\]$/g, '')
}
