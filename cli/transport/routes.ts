// Routes of the API: as people write them on the command line, and the endpoint that a path leads to.

import { baseOf, type Endpoint, loadEndpoints, type Page } from '../../daemon/api/define.ts'

export const methods = ['GET', 'POST', 'PATCH', 'PUT', 'DELETE', 'HEAD', 'OPTIONS']

export function fullPath(path: string): string {
  const rooted = path.startsWith('/') ? path : `/${path}`
  return /^\/api(\/|$)/.test(rooted) ? rooted : `/api/v1${rooted}`
}

interface Route {
  readonly endpoint: Endpoint
  readonly pattern: RegExp
  /** Of the parameters in the path. */
  readonly names: readonly string[]
}

interface Found {
  readonly endpoint: Endpoint
  /** The values in the path. */
  readonly params: Readonly<Record<string, string>>
}

/** Words in a path come before parameters, as the server finds them: `/users/me` is not the user named me. */
export async function loadRoutes(pages: readonly Page[]): Promise<Route[]> {
  const routes = (await loadEndpoints(pages)).flatMap(endpoint =>
    [endpoint.path, ...(endpoint.also ?? [])].map(path => ({
      endpoint,
      names: [...path.matchAll(/\{(\w+)/g)].map(([, name]) => name!),
      pattern: compilePattern(`${baseOf(endpoint)}${path}`, endpoint),
    })),
  )
  return routes.sort((a, b) => a.names.length - b.names.length)
}

function compilePattern(path: string, { params }: Endpoint): RegExp {
  const source = path.replace(/\{(\w+)(\.\.\.)?\}/g, (_match, name: string, rest?: string) =>
    rest ? '(.+)' : params[name]?.shape.type === 'integer' ? '(\\d+)' : '([^/]+)',
  )
  return new RegExp(`^${source}/?$`)
}

/** `path` from the root of the site, without a query. */
export function findRoute(routes: readonly Route[], method: string, path: string): Found | undefined {
  for (const { endpoint, pattern, names } of routes) {
    const match = endpoint.method === method ? pattern.exec(path) : null
    if (match)
      return { endpoint, params: Object.fromEntries(names.map((name, at) => [name, decodePart(match[at + 1]!)])) }
  }
  return undefined
}

/** A part of a path as text; unchanged if it is encoded wrongly. */
export function decodePart(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}
