// Redirects to pictures. The catalogue does not have GET /realm/icon and GET /realm/logo, because their answer is not JSON.

import type { PictureName } from '../domain/model/rows/organization.ts'
import { pictureUrl } from '../domain/organization/pictures.ts'
import { invalid, needed } from '../domain/refusal.ts'
import { notStored } from './answer.ts'
import type { EdgeParts } from './edge-parts.ts'
import type { Answering } from './exchange.ts'

/** The picture of the organization that an operation asks for; undefined for all other operations. */
export function findPicture(method: string, path: string, query: string): PictureName | undefined {
  if (method !== 'GET' && method !== 'HEAD') return undefined
  if (path === '/realm/icon') return 'icon'
  return path === '/realm/logo' ? readLogo(new URLSearchParams(query).get('night')) : undefined
}

function readLogo(night: string | null): PictureName {
  if (night === 'true') return 'nightLogo'
  if (night === 'false') return 'logo'
  if (night !== null) throw invalid('night', 'must be true or false')
  throw needed('night', undefined, { code: 'REQUEST_VARIABLE_MISSING', fields: { var_name: 'night' } })
}

/**
 * The address for a browser, with the query of the request. The browser would look for a path at the root of the host, where the
 * site is not if its URL has a path.
 */
export function locatePicture(site: string, address: string, query: string | undefined): string {
  const located = address.startsWith('/') ? `${new URL(site).pathname.replace(/\/$/, '')}${address}` : address
  return query ? `${located}${located.includes('?') ? '&' : '?'}${query}` : located
}

export function sendToPicture(
  { engine, server }: Pick<EdgeParts, 'engine' | 'server'>,
  picture: PictureName,
  query: string,
  to: Answering,
): void {
  const location = locatePicture(server.url, pictureUrl(engine.state, server.url, picture), query)
  to.observed?.answered(302)
  to.raw.writeHead(302, ['Location', location, 'Content-Length', '0', ...notStored, ...to.headers])
  to.raw.end()
}
